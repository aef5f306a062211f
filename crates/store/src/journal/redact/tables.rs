//! Secrets as commands, settings and addresses hold them, class by class; and what looks like them.

use super::*;

/// `‹…›` marks what must go.
const GO: &[(&str, &[&str])] = &[
    (
        "variables",
        &[
            "MYSQL_PWD=‹hunter2› mysql -u root",
            "MYSQL_PWD=‹correcthorse› mysql",
            "export PGPASSWORD=‹secretword›; psql",
            "PGPASSWORD='‹se cret›' psql",
            "SMTP_PASS=‹swordfish› ./send",
            "SMTP_PASS: ‹hunter2›",
            "DB_PWD=\"‹swordfish›\"",
            "GITLAB_PAT=‹abcdef12345› glab api",
            "docker run -e MYSQL_PWD=‹hunter2› mysql",
            "PASS=‹hunter2› ./run",
            "PASS=‹swordfish› ./run",
            "db_pass=‹hunter2›",
            "userPass: '‹swordfish›'",
        ],
    ),
    (
        "tokens by their beginning",
        &[
            "x ‹pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw› y",
            "x ‹pypi-abcdef0123456789abcdef› y",
            "x ‹npm_abcdef0123456789abcd› y",
            "x ‹glpat-abcdefABCDEF_1234567› y",
            "x ‹glptt-0123456789abcdef0123456789abcdef01234567› y",
            "x ‹github_pat_11ABCDEFG0123456789_abcdef› y",
            "x ‹ghp_0123456789abcdefghijABCDEFGHIJ012345› y",
            "x ‹gho_0123456789abcdefghijABCDEFGHIJ012345› y",
            "x ‹ghs_0123456789abcdefghijABCDEFGHIJ012345› y",
            "x ‹ghu_0123456789abcdefghijABCDEFGHIJ012345› y",
            "x ‹ghr_0123456789abcdefghijABCDEFGHIJ012345› y",
            "x ‹xoxa-2-0123456789-abcdef› y",
            "x ‹xoxb-0123456789-abcdef› y",
            "x ‹xoxo-0123456789-abcdef› y",
            "x ‹xoxp-0123456789-abcdef› y",
            "x ‹xoxr-0123456789-abcdef› y",
            "x ‹xoxs-0123456789-abcdef› y",
            "x ‹xoxd-abcdef%2F0123456789› y",
            "x ‹sk-ant-api03-ab_cd-12-ef_gh-34-ij_kl› y",
            "x ‹sk-proj-Ab_1-Cd_2-Ef_3-Gh_4-Ij_5› y",
            "x ‹sk_live_0123456789abcdefABCDEF› y",
            "x ‹rk_live_0123456789abcdefABCDEF› y",
            "x ‹ASIAIOSFODNN7EXAMPLE› y",
            "x ‹AIzaSyA-0123456789abcdefghijklmnopqrstu› y",
            "x ‹ya29.a0ARrdaM-0123456789abcdef.gh› y",
            "x ‹hf_abcdefGHIJKL012345678› y",
            "x ‹dop_v1_0123456789abcdef0123456789abcdef› y",
            "x ‹SG.abcdefghij0123456789.klmnopqrst0123456789› y",
            "x ‹dckr_pat_abcdEFGH01234567› y",
            "x ‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P› y",
            "x ‹AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ› y",
            "x ‹-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----› y",
        ],
    ),
    (
        "addresses",
        &[
            "curl https://hooks.slack.com/services/‹T00000000/B00000000/XXXXxxxxXXXXxxxxXXXXxxxx› -d x",
            "https://hooks.slack.com/workflows/‹T00000000/A0000/1234/abcdEFGH›",
            "https://discord.com/api/webhooks/‹123456789012345678/abcdefghijABCDEFGHIJ-0123456789_abcdefghij›",
            "https://discordapp.com/api/v10/webhooks/‹123456789012345678/abcdefghijABCDEFGHIJ-0123456789_abcdefghij›",
            "https://acme.webhook.office.com/webhookb2/‹0a-1b@2c-3d/IncomingWebhook/4e5f/6a7b›",
            "https://outlook.office.com/webhook/‹0a-1b@2c-3d/IncomingWebhook/4e5f/6a7b›",
            "https://api.telegram.org/bot‹123456789:AAEabcdefghij0123456789-abcdefghij_›/sendMessage",
            "https://a.blob.core.windows.net/c/b?sv=2022&sig=‹abc%2Fdef%2B0123%3D›&se=2030",
            "https://s3.amazonaws.com/b/k?X-Amz-Date=1&X-Amz-Signature=‹2fd4e1c67a2d28fced849ee1bb76e7391b93eb12›",
            "https://storage.googleapis.com/b?X-Goog-Signature=‹2fd4e1c67a2d28fced849ee1bb76e7391b93eb12›",
            "https://x/?token=‹swordfish›",
            "https://x/?a=b&amp;access_token=‹swordfish›",
            "https://x/#access_token=‹swordfish›&b=2",
            "postgres://user:‹swordfish›@db:5432/x",
            "amqp://:‹swordfish›@host",
        ],
    ),
    (
        "npm",
        &[
            "//npm.example.com/:_authToken=‹0123-4567›",
            "npm config set //npm.example.com/:_authToken ‹0123-4567›",
            "//npm.example.com/:_authToken ‹0123-4567›",
            "_authToken ‹0123-4567›",
            "//r.example.com/:_password=‹c3dvcmRmaXNo›",
            "//r.example.com/:_password ‹c3dvcmRmaXNo›",
            "//r.example.com/:_auth=‹bWU6c3dvcmRmaXNo›",
            "_auth = ‹bWU6c3dvcmRmaXNoMQ=›",
            "yarn config set npmAuthToken ‹0123-4567›",
            "aws configure set aws_secret_access_key ‹swordfish›",
        ],
    ),
    (
        "options of programs",
        &[
            "sshpass -p ‹swordfish› ssh -p 2222 me@host",
            "sshpass -p'‹sword fish›' ssh me@host",
            "docker login -u me -p ‹swordfish› registry.example.com",
            "docker login --username me --password ‹swordfish›",
            "sudo docker login -p ‹x1›",
            "az login --service-principal -u a -p ‹swordfish›",
            "mysql -u root -p‹swordfish› db",
            "mysql -u root \\\n  -p‹swordfish› db",
            "docker exec -i db mysqldump -uroot -p‹pa,s{1}s› db > dump.sql",
            "/usr/bin/mysql -p\"‹sword fish›\"",
            "redis-cli -h x -a ‹swordfish› ping",
            "ldapsearch -x -D cn=a -w ‹swordfish› -b dc=x",
            "smbclient -U me%‹swordfish› //host/share",
            "unzip -P ‹swordfish› a.zip",
            "7z x a.7z -p‹swordfish›",
            "openssl rsa -in k.pem -passin pass:‹swordfish›",
            "curl -u me:‹swordfish› https://x",
            "curl -ume:‹swordfish› https://x",
            "curl --user me:‹swordfish› https://x",
            "curl --user=me:‹swordfish› https://x",
            "curl -u 'me:‹sword fish›' https://x",
            "tool --token ‹swordfish›",
            "tool --password ‹swordfish›",
            "tool --password ‹pa,s{1}s›",
            "tool --api-key ‹swordfish› --x",
            "tool --api-key=‹sword-1-fish›",
            "gpg --batch --passphrase ‹swordfish› -c a",
            "tool --pass ‹swordfish›",
            "sqlplus -s system/‹swordfish›@//db:1521/x @report.sql",
            "sqlplus me/‹swordfish›",
            "expdp 'me/‹swordfish›@db' full=y",
            "htpasswd -b .htpasswd me ‹swordfish›",
            "htpasswd -cbB \"a b\" me '‹sword fish›'",
            "htpasswd -nb me ‹swordfish›",
            "gh secret set NAME --body ‹swordfish›",
            "gh secret set NAME -b '‹sword fish›' --env prod",
            "gh secret set NAME --body=\"‹swordfish›\"",
            "openssl enc -aes-256-cbc -k ‹swordfish› -in a -out b",
            "openssl dgst -sha256 -hmac ‹swordfish› a",
            "ssh-keygen -t ed25519 -N ‹swordfish› -f k",
            "ssh-keygen -p -P '‹old one›' -f k",
            "curl -b session=‹swordfish› https://x",
            "curl -b 'a=‹b; c=d›' https://x",
            "set -x API_TOKEN ‹swordfish›",
            "set -gx API_TOKEN '‹sword fish›'; run",
            "machine example.com login me password ‹swordfish›",
            "keytool -list -keystore a.jks -storepass ‹changeit›",
            "rar a -hp‹swordfish› a.rar b",
            "unrar x -p‹swordfish› a.rar",
            "pdftotext -upw ‹swordfish› a.pdf -",
            "nmcli dev wifi connect home password ‹swordfish›",
            "cargo login ‹swordfish›",
            "mosquitto_sub -h x -u me -P ‹swordfish› -t a",
            "snmpwalk -v3 -u me -A ‹swordfish1› host",
        ],
    ),
    (
        "standard input",
        &[
            "echo ‹swordfish› | docker login -u me --password-stdin",
            "echo -n '‹sword fish›' | docker login --password-stdin registry.example.com",
            "printf %s ‹swordfish› | podman login --password-stdin",
            "printf '%s\\n' \"‹swordfish›\" | sudo -S apt-get update",
            "echo ‹ghx123› | gh auth login --with-token",
            "echo \"me:‹swordfish›\" | sudo chpasswd",
            "chpasswd <<< me:‹swordfish›",
            "docker login --password-stdin <<<'‹sword fish›'",
            "echo ‹swordfish› | openssl rsa -in k.pem -passin stdin",
            "cd a && echo ‹swordfish›|gh secret set NAME",
        ],
    ),
    (
        "headers",
        &[
            "curl -H 'Authorization: Bearer ‹swordfish›' https://x",
            "curl -H 'Authorization: ‹swordfish›' https://x",
            "curl -H 'Authorization: ApiKey ‹sword fish›' https://x",
            "curl -H \"X-Api-Key: ‹swordfish›\" https://x",
            "curl -H\"X-Api-Key: ‹swordfish›\" https://x",
            "curl --header='PRIVATE-TOKEN: ‹swordfish›' https://x",
            "wget --header 'Cookie: ‹a=b; c=d›' https://x",
            "curl -H 'Authorization: AWS4-HMAC-SHA256 ‹Credential=a/b, Signature=01ab›' https://x",
            "GET /\nAuthorization: AWS4-HMAC-SHA256 ‹Credential=a/b, Signature=01ab›\nAccept: */*",
            "Authorization: ApiKey ‹0123abcd›",
        ],
    ),
];

