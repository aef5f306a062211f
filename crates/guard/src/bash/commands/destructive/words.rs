//! The words of a command as the warnings read them: options apart from operands, approximately.

use std::rc::Rc;

use super::super::super::judge::{Arg, FOUND, LISTED, Word};
use super::super::index::by_first;
use super::super::spec::lists;

/// A word, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its text; for a pattern with its wildcards, for an unknown word what it starts with.
    pub text: Rc<str>,
    /// Whether that is all of it.
    pub known: bool,
    /// Whether it is a file name pattern.
    pub glob: bool,
}

impl Piece {
    /// A known word.
    pub fn known(text: &str) -> Piece {
        Piece { text: text.into(), known: true, glob: false }
    }

    fn of(arg: &Arg) -> Piece {
        match &arg.word {
            Word::Exact(text) => Piece::known(text),
            Word::Glob { pattern, .. } => Piece { text: pattern.as_str().into(), known: false, glob: true },
            Word::OneOf(words) => match words.first() {
                Some(Word::Exact(text)) => Piece { text: text.as_str().into(), known: false, glob: false },
                _ => Piece { text: "".into(), known: false, glob: false },
            },
            // `while read -r f; do rm "$f"; done`: as many as were listed.
            Word::Opaque { why, .. } if why == LISTED || why == FOUND => {
                Piece { text: "**".into(), known: false, glob: true }
            }
            Word::Opaque { prefix, .. } => Piece { text: prefix.as_str().into(), known: false, glob: false },
        }
    }
}

/// An option: as written with its dashes (each letter of a bundle by itself), and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flag {
    /// `-f`, `--force`, `-auto-approve`.
    pub name: String,
    /// What is attached to it, or the next word where the option is known to take one.
    pub value: Option<Piece>,
    /// How many operands stand before it.
    pub after: usize,
}

/// A command, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// The program without its directory, lower case `.exe` removed.
    pub program: String,
    /// Every word behind the program.
    pub raw: Vec<Piece>,
    /// Options in order.
    pub flags: Vec<Flag>,
    /// Operands in order.
    pub operands: Vec<Piece>,
}

/// Letters of one bundle that are looked at: more than any program has.
const BUNDLE: usize = 64;

