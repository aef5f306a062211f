//! Interpreters: code in a word is opaque, code in a file of the workspace is the workspace's.
//!
//! Each has options of its own, and most stop reading them at the script; so the options are a table a
//! language, read by one function here. What stands behind the script belongs to the script.

use super::super::judge::{Arg, Judge, Stdin, Word};
use super::spec::{Operands, PLAIN, Parsed, Spec, Style, lists, may_be_option};
use super::special::program_file;
use super::{effects, glances, goals, perl, places, runners, serving, shadowed};

/// What an option of an interpreter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Changes how code runs, not which.
    Flag,
    /// The same with a value, attached or as the next word.
    Value,
    /// Its value is code.
    Code,
    /// Its value is a module.
    Module,
    /// Its value is a file or a module that is loaded before the script.
    Load,
    /// Its value is the script.
    Script,
    /// The operands are read, not run.
    Check,
    /// Runs code of the workspace; what follows is free.
    Task,
    /// Prints and exits when it stands alone.
    Info,
    /// Its value is a directory or a file that is read.
    Read,
    /// Its value is a list of places, separated by `:`, that code is loaded from.
    Path,
    /// A setting of the program that is run, as one word: what it names is looked at.
    Setting,
}

use Kind::{Check, Code, Flag, Info, Load, Module, Path, Read, Script, Setting, Task, Value};

/// A language: names of its programs and its options. `*` ends a name of which only the start is fixed.
struct Lang {
    names: &'static str,
    opts: &'static [(Kind, &'static str)],
    /// Words in place of a script that run code of the workspace.
    tasks: &'static str,
}

