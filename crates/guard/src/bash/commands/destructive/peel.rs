//! Commands inside commands, for the warnings: what a wrapper runs, here or elsewhere.
//!
//! The analysis peels the wrappers that it can say everything about. Here it is enough to know what would be
//! run: `sudo`, `ssh HOST`, `docker exec`, `kubectl exec`, `npx`, `bash -c`.

use super::super::super::judge::Arg;
use super::super::index::by_first;
use super::super::spec::lists;
use super::texts;
use super::words::{Line, Piece, commands};

/// How the inner command stands in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// It begins with the first operand, or with the operand of this index.
    Operand(usize),
    /// Behind `--`, or with the operand of this index where there is none.
    Dashes(usize),
    /// As text for a shell: this option's value (blank-separated names).
    Text(&'static str),
    /// As text for a shell: the operands from this index on, joined.
    Joined(usize),
    /// Behind this word.
    After(&'static str),
    /// Behind every `-exec` of find.
    Exec,
    /// As tasks of the same program from this operand on, with a comma or a plus between them.
    Tasks(usize),
}

/// A wrapper: its names, its leading operands, and where the inner command stands. Those in the first group
/// are peeled by the analysis too; they count only if it did not.
const LOCAL: &[(&str, &str, How)] = &[
    (
        "sudo doas env genv nohup nice gnice ionice time gtime stdbuf gstdbuf setsid command exec builtin busybox \
            toybox \
            unbuffer strace ltrace chrt taskset numactl systemd-run systemd-inhibit firejail bwrap proot fakechroot \
            catsegv catchsegv proxychains proxychains4 torsocks fakeroot eatmydata caffeinate dbus-run-session \
            dbus-launch cgexec prlimit setpriv runuser pkexec run0 faketime xvfb-run entr watchexec chronic nsenter \
            unshare rlwrap ifne runcon linux32 linux64 setarch hyperfine daemonize sem",
        "",
        How::Operand(0),
    ),
    ("timeout gtimeout chroot flock taskset faketime chrt script setarch gosu su-exec runcon sg", "", How::Operand(1)),
    ("su runuser", "", How::Text("-c --command --session-command")),
    ("script flock sg capsh", "", How::Text("-c --command")),
    ("env genv", "", How::Text("-S --split-string")),
    (SHELLS, "", How::Text("-c --command -lc -ec -xc -ic")),
    ("eval watch", "", How::Joined(0)),
    ("hyperfine", "", How::Text("-p --prepare -c --cleanup -s --setup --conclude")),
    ("start-stop-daemon", "", How::Dashes(9)),
];

const SHELLS: &str = "bash sh dash zsh ksh ash fish";

/// They keep the commands that they are given on standard input for later.
const LATER: &[&str] = &["at", "batch"];

/// Wrappers that the analysis does not look into: what they run is elsewhere, or is theirs alone.
/// And those that run a command on whatever was found: a plain `rm` is many here.
const REMOTE: &[(&str, &str, How)] = &[
    ("find gfind", "", How::Exec),
    ("xargs gxargs parallel", "", How::Operand(0)),
    ("ssh mosh autossh", "", How::Joined(1)),
    ("pdsh clush pssh parallel-ssh srun mpirun mpiexec", "", How::Joined(0)),
    ("dsh", "", How::Text("-- -c")),
    ("sbatch", "", How::Text("--wrap")),
    ("docker podman nerdctl", "exec", How::Operand(2)),
    ("docker podman nerdctl", "run", How::Operand(2)),
    ("docker podman nerdctl", "container exec", How::Operand(3)),
    ("docker podman nerdctl", "container run", How::Operand(3)),
    ("docker podman nerdctl", "compose exec", How::Operand(3)),
    ("docker podman nerdctl", "compose run", How::Operand(3)),
    ("docker podman nerdctl", "sandbox exec", How::Operand(3)),
    ("docker-compose podman-compose", "exec", How::Operand(2)),
    ("docker-compose podman-compose", "run", How::Operand(2)),
    ("kubectl oc k kubecolor", "exec", How::Dashes(2)),
    ("kubectl oc k kubecolor", "run", How::Dashes(9)),
    ("kubectl oc k kubecolor", "debug", How::Dashes(9)),
    ("oc", "rsh", How::Operand(2)),
    ("crictl", "exec", How::Operand(2)),
    ("ctr", "task|tasks|t exec", How::Operand(3)),
    ("lxc incus", "exec", How::Dashes(2)),
    ("lxc-attach", "", How::Dashes(9)),
    ("machinectl", "shell", How::Operand(2)),
    ("systemd-nspawn toolbox", "", How::Operand(0)),
    ("toolbox", "run", How::Operand(1)),
    ("distrobox", "enter", How::Dashes(9)),
    ("pct", "exec", How::Dashes(2)),
    ("qm", "guest exec", How::Dashes(3)),
    ("vagrant", "ssh", How::Text("-c --command")),
    ("multipass", "exec", How::Dashes(2)),
    ("limactl", "shell", How::Operand(2)),
    ("lima colima minikube", "", How::Operand(0)),
    ("minikube colima orb podman", "ssh", How::Joined(1)),
    ("podman docker", "machine ssh", How::Joined(3)),
    ("nomad", "alloc exec", How::Operand(3)),
    ("heroku", "run", How::Operand(1)),
    ("heroku", "ps:exec", How::Joined(1)),
    ("fly flyctl", "ssh console", How::Text("-C --command")),
    ("fly flyctl", "console", How::Text("-C --command")),
    ("gcloud", "compute ssh", How::Text("--command")),
    ("aws", "ecs execute-command", How::Text("--command")),
    ("az", "vm run-command", How::Text("--scripts")),
    ("eb", "ssh", How::Text("-c --command")),
    ("tailscale tsh", "ssh", How::Joined(2)),
    ("kitchen", "exec", How::Text("-c")),
    ("nix-shell", "", How::Text("--run --command")),
    ("nix", "develop|shell", How::Text("-c --command")),
    ("nix", "develop|shell", How::After("-c")),
    ("nix", "develop|shell", How::After("--command")),
    ("guix", "shell|environment", How::Dashes(9)),
    ("ansible", "", How::Text("-a --args")),
    ("salt", "", How::Joined(2)),
    ("salt-call", "cmd.run", How::Joined(1)),
    ("salt-ssh", "", How::Joined(2)),
    ("knife", "ssh", How::Joined(2)),
    ("npx bunx pnpx", "", How::Operand(0)),
    ("npm pnpm yarn bun", "exec", How::Operand(1)),
    ("pnpm yarn bun", "dlx", How::Operand(1)),
    ("bun", "x", How::Operand(1)),
    ("npm", "x", How::Operand(1)),
    ("npx", "", How::Text("-c --call")),
    ("bundle mix", "exec", How::Operand(1)),
    ("mix", "do", How::Tasks(1)),
    ("pyenv rbenv nodenv goenv jenv plenv nodist", "exec", How::Operand(1)),
    ("rustup", "run", How::Operand(2)),
    ("poetry uv pipenv pdm hatch rye pixi conda mamba micromamba mise asdf devbox direnv", "run", How::Operand(1)),
    ("mise asdf dotenv doppler infisical aws-vault rtx op", "exec", How::Operand(1)),
    ("mise asdf rtx aws-vault chamber vaultenv envconsul teller", "exec", How::Dashes(2)),
    ("direnv chamber aws-vault", "exec", How::Operand(2)),
    ("doppler infisical op teller dotenvx railway dotenv foreman honcho netlify", "run", How::Dashes(1)),
    ("sops", "exec-env|exec-file", How::Joined(2)),
    ("envchain", "", How::Operand(1)),
    ("summon", "", How::Operand(0)),
    ("uvx pipx dotenv", "", How::Operand(0)),
    ("pipx", "run", How::Operand(1)),
    ("python php node ruby", "", How::Operand(0)),
    ("python py", "", How::After("-m")),
    ("dotnet", "tool run", How::Operand(2)),
    ("redwood rw blitz", "prisma", How::Operand(0)),
    ("sail ddev lando", "artisan|drush|wp|console|magento|mysql|psql|composer|npx", How::Operand(0)),
    ("sail ddev lando dip warden", "exec|ssh|run", How::Operand(1)),
    ("adb", "shell", How::Joined(1)),
    ("wsl cmd", "", How::Operand(0)),
    ("wsl", "", How::Dashes(9)),
    ("wsl", "", How::After("-e")),
    ("cmd", "", How::After("/c")),
    ("cmd", "", How::After("/C")),
    ("git", "submodule foreach", How::Joined(2)),
    ("git", "rebase", How::Text("-x --exec")),
    ("git", "bisect run", How::Operand(2)),
    ("repo", "forall", How::Text("-c")),
    ("repo", "forall", How::After("-c")),
    ("pwsh powershell", "", How::Text("-Command -c -command")),
    ("pwsh powershell", "", How::After("-Command")),
    ("tmux", "new-session|new|send-keys|send|respawn-pane|split-window|run-shell|run|new-window", How::Joined(1)),
    ("screen", "", How::Operand(0)),
    ("nodemon", "", How::Text("-x --exec")),
];

/// Words of an inner command that are looked at, and `-exec`s of one find: more than any person writes.
const WORDS: usize = 64;
const RUNS: usize = 8;

/// Programs that run some tools by name, without `exec`.
const RUNS_BY_NAME: &[&str] = &["yarn", "pnpm", "bun"];

/// Those tools.
const BY_NAME: &str = "prisma knex sequelize sequelize-cli typeorm rimraf drizzle-kit cdk serverless sls sst \
    wrangler firebase vercel netlify";

/// Whether options behind the first operand belong to an inner command.
pub(super) fn passes_options(program: &str) -> bool {
    let mut named = by_first!(LOCAL).named(program).filter_map(|row| LOCAL.get(row));
    named.any(|(names, ..)| lists(names, program))
}

/// How many operands of `line` are its own: what stands behind more of them belongs to the command inside.
pub(super) fn begins(line: &Line) -> usize {
    let own = |how: &How| match how {
        How::Operand(at) | How::Dashes(at) | How::Joined(at) | How::Tasks(at) => *at,
        How::After(_) => 0,
        How::Text(_) | How::Exec => usize::MAX,
    };
    rows(line, false).map(|(how, passed)| own(&how).saturating_add(passed)).min().unwrap_or(usize::MAX)
}

/// Whether `program` may run a command that is among its words.
pub(super) fn names(program: &str) -> bool {
    by_first!(LOCAL).named(program).next().is_some()
        || by_first!(REMOTE).named(program).next().is_some()
        || RUNS_BY_NAME.contains(&program)
        || LATER.contains(&program)
        || matches!(program, "source" | ".")
        || texts::names(program)
}

/// The commands on standard input, where the program takes them from there.
pub(super) fn fed(line: &Line, stdin: Option<&str>) -> Vec<Line> {
    let first = line.operands.first().map(|piece| piece.text.as_ref());
    let takes = match line.program.as_str() {
        shell if lists(SHELLS, shell) => match first {
            None | Some("-" | "/dev/stdin") => !line.has("-c"),
            Some(_) => line.has("-s"),
        },
        "xargs" | "gxargs" => line.raw.windows(2).any(|pair| {
            let [program, option] = pair else { return false };
            lists(SHELLS, super::words::program(&program.text)) && option.text.ends_with('c')
        }),
        "su" => !line.any("-c --command --session-command"),
        "sudo" => first.is_none() && line.any("-i -s --login --shell"),
        "source" | "." => first == Some("/dev/stdin"),
        "ssh" => line.operands.len() == 1,
        "parallel" => first.is_none(),
        program => LATER.contains(&program) && !line.any("-f -l -q -r -d -c"),
    };
    stdin.filter(|_| takes).map(commands).unwrap_or_default()
}

/// What a wrapper runs, for an analysis that does not know its options.
pub(in super::super) enum Inside {
    /// The command that begins with this one of its words.
    Words(usize),
    /// A text for a shell.
    Text(String),
}

/// Where the command inside a wrapper of the first group begins among its words.
pub(in super::super) fn inside(program: &str, words: &[Arg]) -> Option<Inside> {
    let line = Line::read(std::iter::once(Piece::known(program)).chain(words.iter().map(Piece::of)).collect());
    let texts =
        rows(&line, true).filter_map(|(how, _)| if let How::Text(options) = how { Some(options) } else { None });
    if let Some(text) = texts.flat_map(|options| line.values(options)).find(|text| text.known) {
        return Some(Inside::Text(text.text.to_string()));
    }
    let begins = rows(&line, true).filter_map(|(how, _)| if let How::Operand(at) = how { Some(at) } else { None });
    let starts = begins.filter_map(|at| line.spots.get(at).map(|(place, _)| *place));
    starts.min().map(Inside::Words)
}

/// The commands inside `line`. `wrappers`: those that the analysis peels, too.
pub(super) fn inner(line: &Line, wrappers: bool) -> Vec<Line> {
    let mut found = Vec::new();
    if only_names(line) {
        return found;
    }
    found.extend(texts::inner(line));
    rows(line, wrappers).for_each(|(how, passed)| peel(line, how, passed, &mut found));
    if RUNS_BY_NAME.contains(&line.program.as_str()) && BY_NAME.split(' ').any(|name| name == line.operand(0)) {
        found.extend(from_operand(line, 0));
    }
    found.retain(|inner| !inner.program.is_empty());
    found
}

/// `command -v PROGRAM` says where a program is.
fn only_names(line: &Line) -> bool {
    let mut options = line.raw.iter().take_while(|word| word.text.starts_with('-'));
    line.program == "command" && options.any(|word| word.known && word.text.contains(['v', 'V']))
}

/// How a command may stand inside `line`, and how many operands before it are values of options that no table knows.
/// `wrappers`: those that the analysis peels, too.
fn rows(line: &Line, wrappers: bool) -> impl Iterator<Item = (How, usize)> {
    let local = by_first!(LOCAL).named(&line.program).filter(move |_| wrappers).filter_map(|row| LOCAL.get(row));
    let remote = by_first!(REMOTE).named(&line.program).filter_map(|row| REMOTE.get(row));
    let own = local.chain(remote).filter(|(names, ..)| lists(names, &line.program));
    own.filter_map(|(_, path, how)| Some((*how, line.leads(path)? - path.split_whitespace().count())))
}

fn peel(line: &Line, how: How, passed: usize, found: &mut Vec<Line>) {
    match how {
        How::Operand(at) => found.extend(from_operand(line, at + passed)),
        How::Dashes(at) => match line.raw.iter().position(|word| word.known && &*word.text == "--") {
            Some(dashes) => found.push(Line::read(some(&line.raw, dashes + 1).to_vec())),
            None => found.extend(from_operand(line, at + passed)),
        },
        How::Text(options) => {
            found.extend(line.values(options).flat_map(|piece| commands(&piece.text)));
            // Behind the operands it may not have been read as an option: `su postgres -- -c TEXT`.
            let pairs = line.raw.windows(2).filter_map(|pair| match pair {
                [option, text] if lists(options, &option.text) => Some(text),
                _ => None,
            });
            let read = |text: &Piece| line.values(options).any(|value| value == text);
            found.extend(pairs.filter(|text| !read(text)).flat_map(|text| commands(&text.text)));
        }
        How::After(option) => {
            found.extend(
                line.raw
                    .iter()
                    .position(|word| &*word.text == option)
                    .map(|at| Line::read(some(&line.raw, at + 1).to_vec())),
            );
        }
        How::Joined(at) => {
            // Quoting was done when the words were made, so a word of one piece is text for the far shell.
            let words = words_from(line, at + passed);
            let text: Vec<&str> = words.iter().map(|piece| piece.text.as_ref()).collect();
            found.extend(commands(&text.join(" ")));
        }
        How::Tasks(at) => {
            let mut task = vec![Piece::known(&line.name)];
            for word in words_from(line, at + passed) {
                let name = word.text.trim_end_matches(',');
                let ends = name.len() < word.text.len() || name == "+";
                if !name.is_empty() && name != "+" {
                    task.push(Piece { text: name.into(), ..word.clone() });
                }
                if ends {
                    found.push(Line::read(std::mem::replace(&mut task, vec![Piece::known(&line.name)])));
                }
            }
            found.push(Line::read(task));
        }
        How::Exec => {
            // What stands behind one, up to its end, is its command, with whatever `-exec`s that has.
            let is_run = |word: &Piece| matches!(word.text.as_ref(), "-exec" | "-execdir" | "-ok" | "-okdir");
            let mut rest = line.raw.as_slice();
            for _ in 0..RUNS {
                let Some(at) = rest.iter().position(is_run) else { break };
                rest = rest.get(at + 1..).unwrap_or_default();
                let end = rest.iter().position(|word| matches!(word.text.as_ref(), ";" | "+")).unwrap_or(rest.len());
                let mut words = some(rest, 0).get(..end).unwrap_or_else(|| some(rest, 0)).to_vec();
                // What stands for the found names stands for as many as there are.
                for word in &mut words {
                    if word.text.contains("{}") {
                        (word.known, word.glob) = (false, true);
                    }
                }
                found.push(Line::read(words));
                rest = rest.get(end..).unwrap_or_default();
            }
        }
    }
}

/// The command that begins with the operand of this index; assignments before it are skipped.
fn from_operand(line: &Line, at: usize) -> Option<Line> {
    let words = words_from(line, at);
    let start = words.iter().position(|word| !is_assignment(&word.text))?;
    let mut inner = words.get(start..)?.to_vec();
    if matches!(line.program.as_str(), "xargs" | "gxargs" | "parallel") {
        inner.truncate(inner.iter().position(|word| word.text.starts_with(":::")).unwrap_or(inner.len()));
        inner.push(Piece { text: "{}".into(), known: false, glob: true });
    }
    Some(Line::read(inner))
}

/// Every word from the operand of this index on.
fn words_from(line: &Line, at: usize) -> Vec<Piece> {
    line.spots.get(at).map_or_else(Vec::new, |(place, _)| some(&line.raw, *place).to_vec())
}

/// The words from `at` on, as many as are looked at.
fn some(words: &[Piece], at: usize) -> &[Piece] {
    let rest = words.get(at..).unwrap_or_default();
    rest.get(..WORDS).unwrap_or(rest)
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}