/// Options that take the next word as their value, by program, or by program and first operand for the
/// words behind that operand. Without this a value would be taken for a subcommand.
const VALUED: &[(&str, &str)] = &[
    ("git", "-C -c --git-dir --work-tree --namespace --config-env --super-prefix"),
    ("git commit", "-m -F -C -c -t --author --date --message --file --fixup --squash --template"),
    ("git push", "-o --push-option --repo --receive-pack"),
    ("git checkout", "-b -B --orphan --conflict"),
    ("git switch", "-c -C --orphan"),
    ("git restore", "-s --source --conflict"),
    ("git clean", "-e --exclude"),
    ("git tag", "-m -F -u --message --file --sort"),
    ("git merge", "-m -s -X -F"),
    ("git branch", "-u --set-upstream-to --sort --format --contains"),
    ("git worktree", "-b -B --reason"),
    ("git gc", ""),
    (
        "kubectl",
        "-n --namespace --context --cluster --kubeconfig --user -s --server --token -l --selector -f \
        --filename -o \
        --output --as --request-timeout --grace-period --timeout --replicas --field-selector -c --container --type \
        -p",
    ),
    ("oc", "-n --namespace --context --kubeconfig -l --selector -f --filename -o"),
    ("helm", "-n --namespace --kube-context --kubeconfig -f --values --set --version"),
    ("docker", "-H --host -c --context --config -l --log-level"),
    ("docker compose", "-f --file -p --project-name --profile --env-file --project-directory"),
    ("docker exec", "-e --env -u --user -w --workdir --env-file --detach-keys"),
    (
        "docker run",
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --entrypoint --mount \
        -m \
        --memory --cpus --platform --env-file -l --label -h --hostname --net --rm-after --restart --add-host \
        --device --gpus",
    ),
    ("docker image", "--filter"),
    ("docker rm", "--filter"),
    ("podman", "-H --host --url -c --connection --log-level"),
    ("podman exec", "-e --env -u --user -w --workdir"),
    ("podman run", "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --entrypoint --mount"),
    ("docker-compose", "-f --file -p --project-name --profile --env-file --project-directory"),
    ("az deployment", "--mode -g --resource-group -n --name"),
    (
        "aws",
        "--desired-capacity --desired-count --profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout",
    ),
    ("gcloud", "--project --zone --region --account --format --filter"),
    ("gsutil", "-o -h -i -u"),
    ("az", "-g --resource-group -n --name --subscription -o --output --query"),
    ("gh", "-R --repo"),
    ("gh api", "-X --method -H --header -f --raw-field -F --field -q --jq -t --template --input"),
    ("glab api", "-X --method -H --header -f -F"),
    ("heroku", "-a --app -r --remote"),
    ("fly", "-a --app -c --config"),
    ("flyctl", "-a --app -c --config"),
    ("doctl", "-t --access-token --context -o --output -c --config"),
    ("firebase", "-P --project --token"),
    ("terraform", "-chdir -var -var-file -state -target -replace -lock-timeout"),
    ("tofu", "-chdir -var -var-file -state -target -replace"),
    ("pulumi", "-s --stack -C --cwd -m --message"),
    ("cdk", "-a --app -c --context --profile"),
    ("ansible", "-i --inventory -m --module-name -a --args -u --user -l --limit -e --extra-vars -f --forks -b-user"),
    ("nomad", "-address -region -namespace"),
    ("vault", "-address -namespace"),
    (
        "psql",
        "-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set -o --output -F -P -R -T \
        -L",
    ),
    ("mysql", "-e --execute -h --host -P --port -u --user -D --database -S --socket --defaults-file"),
    ("mysqladmin", "-h --host -P --port -u --user -S --socket"),
    ("redis-cli", "-h -p -a -n -u -s -r -i --user --pass --sni --cacert -t -x-"),
    ("etcdctl", "--endpoints --cacert --cert --key --user"),
    ("mongosh", "--eval --host --port -u -p --username --password --authenticationDatabase -f --file"),
    ("mongo", "--eval --host --port -u -p --username --password --authenticationDatabase"),
    ("sqlite3", "-cmd -separator -init -nullvalue -newline"),
    ("cqlsh", "-e -f -k -u -p --execute --file --keyspace --username --password"),
    ("clickhouse-client", "-q --query -h --host --port -u --user --password -d --database"),
    ("clickhouse", "-q --query -h --host --port -u --user --password -d --database"),
    ("duckdb", "-c -s -cmd -init -f -separator"),
    ("sqlcmd", "-Q -q -S -U -P -d -i -o"),
    ("influx", "-execute -database -host -port --bucket --start --stop --org --token -o -t -p --predicate"),
    ("bq", "--project_id --dataset_id --location"),
    ("alembic", "-c --config -n --name -x"),
    ("rails", "-e --environment"),
    ("rake", "-f --rakefile -C"),
    ("prisma", "--schema"),
    ("knex", "--env --knexfile --cwd"),
    ("manage.py", "--settings --database --pythonpath"),
    ("systemctl", "-H --host -M --machine -t --type -s --signal -n -o --kill-who"),
    ("apt-get", "-o -c -t --option"),
    ("apt", "-o -c -t --option"),
    ("pip", "--cache-dir --log --proxy --timeout"),
    ("truncate", "-s --size -r --reference"),
    (
        "rsync",
        "-e --rsh --exclude --include --filter -f --rsync-path --exclude-from --include-from --bwlimit \
        --log-file --backup-dir \
        -B -M -T --max-size --min-size --compare-dest --copy-dest --link-dest --port --password-file --files-from",
    ),
    (
        "tar",
        "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I --use-compress-program -b -g \
        -H -V -L -K -N",
    ),
    ("zip", "-x -i -n -t -b -O -P"),
    ("find", ""),
    ("xargs", "-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --replace --max-lines"),
    (
        "curl",
        "-X --request -H --header -d --data -o --output -u --user -F --form -A -e -b -c -T -K -m -w -x \
        --data-raw --data-binary \
        --url --retry --cacert --cert --key --max-time --connect-timeout",
    ),
    ("iptables", "-t --table -p --protocol -s --source --dport --sport -j --jump -i -o -m"),
    ("ip6tables", "-t --table -p -s -j"),
    ("umount", "-t -O --types"),
    ("pkill", "-s -t -g -G -P --signal --session --terminal --parent --pgroup -F --pidfile"),
    ("killall", "-s --signal -o -y --older-than --younger-than -n --ns"),
    ("shred", "-n -s --iterations --size --random-source"),
    ("mkfs", "-t --type"),
    ("parted", "-a --align"),
    ("sgdisk", "-d -n -t -c -u -A"),
    ("lvresize", "-L --size -l --extents"),
    ("mount", "-o --options -t --types -L -U"),
    ("lftp", "-e -c -u -p -f"),
    ("chage", "-E --expiredate -I -m -M -W -d"),
    ("adb", "-s -t -H -P -L"),
    ("fastboot", "-s -S"),
    ("nginx", "-s -c -g -p -e"),
    ("apachectl", "-k -f -D"),
    ("apache2ctl", "-k -f -D"),
    ("httpd", "-k -f -D -d -c -C"),
    ("svn", "-r --revision -m --message --depth --changelist"),
    ("hg", "-R --repository --cwd --config -r --rev -m"),
    ("jj", "-R --repository"),
    ("p4", "-c -u -p -P -d -H"),
    ("hdparm", "--user-master --security-erase --security-set-pass"),
    (
        "rclone",
        "--config --include --exclude --filter --transfers --max-age --min-age --log-file --log-level \
        --bwlimit --checkers",
    ),
    ("ssh", "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
    ("npm", "--registry --prefix -w --workspace --otp --tag"),
    ("cargo", "--manifest-path --config -Z --color -C"),
    ("cargo yank", "--version --vers --index --registry --token --manifest-path"),
    ("gem", "-v --version --host -k --key"),
    ("make", "-f -C -I -j -o -W"),
    ("chmod", "--reference"),
    ("chown", "--reference --from"),
    ("mv", "-t --target-directory -S --suffix"),
    ("cp", "-t --target-directory -S --suffix"),
    ("install", "-m --mode -o --owner -g --group -t --target-directory -S --suffix"),
    ("crontab", "-u"),
    ("journalctl", "-u --unit -n --lines -b --boot -o --output -S --since -U --until -t -p -D --file"),
    ("userdel", "-R -P --root --prefix"),
    ("sudo", "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir"),
    ("doas", "-u -C"),
    ("su", "-c --command -s --shell -g -G -w --session-command"),
    ("env", "-u -C -S --unset --chdir"),
    ("timeout", "-s -k --signal --kill-after"),
    ("nice", "-n --adjustment"),
    ("ionice", "-c -n -p --class --classdata"),
    ("stdbuf", "-i -o -e --input --output --error"),
    ("taskset", ""),
    ("chroot", "--userspec --groups"),
    ("flock", "-w -E --timeout --wait --conflict-exit-code"),
    ("watch", "-n --interval"),
    ("strace", "-e -o -p -s -u -E -P"),
    ("parallel", "-j --jobs -a --arg-file --colsep -I -N -n --delay --timeout -S --sshlogin"),
    ("nix-shell", "--run --command -I -A --attr"),
    ("vagrant", "-c --command"),
    ("npx", "-p --package"),
    ("uv run", "--with --python -p --extra --group --project --directory --env-file"),
    ("python", "-m -W -X"),
    ("bash", "-c -o -O --rcfile --init-file"),
    ("sh", "-c -o"),
];

/// Programs that ask for help with one dash.
const ONE_DASH: &str = "terraform tofu terragrunt packer nomad consul vault";

/// Programs to which `--help` may be a name, a process or a word for their code once there was an operand: always, or where
/// options end at the first operand, as they do on a Mac.
const HELP_FIRST: &str = "rm mv cp install chmod chown chgrp dd kill truncate shred redis-cli valkey-cli keydb-cli \
    python python2 python3 node nodejs deno perl ruby php lua pwsh powershell mongosh mongo";

/// Options that take no value in any program that destroys something with them.
const VALUELESS: &str = "-y --force --hard --all --recursive --delete --yes --no-verify --prune --volumes";

/// Programs of which `-f`, `-r` and `-D` take no value either; elsewhere they may: `curl -D FILE`, `restic -r PLACE`.
const PLAIN: &str = "rm git";

fn valued(program: &str, sub: Option<&str>) -> Option<&'static str> {
    let named = |key: &str| match (key.strip_prefix(program), sub) {
        (Some(rest), Some(sub)) => rest.strip_prefix(' ') == Some(sub),
        (Some(rest), None) => rest.is_empty(),
        (None, _) => false,
    };
    let mut rows = by_first!(VALUED).named(program).filter_map(|row| VALUED.get(row));
    rows.find(|(key, _)| named(key)).map(|(_, options)| *options)
}