const LANGS: &[Lang] = &[
    Lang {
        names: PYTHON,
        opts: &[
            (Flag, "-b -B -d -E -I -O -P -q -s -S -u -v -x"),
            (Value, "-X -W --check-hash-based-pycs"),
            (Code, "-c"),
            (Module, "-m"),
            (Info, "-V -VV --version -h -? --help --help-env --help-xoptions --help-all"),
        ],
        tasks: "",
    },
    Lang {
        names: NODE,
        opts: &[
            (
                Flag,
                "--no-warnings --no-deprecation --trace-warnings --trace-deprecation --trace-uncaught \
                 --enable-source-maps",
            ),
            (Flag, "--experimental-strip-types --experimental-transform-types --experimental-vm-modules --expose-gc"),
            (
                Flag,
                "--experimental-specifier-resolution=* --experimental-modules --experimental-fetch \
                 --preserve-symlinks",
            ),
            (
                Flag,
                "--max-old-space-size=* --max_old_space_size=* --stack-size=* --stack-trace-limit=* \
                 --throw-deprecation",
            ),
            (Flag, "--unhandled-rejections=* --no-experimental-* --pending-deprecation --trace-exit --harmony*"),
            (Flag, "--dns-result-order=* --trace-sync-io --no-opt --abort-on-uncaught-exception"),
            // The inspector listens on this machine alone, where no other is named; profiles are written here.
            (Flag, "--inspect --inspect-brk --inspect-wait --inspect=127.0.0.1:* --inspect=localhost:*"),
            (Flag, "--inspect-brk=127.0.0.1:* --inspect-brk=localhost:* --cpu-prof --cpu-prof-interval=* --heap-prof"),
            (Flag, "--heap-prof-interval=* --prof"),
            (Flag, "--experimental-test-coverage --experimental-test-module-mocks --test-only --test-force-exit"),
            (Flag, "--test-concurrency=* --test-timeout=* --test-isolation=* --test-shard=* --test-coverage-*"),
            (Flag, "--test-reporter-destination=stdout --test-reporter-destination=stderr"),
            (Value, "-C --conditions --input-type --title --test-name-pattern --test-skip-pattern"),
            (Load, "--test-reporter"),
            (Read, "--env-file --env-file-if-exists"),
            (Code, "-e --eval -p --print -pe"),
            (Load, "-r --require --import --loader --experimental-loader"),
            (Check, "-c --check"),
            (Task, "--test --watch --run"),
            (Info, "-v --version -h --help --v8-options --completion-bash"),
        ],
        tasks: "",
    },
    Lang {
        names: "deno",
        opts: &[(Info, "-V --version -h --help")],
        tasks: "test bench check lint fmt task doc info coverage \
    compile",
    },
    Lang {
        names: "ruby ruby2.7 ruby3.0 ruby3.1 ruby3.2 ruby3.3 ruby3.4 jruby truffleruby",
        opts: &[
            (Flag, "-w -W -W0 -W1 -W2 -U -d --yjit --jit --disable=* --enable=* --verbose --disable-gems"),
            (Value, "-E --encoding --external-encoding"),
            (Read, "-I"),
            (Code, "-e"),
            (Load, "-r"),
            (Check, "-c"),
            (Info, "-v --version -h --help --copyright"),
        ],
        tasks: "",
    },
    Lang {
        names: "perl",
        opts: &[
            (Flag, "-w -W -X -t -T -s -c"),
            (Read, "-I"),
            (Code, "-e -E"),
            (Info, "-v -V -V:* --version -h --help"),
        ],
        tasks: "",
    },
    Lang {
        names: "php php7.4 php8.0 php8.1 php8.2 php8.3 php8.4 php-cli",
        opts: &[
            (Flag, "-n -q -C -dmemory_limit=* -ddisplay_errors=* -derror_reporting=*"),
            (Flag, "-dxdebug.mode=off -dxdebug.mode=coverage -dxdebug.mode=develop"),
            (Code, "-r -R -B -E"),
            (Script, "-f"),
            (Check, "-l -s -w"),
            // The files here, to whoever asks on this machine.
            (Task, "-S"),
            (Info, "-v --version -h --help -m -i --ini --info --modules"),
        ],
        tasks: "",
    },
    Lang {
        names: "lua lua5.1 lua5.2 lua5.3 lua5.4 luajit",
        opts: &[(Flag, "-E -W"), (Code, "-e"), (Load, "-l"), (Info, "-v --version")],
        tasks: "",
    },
    Lang {
        names: "Rscript",
        opts: &[
            (Flag, "--vanilla --no-save --no-restore --no-environ --no-site-file --no-init-file --verbose --slave"),
            (Flag, "--no-echo --quiet"),
            (Code, "-e"),
            (Info, "--version --help"),
        ],
        tasks: "",
    },
    Lang {
        names: "R",
        opts: &[
            (Flag, "-q --quiet --no-save --no-restore --no-echo --vanilla --slave -s"),
            (Script, "-f --file"),
            (Code, "-e"),
            (Info, "--version --help"),
        ],
        tasks: "",
    },
    Lang { names: "racket", opts: &[(Code, "-e --eval"), (Info, "-v --version -h --help")], tasks: "" },
    Lang {
        names: "guile",
        opts: &[(Flag, "--no-auto-compile"), (Script, "-s"), (Code, "-c"), (Info, "-v --version -h --help")],
        tasks: "",
    },
    Lang {
        names: "sbcl",
        opts: &[
            (Flag, "--non-interactive --noinform --no-userinit --no-sysinit --disable-debugger"),
            (Script, "--script"),
            (Load, "--load"),
            (Code, "--eval"),
            (Info, "--version --help"),
        ],
        tasks: "",
    },
    Lang { names: "clisp", opts: &[(Code, "-x"), (Info, "--version --help")], tasks: "" },
    Lang {
        names: "julia",
        opts: &[
            (
                Flag,
                "-q --quiet --project --project=* --startup-file=no --color=* --threads=* --optimize=* -O0 -O1 -O2 \
                 -O3",
            ),
            (Flag, "--check-bounds=* --depwarn=* --inline=* --code-coverage=* --history-file=no"),
            (Value, "-t -p --threads"),
            (Code, "-e --eval -E --print"),
            (Load, "-L --load"),
            (Info, "-v --version -h --help"),
        ],
        tasks: "",
    },
    Lang { names: "runghc runhaskell runhugs", opts: &[(Read, "-i*"), (Info, "--version --help")], tasks: "" },
    Lang { names: "ghci irb pry iex osascript", opts: &[(Info, "--version --help")], tasks: "" },
    Lang { names: "jshell", opts: &[(Flag, "-s -q -v"), (Info, "--version --help")], tasks: "" },
    // Erlang and Tcl know no `--version`: they go on and run what their standard input says.
    Lang { names: "erl", opts: &[(Info, "-version")], tasks: "" },
    Lang {
        names: "java",
        opts: &[
            (Flag, "-Xmx* -Xms* -Xmn* -Xss* -ea -enableassertions -da -esa -server -client -showversion"),
            // Sizes, counts and collectors. Others of the kind name programs and files.
            (Flag, "-XX:+Use* -XX:-Use* -XX:Max* -XX:Min* -XX:Initial* -XX:ActiveProcessorCount=* -XX:MetaspaceSize=*"),
            (Flag, "-XX:ParallelGCThreads=* -XX:ConcGCThreads=* -XX:G1* -XX:NewRatio=* -XX:SurvivorRatio=*"),
            (
                Flag,
                "-XX:TieredStopAtLevel=* -XX:ReservedCodeCacheSize=* -XX:+ExitOnOutOfMemoryError -XX:+TieredCompilation",
            ),
            (Flag, "-XX:+UnlockExperimentalVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+PrintFlagsFinal"),
            (Flag, "-Xint -Xcomp -Xshare:auto -Xshare:off -Xcheck:jni -verbose -verbose:*"),
            (Flag, "--enable-preview --enable-native-access=* --source=* -Dfile.encoding=* -Djava.awt.headless=*"),
            (Flag, "-Duser.language=* -Duser.timezone=* -XshowSettings -XshowSettings:*"),
            (Setting, "-D* -Xlog -Xlog:*"),
            (Value, "--source --add-opens --add-exports --add-reads --add-modules --limit-modules"),
            (Script, "-jar"),
            (Path, "-cp -classpath --class-path -p --module-path"),
            (Task, "-m --module"),
            (Info, "-version --version -fullversion --full-version -help --help -? -X"),
        ],
        tasks: "",
    },
    Lang { names: "tclsh wish", opts: &[], tasks: "" },
    Lang { names: "expect", opts: &[(Code, "-c"), (Script, "-f"), (Info, "-v")], tasks: "" },
    Lang {
        names: "pwsh powershell",
        opts: &[
            (Flag, "-NoProfile -NonInteractive -NoLogo -nop -noni"),
            (Code, "-c -Command -e -EncodedCommand -command"),
            (Script, "-f -File -file"),
            (Info, "-v -Version --version -h -Help --help"),
        ],
        tasks: "",
    },
    Lang {
        names: "scala scala3 kotlin",
        opts: &[(Flag, "-deprecation -feature"), (Code, "-e"), (Info, "-version --version -help --help -h")],
        tasks: "compile test run",
    },
    Lang { names: "groovy", opts: &[(Code, "-e"), (Info, "-version --version -help --help -h -v")], tasks: "" },
    Lang {
        names: "elixir",
        opts: &[
            (Code, "-e --eval --rpc-eval"),
            (Load, "-r -pr --require"),
            (Read, "-pa -pz"),
            (Task, "-S"),
            (Info, "-v --version -h --help --short-version"),
        ],
        tasks: "",
    },
];

