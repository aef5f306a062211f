//! Tools of each kind: frameworks, migrations, queues, backups, secrets, clusters and what else has a table.

use super::*;

#[test]
fn frameworks_and_migrations() {
    let lines = [
        "php bin/console doctrine:database:drop --force",
        "bin/console d:d:d --force",
        "symfony console doctrine:database:drop --force",
        "php bin/console doctrine:migrations:migrate first",
        "./vendor/bin/drush sql:drop",
        "drush entity:delete node",
        "python -m django flush",
        "python manage.py dbshell -- -c 'DROP TABLE t'",
        "flask --app x db downgrade base",
        "node ace migration:fresh",
        "php yii migrate/down all",
        "vendor/bin/phinx rollback -t 0",
        "rails db:migrate VERSION=0",
        "rails db:setup",
        "rails runner 'User.delete_all'",
        "rails r 'User.find_each(&:destroy)'",
        "dotnet ef database update 0",
        "lein migratus rollback",
        "bin/magento setup:uninstall",
        "occ user:delete x",
        "wp plugin delete x",
        "npx mikro-orm schema:drop --run",
        "npx db-migrate reset",
        "npx prisma db execute --stdin",
        "cargo sqlx database drop",
        "sqitch revert",
        "tern migrate -d 0",
        "yoyo rollback --all",
        "supabase stop --no-backup",
        "edgedb database drop x",
        "hasura migrate apply --down all",
        "airflow db reset",
    ];
    let (fed, rest): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.ends_with("--stdin"));
    warns(Category::Database, &rest);
    for line in fed {
        assert_eq!(from(line, Stdin::Text("DROP TABLE t".into())), [Category::Database], "{line}");
    }
}

#[test]
fn databases_and_queues() {
    let lines = [
        "psql -c 'WITH x AS (DELETE FROM t RETURNING *) SELECT 1'",
        "cypher-shell 'MATCH (n) DELETE n'",
        "surreal sql --query 'REMOVE TABLE t'",
        "aws athena start-query-execution --query-string 'DROP TABLE t'",
        "mongosh --eval 'db.adminCommand({shutdown: 1})'",
        "arangosh --javascript.execute-string 'db._drop(\"x\")'",
        "mongoimport --drop -c x f.json",
        "mariadb-admin drop d",
        "memcached-tool h:11211 flush_all",
        "curl -X POST localhost:8086/query --data-urlencode 'q=DROP DATABASE m'",
        "curl -X POST localhost:9090/api/v1/admin/tsdb/delete_series",
        "hdfs namenode -format",
        "celery -A app purge",
        "rq empty --all",
        "pulsar-admin topics delete-partitioned-topic t",
        "kafka-acls.sh --remove --topic t",
        "kafka-storage.sh format -t x -c y",
        "nats stream rmm S 1",
        "temporal workflow terminate -w w",
        "activemq purge q",
        "mlflow gc",
    ];
    warns(Category::Database, &lines);
    let typed = |program: &str, text: &str| from(program, Stdin::Text(text.into()));
    assert_eq!(typed("nc localhost 11211", "flush_all\n"), [Category::Database]);
    assert_eq!(typed("sftp host", "cd /srv\nrm *\n"), [Category::Database]);
    assert_eq!(typed("nc localhost 11211", "stats\n"), []);
    assert_eq!(categories("cypher-shell 'MATCH (n {id: 1}) DELETE n'"), []);
    assert_eq!(categories("wp post create --post_title='Drop the beat'"), []);
}

#[test]
fn backups_and_secrets() {
    let backups = [
        "restic forget --keep-daily 7",
        "snapper delete 1-10",
        "bup gc",
        "rdiff-backup --remove-older-than 1M /b",
        "duplicacy prune -r 1",
        "proxmox-backup-client snapshot forget x",
        "pgbackrest stanza-delete --stanza=x",
        "wal-g delete everything FORCE",
        "barman delete x oldest",
        "kopia snapshot expire --delete",
        "btrbk clean",
    ];
    warns(Category::Files, &backups);
    let secrets = [
        "pass rm -rf x",
        "gopass rm x",
        "lpass rm x",
        "op item delete x",
        "bw delete item x",
        "doppler secrets delete X",
        "infisical secrets delete X",
        "chamber delete svc key",
        "credstash delete x",
        "keyctl purge user",
        "secret-tool clear a b",
        "vault operator raft remove-peer x",
        "consul acl token delete -id x",
        "ykman piv reset",
        "keepassxc-cli rm db.kdbx x",
    ];
    warns(Category::Infrastructure, &secrets);
}

#[test]
fn machines_clusters_and_providers() {
    warns(
        Category::Kubernetes,
        &[
            "rancher clusters delete c",
            "k0s reset",
            "devspace purge",
            "okteto destroy",
            "kapp delete -a x",
            "crc delete",
        ],
    );
    warns(
        Category::Infrastructure,
        &[
            "prlctl delete vm",
            "virsh --connect q undefine vm",
            "xe vm-destroy uuid=x",
            "dokku apps:destroy x",
            "kamal remove",
        ],
    );
    warns(
        Category::Cloud,
        &[
            "tea repo delete x",
            "heroku config:unset X",
            "gh api graphql -f query='mutation { deleteIssue(input:{}) }'",
            "balena device rm 1",
            "jf rt del repo/x",
        ],
    );
    warns(
        Category::Package,
        &[
            "nuget delete x 1.0",
            "mix hex.retire x 1.0 invalid",
            "guix remove x",
            "pod trunk delete x 1.0",
            "luarocks remove x",
        ],
    );
    warns(
        Category::System,
        &["/etc/init.d/nginx stop", "monit stop all", "xkill -a", "svcadm disable x", "auditctl -D", "lastlog -C"],
    );
    warns(
        Category::Disk,
        &[
            "ddrescue -f a.img /dev/sdb",
            "qemu-img convert -O raw a.img /dev/sdb",
            "ceph osd purge 1",
            "rbd rm p/x",
            "sedutil-cli --revertTPer x /dev/sda",
        ],
    );
    warns(Category::GitDiscard, &["git submodule update --force"]);
    warns(Category::GitHistory, &["git lfs migrate import --everything", "repo abandon x"]);
}