/// Programs that are read like another one.
fn like(program: &str) -> &str {
    match program {
        "mariadb" | "mycli" | "mysqlsh" => "mysql",
        "pgcli" | "cockroach" | "ysqlsh" | "vsql" | "usql" => "psql",
        "zsh" | "dash" | "ksh" | "ash" => "sh",
        "pip3" => "pip",
        "python3" | "python2" => "python",
        "k" | "kubectl.exe" | "microk8s" => "kubectl",
        "mamba" | "micromamba" => "conda",
        other => other,
    }
}

/// The program that the first word of a command names.
pub(super) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

impl Line {
    /// Reads `argv`.
    pub fn of(argv: &[Arg]) -> Line {
        Line::read(argv.iter().map(Piece::of).collect())
    }

    /// Reads words.
    pub fn read(words: Vec<Piece>) -> Line {
        let mut words = words.into_iter();
        let Some(first) = words.next().filter(|first| first.known) else { return Line::default() };
        let mut line = Line { program: program(&first.text).to_owned(), raw: words.collect(), ..Line::default() };
        line.split();
        line
    }

    fn split(&mut self) {
        let program = like(&self.program);
        let general = valued(program, None).unwrap_or_default();
        let mut takes = general;
        let mut words = self.raw.iter().peekable();
        let mut ended = false;
        while let Some(word) = words.next() {
            let text = word.text.as_ref();
            if ended || text.len() < 2 || !text.starts_with('-') {
                if self.operands.is_empty() {
                    if program == "git" {
                        // Of its subcommands this letter means something else.
                        self.flags.retain(|flag| flag.name != "-C");
                    }
                    takes = valued(program, Some(text)).unwrap_or(general);
                }
                self.operands.push(word.clone());
                continue;
            }
            if text == "--" {
                ended = true;
                let after = self.operands.len();
                self.flags.push(Flag { name: text.to_owned(), value: None, after });
                continue;
            }
            let after = self.operands.len();
            let wants = |name: &str| lists(takes, name);
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) => (name, Some(Piece { text: value.into(), ..word.clone() })),
                None => (text, None),
            };
            // As one name: long options, and those behind one dash. A long bundle of letters never equals one.
            let separate = attached.is_none() && name.len() > 2 && wants(name);
            let value = if separate { words.next().cloned() } else { attached };
            self.flags.push(Flag { name: name.to_owned(), value, after });
            if text.starts_with("--") || separate {
                continue;
            }
            for (at, letter) in text.char_indices().skip(1).take(BUNDLE) {
                let short = String::from_iter(['-', letter]);
                let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
                let done = wants(&short);
                let value = match (done, rest) {
                    (false, _) => None,
                    (true, "") if word.known => words.next().cloned(),
                    (true, rest) => Some(Piece { text: rest.trim_start_matches('=').into(), ..word.clone() }),
                };
                // `-f` alone was pushed as a whole already; with its value it says more.
                if name.len() == 2 && done {
                    self.flags.pop();
                }
                if name.len() > 2 || done {
                    self.flags.push(Flag { name: short, value, after });
                }
                if done {
                    break;
                }
            }
        }
    }

    /// Whether it was asked for help only: by an option of the program itself, that no option before it may have taken for
    /// its value.
    pub fn asks_for_help(&self) -> bool {
        if super::peel::passes_options(&self.program) {
            return false;
        }
        let last = if lists(HELP_FIRST, &self.program) { 0 } else { super::peel::begins(self) };
        let ended = self.flags.iter().position(|flag| flag.name == "--").unwrap_or(self.flags.len());
        let own = self.flags.iter().take(ended).enumerate();
        own.filter(|(_, flag)| flag.after <= last && self.shows_help(flag)).any(|(at, flag)| {
            let before = at.checked_sub(1).and_then(|before| self.flags.get(before));
            before.is_none_or(|before| {
                before.after < flag.after
                    || before.value.is_some()
                    || lists(VALUELESS, &before.name)
                    || lists(PLAIN, &self.program) && lists("-f -r -D", &before.name)
            })
        })
    }

    fn shows_help(&self, flag: &Flag) -> bool {
        let help = flag.name == "--help" || flag.name == "-help" && lists(ONE_DASH, &self.program);
        help && flag.value.is_none()
    }

    /// Whether the option was given: exactly, or as an unambiguous-looking start of a long one.
    pub fn has(&self, name: &str) -> bool {
        self.flag(name).is_some()
    }

    /// Whether one of these (blank-separated) was given.
    pub fn any(&self, names: &str) -> bool {
        names.split(' ').any(|name| self.has(name))
    }

    /// The option as given.
    pub fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|flag| {
            flag.name == name || (flag.name.len() > 4 && name.starts_with("--") && name.starts_with(&flag.name))
        })
    }

    /// Every value of these options (blank-separated).
    pub fn values<'l>(&'l self, names: &'l str) -> impl Iterator<Item = &'l Piece> + 'l {
        let named = move |flag: &&Flag| names.split(' ').any(|name| name == flag.name);
        self.flags.iter().filter(named).filter_map(|flag| flag.value.as_ref())
    }

    /// The text of an operand, where it is known.
    pub fn operand(&self, at: usize) -> &str {
        self.operands.get(at).filter(|piece| piece.known).map_or("", |piece| piece.text.as_ref())
    }
}