const PYTHON: &str = "python python2 python2.7 python3 python3.6 python3.7 python3.8 python3.9 python3.10 python3.11 \
     python3.12 python3.13 python3.14 pypy pypy3";
const NODE: &str = "node nodejs";

/// The table: one row a language, read by [`interpreter`].
pub(super) const SPECS: &[Spec] = &ROWS;

const ROWS: [Spec; LANGS.len()] = {
    let mut rows = [PLAIN; LANGS.len()];
    let mut at = 0;
    while at < LANGS.len() {
        rows[at] = Spec {
            names: LANGS[at].names,
            style: Style::Raw,
            operands: Operands::Custom,
            check: Some(interpreter),
            ..PLAIN
        };
        at += 1;
    }
    rows
};

/// What a module of Python does behind `-m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Runs code of the workspace, or a tool that is configured there.
    Code,
    /// Prints JSON: the first operand is read, the second written.
    Json,
    /// Writes an environment into a directory.
    Venv,
    /// A program that has a table row.
    Program,
    /// Listens.
    Serves,
}

/// Modules that serve, fetch, or run text that stands on the command line.
const OTHER_MODULES: &str = "pydoc wsgiref SimpleHTTPServer CGIHTTPServer cgi nltk spacy playwright wget gdown fabric \
    fab invoke scrapy pickle pickletools gradio locust streamlit bottle tornado aiosmtpd pyftpdlib nbconvert marimo \
    torch transformers datasets kaggle selenium webdriver_manager ansible paramiko celery daphne twisted mitmproxy \
    pyodide httpie speedtest instaloader dask distributed ray mlflow dvc boto3 poetry_core flit hatch pdm briefcase \
    xmlrpclib ptpython bpython rpdb debugpy pudb http smtpd smtplib ftplib telnetlib nntplib poplib imaplib socketserver xmlrpc urllib \
    webbrowser ensurepip idlelib code pdb bdb timeit asyncio runpy turtledemo pip wheel twine setuptools easy_install \
    conda huggingface_hub awscli awscli2 jupyter notebook IPython ipykernel uvicorn gunicorn hypercorn flask waitress \
    requests httpx aiohttp youtube_dl yt_dlp gsutil keyring getpass pty ssl antigravity";