const STAY: &[(&str, &[&str])] = &[
    (
        "code and prose",
        &[
            "interface User { name: string; password: string; token?: string }",
            "passwordless login, and token_count = 5",
            "pub struct Login { pub password: String, pub api_key: Option<String> }",
            "--password string   Password of the registry",
            "  -p, --password string   Password\n      --password-stdin    Take it from stdin",
            "self._auth and self._password are set later",
            "PASS: test_one (0.01s)\nFAIL: test_two_2",
            "# PASS:  1234\n# FAIL:  0\nPASS=1234",
            "first_pass = 12345; second_pass: true",
            "PWD=/home/me/project1 OLDPWD=/home/me/project2 PROJECT_PWD=/srv/project3/abc",
            "FILE_PAT='*.rs' NAME_PAT=^a.*z$ GLOB_PAT=src/**/*.c",
            "USE_TOKEN=false HAS_PASSWORD=true",
            "Authorization: required for all requests to version 2 of the API",
            "the pypi-publish action, npm_config_registry, npm_package_version, hf_transfer_enabled",
            "class=\"sk-proj-card-2-column-layout-wide\" sk-ant-design-button-large-primary",
            "see bot: it answers; bottom:10px; https://docs.github.com/webhooks/events/push-and-pull-requests-and-more-of-them",
            "https://hooks.slack.com/services/ is where they begin",
        ],
    ),
    (
        "addresses",
        &[
            "https://x/?page=2&sort=name&key=name&signature=true",
            "https://x/?token=$TOKEN&sig=${SIG}",
            "git@github.com:a/b.git ssh://git@host:22/x http://localhost:8080/a@b",
            "https://github.com/a/b/commit/2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        ],
    ),
    (
        "commands",
        &[
            "tool --password-file secrets.txt --token-file x --password-stdin",
            "docker run -p 8080:80 -d nginx",
            "docker run -u node:node x && docker exec -u www-data:www-data x id",
            "docker compose -p project up",
            "mkdir -p a/b/c && cp -p x y",
            "ssh -p 2222 me@host; scp -P 2222 a me@host:b",
            "mysql -u root -p db; ssh -p2222 host",
            "mysql -u root -p$DB_PASSWORD -p\"$DB_PASSWORD\" -p${X}",
            "mysql x && nc -p8080",
            "docker login -u me -p $TOKEN; docker login --password-stdin",
            "sshpass -p \"$PW\" ssh host; sshpass -e ssh host",
            "ps -p 12345; kill -9 12345; grep -p x; mysqlimport --port 3306",
            "npm config set registry https://npm.example.com/",
            "git config user.name Somebody; git config --get http.token",
            "openssl rsa -passin env:PW -passout file:pw.txt",
            "curl -H 'Accept: application/json' -H 'Idempotency-Key: 123e4567-e89b-12d3-a456-426614174000' https://x",
            "curl -H \"Authorization: Bearer $TOKEN\" -H \"X-Api-Key: ${KEY}\" https://x",
            "head -H x; grep -H 'token: x' a",
            "curl -u \"$USER:$PASS\" https://x; curl -u me https://x",
            "unzip -p a.zip x; zip -r a.zip b; 7z x a.7z",
            "echo \"$PW\" | docker login --password-stdin; docker login --password-stdin <<< \"$PW\"",
            "echo hello | cat; printf '%s' x | wc -c; cat <<< word",
            "echo done; docker login --password-stdin < pw.txt",
            "sqlplus /nolog @dir/script.sql; sqlplus /@db",
            "set -x; set -euo pipefail; set -e TOKEN value",
            "htpasswd -c .htpasswd me; htpasswd -v a me",
            "ssh-keygen -t ed25519 -N '' -f key; ssh-keygen -lf key",
            "gh secret list; gh secret set NAME --body \"$V\"; gh pr create --body text -b more",
            "openssl x509 -in a.pem -noout; openssl s_client -connect x:443 -key k.pem",
            "machine learning needs a password policy",
            "curl -b cookies.txt https://x; cargo login; vault login -method=oidc",
        ],
    ),
];

#[test]
fn what_goes_of_every_class() {
    let mut passed = Vec::new();
    for (class, texts) in GO {
        for marked in *texts {
            let text = marked.replace(['‹', '›'], "");
            let (head, rest) = marked.split_once('‹').unwrap();
            let (_, tail) = rest.split_once('›').unwrap();
            let shown = redact_text(&text);
            let kind = shown.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
            let is_mark = |kind: &str| kind.starts_with("[redacted:") && kind.find(']') == Some(kind.len() - 1);
            if !kind.is_some_and(is_mark) {
                passed.push(format!("{class}: {marked}\n    {shown}"));
            }
        }
    }
    assert!(passed.is_empty(), "\n{}", passed.join("\n"));
}

#[test]
fn what_looks_like_it_stays() {
    let mut lost = Vec::new();
    for (class, texts) in STAY {
        for text in *texts {
            let shown = redact_text(text);
            if shown != *text {
                lost.push(format!("{class}: {text}\n    {shown}"));
            }
        }
    }
    assert!(lost.is_empty(), "\n{}", lost.join("\n"));
}

#[test]
fn variables_of_a_call_go_whole() {
    let shown = redact(&serde_json::json!({"env": {
        "MYSQL_PWD": "x y", "SMTP_PASS": "swordfish", "GH_PAT": "abc", "PWD": "/home/me", "BASE_PWD": "/srv", "FILE_PAT": "*.c",
    }}));
    let hidden = "[redacted:key]";
    let wanted = serde_json::json!({"env": {
        "MYSQL_PWD": hidden, "SMTP_PASS": hidden, "GH_PAT": hidden, "PWD": "/home/me", "BASE_PWD": "/srv", "FILE_PAT": "*.c",
    }});
    assert_eq!(shown, wanted);
}