/// A word that is being read: its text, whether that is all of it, and whether it is a pattern.
type Begun = Option<(String, bool, bool)>;

/// `text` cut into commands and words, with quotes and nothing else of the shell.
pub(super) fn commands(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut words: Vec<Piece> = Vec::new();
    let mut word: Begun = None;
    let begun = |word: &mut Begun| word.take().unwrap_or((String::new(), true, false));
    let end = |word: &mut Begun| word.take().map(|(text, known, glob)| Piece { text: text.into(), known, glob });
    let mut chars = text.chars().peekable();
    while let Some(letter) = chars.next() {
        match letter {
            ' ' | '\t' => words.extend(end(&mut word)),
            ';' | '|' | '&' | '\n' | '(' | ')' => {
                words.extend(end(&mut word));
                lines.push(Line::read(std::mem::take(&mut words)));
            }
            _ => {
                let (mut text, mut known, mut glob) = begun(&mut word);
                match letter {
                    '\'' | '"' => text.extend(chars.by_ref().take_while(|inner| *inner != letter)),
                    '\\' => text.extend(chars.next()),
                    '*' | '?' => {
                        text.push(letter);
                        (known, glob) = (false, true);
                    }
                    '$' | '`' => known = false,
                    letter => text.push(letter),
                }
                word = Some((text, known, glob));
            }
        }
    }
    words.extend(end(&mut word));
    lines.push(Line::read(words));
    lines
}

/// Whether `text` fits one of the patterns between `|`.
pub(super) fn fits_one(patterns: &str, text: &str) -> bool {
    if patterns.bytes().any(|byte| matches!(byte, b'|' | b'*')) {
        patterns.split('|').any(|one| fits(one, text))
    } else {
        patterns == text
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    if pattern.bytes().next() != text.bytes().next() && !pattern.starts_with('*') {
        return false;
    }
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => {
            let Some(text) = text.strip_prefix(start) else { return false };
            if rest.is_empty() {
                return true;
            }
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| fits(rest, text.get(at..).unwrap_or_default()))
        }
    }
}