/// Whether a setting of Python's `-X` only changes how it runs, or what it tells.
fn only_tells(setting: &str) -> bool {
    const TELLS: &str = "dev utf8 importtime faulthandler tracemalloc showrefcount no_debug_ranges int_max_str_digits \
        warn_default_encoding frozen_modules gil cpu_count";
    let name = setting.split('=').next().unwrap_or(setting);
    TELLS.split_whitespace().any(|known| known == name)
}

/// A module that is not in the tables: of the workspace, or installed for it.
fn is_own_module(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let top = name.split('.').next().unwrap_or_default();
    name.split('.').all(part) && !OTHER_MODULES.split_whitespace().any(|other| other == top)
}

/// Modules that are tools with a row of their own.
const TOOLS: &str = "mkdocs lefthook mypy pylint tox nox pytest ruff black";

const MODULES: &[(Does, &str)] = &[
    (Does::Code, "pytest unittest doctest build compileall py_compile black ruff mypy flake8 pyflakes pylint isort"),
    (Does::Code, "coverage tox nox pycodestyle pydocstyle bandit yapf autopep8 pyright vulture sphinx cython cProfile"),
    (Does::Code, "profile trace ast tokenize dis tabnanny pyclbr symtable site platform sysconfig zipfile tarfile"),
    (Does::Code, "pytest_cov nose nose2 xdist behave radon docformatter pyupgrade mkdocs"),
    (Does::Json, "json.tool"),
    (Does::Venv, "venv virtualenv"),
    (Does::Program, "pip pip3 pipx poetry uv flask uvicorn gunicorn hypercorn"),
    (Does::Serves, "http.server"),
];

fn interpreter(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some(name) = parsed.path.first() else { return };
    let Some(lang) = LANGS.iter().find(|lang| lang.names.split(' ').any(|known| known == name)) else {
        return judge.opaque("the interpreter is not known");
    };
    if name == "perl" && (perl::edits(&parsed.operands, judge) || perl::prints(&parsed.operands, judge)) {
        return;
    }
    if name == "ruby" && super::ruby::edits(&parsed.operands, judge) {
        return;
    }
    Reader { lang, name, rest: &parsed.operands, checks: false, task: false, judge }.read();
}

struct Reader<'a, 'j, 's> {
    lang: &'static Lang,
    name: &'a str,
    rest: &'a [Arg],
    /// The operands are only read.
    checks: bool,
    /// An option said what is run: operands are words of it.
    task: bool,
    judge: &'j mut Judge<'s>,
}

/// Whether the reading goes on.
enum Next {
    Go,
    Done,
}

impl<'a> Reader<'a, '_, '_> {
    fn take(&mut self) -> Option<&'a Arg> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn read(mut self) {
        while let Some(arg) = self.take() {
            match arg.exact() {
                // Who names files here can do no more with it than with what is run anyway.
                None if (self.task || self.checks) && super::spec::is_file_here(arg) => {
                    self.judge.code("a word that is not known may become an option");
                    return self.operand(arg);
                }
                None if may_be_option(arg) => return self.judge.opaque("a word may become an option or a script"),
                Some("--") => {
                    if let Some(arg) = self.take() {
                        return self.operand(arg);
                    }
                    break;
                }
                Some(text) if text.len() > 1 && text.starts_with('-') => {
                    if let Next::Done = self.option(arg, text) {
                        return;
                    }
                }
                _ => return self.operand(arg),
            }
        }
        if !self.task {
            self.inline("runs code from its standard input, or waits for it");
        }
    }

    fn inline(&mut self, why: &str) {
        self.judge.opaque(format!("{} {why}", self.name));
        self.judge.find("inline_code", self.judge.span.clone(), format!("{} {why}", self.name));
    }

    /// The first word that is no option.
    fn operand(&mut self, arg: &Arg) {
        if self.checks {
            self.judge.read(arg);
            while let Some(more) = self.take() {
                if may_be_option(more) {
                    return self.judge.opaque("an option stands behind the file");
                }
                self.judge.read(more);
            }
            return;
        }
        let text = arg.exact().unwrap_or_default();
        if text == "-" {
            return self.inline("runs code from its standard input");
        }
        if self.task {
            effects::named(std::slice::from_ref(arg), self.judge);
            return effects::named(self.rest, self.judge);
        }
        if self.lang.tasks.split(' ').any(|task| task == text && !task.is_empty()) {
            self.code(format!("`{} {text}` runs code of the workspace", self.name));
            if text == "task" {
                goals::script_reaches(self.rest, self.judge);
            }
            return self.task_words();
        }
        if self.lang.names == "deno" {
            return self.deno(text);
        }
        if text.contains("://") {
            self.judge.net(None);
            return self.judge.opaque("the script comes from the network");
        }
        if text.starts_with('@') {
            return self.judge.opaque("options come from a file");
        }
        if self.name == "R"
            && text == "CMD"
            && matches!(self.rest, [sub, ..] if matches!(sub.exact(), Some("build" | "check")))
        {
            self.code("`R CMD` builds or checks a package of the workspace".to_owned());
            return effects::named(self.rest, self.judge);
        }
        if let ("R", "CMD", [sub, rest @ ..]) = (self.name, text, self.rest)
            && sub.exact() == Some("BATCH")
        {
            return self.batch(rest);
        }
        // Subcommands of these, not files: what they do is not in the table.
        if matches!(self.lang.names, "R" | "Rscript") && !text.contains(['/', '.']) {
            return self.judge.opaque(format!("`{} {text}` is not a form the analysis knows", self.name));
        }
        self.judge.find("script_file", arg.span.clone(), format!("{} runs a file", self.name));
        program_file(arg, "the script", self.judge);
        effects::secrets(self.rest, self.judge);
        runners::task_of_framework(text, self.rest, self.judge);
        serving::answers(text.rsplit('/').next().unwrap_or(text), self.rest, self.judge);
        self.publishes(text);
    }

    /// `R CMD BATCH [OPTIONS] FILE [OUTPUT]`: the output goes beside this directory's files where it is not named.
    fn batch(&mut self, words: &[Arg]) {
        const OPTIONS: &str = "--vanilla --no-save --no-restore --no-environ --no-site-file --no-init-file --no-timing --quiet \
            --slave --no-echo";
        let known = |word: &Arg| word.exact().is_some_and(|text| lists(OPTIONS, text) || text.starts_with("--args"));
        let from = words.iter().position(|word| !known(word)).unwrap_or(words.len());
        match words.get(from..).unwrap_or_default() {
            [file, output @ ..] if output.len() < 2 && !may_be_option(file) && !output.iter().any(may_be_option) => {
                program_file(file, "the script", self.judge);
                match output.first() {
                    Some(output) => self.judge.write(output),
                    None => self.judge.write_cwd(),
                }
            }
            _ => self.judge.opaque("`R CMD BATCH` runs one file and writes another"),
        }
    }

    /// Scripts that publish, as their names say, and goals of the oldest builds of Python, which send the package away.
    fn publishes(&mut self, script: &str) {
        goals::script_publishes(script, self.rest, self.judge);
        let goal = |word: &Arg| matches!(word.exact(), Some("upload" | "register" | "upload_docs"));
        if script.rsplit('/').next() == Some("setup.py") && self.rest.iter().any(goal) {
            self.judge.net(None);
        }
    }

    /// Words behind a task: addresses and packages are fetched, other places looked at; `fmt` writes its files.
    fn task_words(&mut self) {
        self.addresses();
        effects::named(self.rest, self.judge);
        places::outputs(self.rest, self.judge);
    }

    /// Words that are fetched.
    fn addresses(&mut self) {
        const SCHEMES: &[&str] = &["npm:", "jsr:", "http:", "https:", "data:"];
        for text in self.rest.iter().filter_map(Arg::exact).take_while(|text| *text != "--") {
            let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |(_, value)| value);
            if SCHEMES.iter().any(|scheme| value.starts_with(scheme)) {
                self.judge.net(value.split_once("://").and_then(|(_, rest)| rest.split(['/', ':', '?']).next()));
            }
        }
    }

    /// `deno run [OPTIONS] FILE`: permissions are deno's own, the sandbox holds all the same.
    fn deno(&mut self, sub: &str) {
        let is_file = [".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx"].iter().any(|end| sub.ends_with(end));
        if is_file && !sub.contains(':') {
            self.addresses();
            effects::named(self.rest, self.judge);
            return program_file(&self.judge.word(sub), "the script", self.judge);
        }
        if sub != "run" {
            return self.judge.opaque(format!("`deno {sub}` is not a form the analysis knows"));
        }
        self.addresses();
        let options: Vec<Arg> = self.rest.iter().take_while(|arg| may_be_option(arg)).cloned().collect();
        effects::named(&options, self.judge);
        let script = self.rest.iter().find(|arg| !may_be_option(arg));
        match script {
            Some(script) if !script.exact().is_some_and(|text| text.contains(':')) => {
                program_file(script, "the script", self.judge);
            }
            _ => self.judge.opaque("what `deno run` runs is not a file of the workspace"),
        }
    }

    fn code(&mut self, why: String) {
        self.judge.find("script_file", self.judge.span.clone(), &why);
        self.judge.code(why);
    }

    fn look(&self, name: &str) -> Option<Kind> {
        let is = |known: &str| match known.strip_suffix('*') {
            // What is put in becomes a line of settings.
            Some(start) => name
                .strip_prefix(start)
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:,=%+".contains(c))),
            None => known == name,
        };
        self.lang.opts.iter().find(|(_, names)| names.split_whitespace().any(is)).map(|(kind, _)| *kind)
    }

    /// `php -d NAME=VALUE`, as one word with the option.
    fn setting(&mut self, value: &'a Arg) -> Next {
        let attached = value.exact().map(|value| format!("-d{value}"));
        match attached.and_then(|text| self.look(&text)) {
            Some(Flag) => Next::Go,
            _ => {
                self.judge.opaque("a setting of PHP may name a program or a file that is loaded");
                Next::Done
            }
        }
    }

    fn option(&mut self, arg: &'a Arg, text: &str) -> Next {
        if text == "-d"
            && self.lang.names.starts_with("php")
            && let Some(value) = self.take()
        {
            return self.setting(value);
        }
        if let Some(kind) = self.look(text) {
            return self.act(kind, arg, text, None);
        }
        if let Some((name, value)) = text.split_once('=') {
            match self.look(name) {
                Some(kind @ (Value | Read | Path | Code | Load | Script | Module)) => {
                    return self.act(kind, arg, name, Some(arg.with(value)));
                }
                Some(kind @ (Task | Check)) => return self.act(kind, arg, name, None),
                _ => {}
            }
        }
        if !text.starts_with("--") {
            // Letters behind one dash: flags, then at most one that takes the rest or the next word.
            for (at, letter) in text.char_indices().skip(1) {
                let end = at + letter.len_utf8();
                let Some(kind) = self.look(&format!("-{letter}")) else { break };
                if kind == Info {
                    break;
                }
                let value = (end < text.len()).then(|| arg.with(&text[end..]));
                let takes = !matches!(kind, Flag | Check | Task);
                if let Next::Done = self.act(kind, arg, &format!("-{letter}"), value.clone().filter(|_| takes)) {
                    return Next::Done;
                }
                if takes || value.is_none() {
                    return Next::Go;
                }
            }
        }
        let loads = ["-javaagent", "-agent", "-Djava.", "--patch-module", "-Xbootclasspath", "@", "-XX:OnError"];
        if self.task && !loads.iter().any(|start| text.starts_with(start)) {
            // Its other options change how the task runs; a place among them is looked at.
            effects::named(std::slice::from_ref(arg), self.judge);
            return Next::Go;
        }
        self.judge.opaque(format!("`{text}` is not an option of {} that the analysis knows", self.name));
        Next::Done
    }

    fn act(&mut self, kind: Kind, arg: &'a Arg, name: &str, value: Option<Arg>) -> Next {
        match kind {
            Flag => return Next::Go,
            Setting => return self.of_java(arg, name),
            Check => {
                self.checks = true;
                return Next::Go;
            }
            Task => {
                self.code(format!("`{} {name}` runs code of the workspace", self.name));
                self.task = true;
                return Next::Go;
            }
            // Told both, it may go on with its standard input.
            Info if self.rest.is_empty() && matches!(name, "-v" | "-V") && self.judge.stdin != Stdin::None => {
                self.inline("may run code from its standard input");
                return Next::Done;
            }
            Info if self.rest.is_empty() => return Next::Done,
            Info => {
                self.judge.opaque(format!("something stands behind `{name}`"));
                return Next::Done;
            }
            Code => {
                self.inline(&format!("runs the code behind `{name}`"));
                return Next::Done;
            }
            _ => {}
        }
        let Some(value) = value.or_else(|| self.take().cloned()) else {
            self.judge.opaque(format!("`{name}` needs a value"));
            return Next::Done;
        };
        if super::spec::may_be_more(&value) {
            self.judge.opaque(format!("the value of `{name}` may become several words"));
            return Next::Done;
        }
        match kind {
            Read => {
                self.judge.read_tree(&value);
                // Modules that are there come before those of the language, and settings name modules, too.
                self.judge.code(format!("`{name}` says what is loaded first"));
                Next::Go
            }
            // A category with a dot in it is taken from a module of that name.
            Value if name == "-W" && value.exact().is_none_or(|text| text.contains('.')) => {
                self.judge.opaque("`-W` of Python may load a module");
                Next::Go
            }
            Value if name == "-X" && !value.exact().is_some_and(only_tells) => {
                self.judge.opaque("`-X` of Python writes or loads something");
                Next::Go
            }
            Path => {
                self.code(format!("`{} {name}` runs code of the workspace", self.name));
                self.path(&value);
                self.task = true;
                Next::Go
            }
            Load => {
                match value.exact() {
                    Some(address) if address.starts_with("data:") || address.contains("://") => {
                        self.inline("loads the code behind an address");
                    }
                    Some(name) if name.contains('/') => program_file(&value, "the module", self.judge),
                    Some(name) => self.judge.code(format!("loads the module `{name}`")),
                    None => self.judge.opaque("a module is not known"),
                }
                Next::Go
            }
            Script => {
                self.judge.find("script_file", arg.span.clone(), format!("{} runs a file", self.name));
                program_file(&value, "the script", self.judge);
                Next::Done
            }
            Module => {
                self.module(&value);
                Next::Done
            }
            _ => Next::Go,
        }
    }

    /// `-DNAME=VALUE` is a setting of the program, unless the name is one of the machine's own; `-Xlog:WHAT:PLACE` writes to a
    /// place.
    fn of_java(&mut self, arg: &Arg, text: &str) -> Next {
        const OWN: [&str; 10] =
            ["java.", "javax.", "jdk.", "sun.", "com.sun.", "jdwp", "http.", "https.", "ftp.", "socks"];
        if let Some(logged) = text.strip_prefix("-Xlog") {
            match logged.split(':').nth(2) {
                None | Some("" | "stdout" | "stderr") => {}
                Some(place) => self.judge.write(&arg.with(place.strip_prefix("file=").unwrap_or(place))),
            }
            return Next::Go;
        }
        if OWN.iter().any(|own| text[2..].starts_with(own)) {
            self.judge.opaque(format!("`{text}` may say what java loads"));
            return Next::Done;
        }
        effects::named(std::slice::from_ref(arg), self.judge);
        places::addresses(std::slice::from_ref(arg), true, self.judge);
        Next::Go
    }

    fn module(&mut self, module: &Arg) {
        let Some(name) = module.exact() else { return self.judge.opaque("the module is not known") };
        // `coverage.__main__` and `pytest` alike; anything else below a package is not known.
        if glances::module(name, self.rest, self.judge) {
            return;
        }
        // Of the library; each prints its help and ends.
        const HELPS: &str = "venv zipfile tarfile ast tokenize timeit cProfile profile trace compileall py_compile calendar \
            http.server unittest json.tool ensurepip sysconfig";
        if HELPS.split_whitespace().any(|known| known == name)
            && matches!(self.rest, [asked] if matches!(asked.exact(), Some("--help" | "-h")))
        {
            return shadowed::check(name, self.judge);
        }
        let row = MODULES.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
        if let Some((Does::Json | Does::Program, _)) = row {
            shadowed::check(name, self.judge);
        }
        match row.map(|(does, _)| *does) {
            // The standard library and what was installed beside it reach the network, and a package of the
            // workspace is its code; which of them a name means cannot be seen from here.
            None if name == "pre_commit" => self.program("pre-commit", module),
            None if is_own_module(name) => self.own_module(name),
            None => self.judge.opaque(format!("`{name}` is not a module the analysis knows")),
            Some(Does::Code) => self.own_module(name),
            Some(Does::Json) => self.json(),
            Some(Does::Venv) => {
                self.code(format!("runs the module `{name}`"));
                for place in self.rest {
                    if !may_be_option(place) {
                        self.judge.write_tree(place);
                    }
                }
            }
            Some(Does::Program) => self.program(name, module),
            Some(Does::Serves) => self.judge.opaque("it serves the files here to whoever reaches it"),
        }
    }

    /// The words behind the module are those of a program that has a table row.
    fn program(&mut self, name: &str, module: &Arg) {
        let mut argv = vec![module.with(name)];
        argv.extend_from_slice(self.rest);
        self.judge.command(&argv);
    }

    /// Code of the workspace or of its environment. What its words name is looked at, and a module that it runs.
    fn own_module(&mut self, name: &str) {
        self.code(format!("runs the module `{name}`"));
        effects::named(self.rest, self.judge);
        places::outputs(self.rest, self.judge);
        // The same tool under its own name has a row that says more.
        if TOOLS.split(' ').any(|tool| tool == name) {
            let mut argv = vec![Arg { word: Word::Exact(name.to_owned()), span: self.judge.span.clone() }];
            argv.extend_from_slice(self.rest);
            self.judge.command(&argv);
        }
        match name {
            "zipfile" | "tarfile" => self.unpacks(),
            "cProfile" | "profile" | "trace" | "coverage" => self.inner_module(),
            "sphinx" if goals::checks_links(self.rest) => self.judge.net(None),
            _ => {}
        }
    }

    /// `-e ARCHIVE DIRECTORY`: the last word is written below, and so is what `-c` names first.
    fn unpacks(&mut self) {
        let words: Vec<&Arg> = self.rest.iter().filter(|word| !may_be_option(word)).collect();
        match self.rest.first().and_then(Arg::exact) {
            Some("-e" | "--extract") => {
                if let [_, .., into] = words.as_slice() {
                    self.judge.write_tree(into);
                    places::takes_along(into, self.judge);
                }
            }
            Some("-c" | "--create") => words.first().into_iter().for_each(|archive| self.judge.write(archive)),
            _ => {}
        }
    }

    /// Every place of the list is one that code comes from: outside of the workspace it is nobody's to run.
    fn path(&mut self, list: &Arg) {
        let Some(text) = list.exact() else { return self.judge.opaque("a place of code is not known") };
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let place = self.judge.resolve(part.trim_end_matches('*'));
            self.judge.read_tree(&list.with(part.trim_end_matches('*')));
            if !self.judge.site.is_ours(&place) && !place.starts_with("/usr") {
                self.judge.opaque(format!("runs code from `{part}`"));
            }
        }
    }

    /// A profiler or a tracer that runs another module: `-m NAME`.
    fn inner_module(&mut self) {
        let marks = |word: &Arg| matches!(word.exact(), Some("-m" | "--module"));
        let Some(at) = self.rest.iter().position(marks) else { return };
        let (before, behind) = self.rest.split_at(at);
        // `coverage report -m` shows what is missing.
        let shows = before.iter().any(|word| matches!(word.exact(), Some("report" | "html" | "annotate")));
        let Some(inner) = behind.get(1).filter(|_| !shows) else { return };
        self.rest = behind.get(2..).unwrap_or_default();
        self.module(inner);
    }

    fn json(&mut self) {
        let mut files = Vec::new();
        while let Some(arg) = self.take() {
            match arg.exact() {
                Some("--sort-keys" | "--no-ensure-ascii" | "--json-lines" | "--tab" | "--no-indent" | "--compact") => {}
                Some("-h" | "--help") => return,
                Some("--indent") => {
                    if self.take().and_then(Arg::exact).is_none() {
                        return self.judge.opaque("`--indent` needs a number");
                    }
                }
                Some("-") => files.push(arg),
                Some(text) if text.starts_with("--indent=") => {}
                _ if may_be_option(arg) || super::spec::may_be_more(arg) => {
                    return self.judge.opaque("a word may become an option or a file to write");
                }
                _ => files.push(arg),
            }
        }
        for (at, file) in files.into_iter().enumerate() {
            match (at, file.exact()) {
                (0, Some("-")) => {}
                (0, _) => self.judge.read(file),
                // As an output `-` is a file of that name.
                _ => self.judge.write(file),
            }
        }
    }
}

#[cfg(test)]
mod tests;
