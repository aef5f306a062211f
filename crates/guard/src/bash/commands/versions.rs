//! Programs of which only the version and the help are known: whatever else they are asked is opaque.
//!
//! Every name here stops at these words; a program that runs or starts something first is not here.

use super::super::judge::{Arg, Judge, Word};
use super::effects::secrets;
use super::goals;
use super::spec::{self, Operands, PLAIN, Parsed, Spec, Style};

/// The table. `--version` and `--help` alone are harmless for every row of every table.
pub(super) const SPECS: &[Spec] = &[
    row(
        "clippy-driver lldb fzf vim vi view vimdiff nvim emacs nano helix hx micro \
         mono virtualenv redis-server redis-benchmark mongod mongos postgres pg_ctl initdb mysqld \
         mariadbd wasmtime wasmer distcc mold lld k9s \
         stern dvc mlflow jupyter-lab jupyter-notebook ipython streamlit \
         airflow hadoop ollama llama-cli graphviz gnuplot octave maxima gimp \
         blender libreoffice soffice chromium google-chrome firefox chromedriver geckodriver lighthouse \
         caddy traefik haproxy envoy memcached systemd udevadm qemu-system-x86_64 cargo-binstall \
         flamegraph samply heaptrack bpftrace starship zoxide atuin lazygit tig gitui mcfly \
         navi tldr otool coursier cs amm jpackage jmap jstack ghcup v \
         gnat yosys ghdl z3 swipl raku \
         tcc pcc icc icx fasm earthly dagger gitlab-runner lima nerdfetch",
        nothing,
    ),
    row("pkg-config pkgconf", pkg_config),
    row("nginx apache2 httpd apachectl ffplay identify", alone),
    row("ocaml ocamlc ocamlopt direnv", alone),
    row("guix borg", nothing),
    row(
        "gs code code-insiders cursor semgrep recode swagger-cli nu esptool esptool.py pipdeptree checkov tfsec \
         terrascan kubeval kubeconform kube-linter polaris kubent dotenv-linter gitleaks \
         trufflehog detect-secrets pip-audit safety cyclonedx-py oxipng zopfli lrzip plzip create-react-app degit \
         pa11y axe artillery autocannon newman steampipe infisical doppler chamber \
         mailpit minio gitea forgejo drone buildkite-agent gum vhs rsnapshot unison syncthing",
        nothing,
    ),
];

/// Words behind a program of another table with which it says its version and ends.
const VERSIONS: &[(&str, &str)] = &[
    ("tmux", "-V"),
    ("nasm", "-v"),
    ("iverilog", "-V"),
    ("yosys", "-V"),
    ("plantuml", "-version"),
    ("minikube", "version"),
    ("kind", "version"),
    ("k3d", "version"),
    ("vault", "version"),
    ("rclone", "version"),
    ("restic", "version"),
    ("delve", "version"),
    ("strace", "-V"),
    ("ltrace", "-V"),
    ("gs", "-v"),
    ("code", "-v"),
    ("conftest", "--version"),
    ("opa", "version"),
    ("gitleaks", "version"),
    ("kubeconform", "-v"),
    ("xcode-select", "-p"),
    ("npx", "-v"),
    ("npx", "-h"),
];

/// Whether `argv` is one of [`VERSIONS`], and nothing else.
pub(super) fn asks(name: &str, argv: &[Arg]) -> bool {
    let [_, word] = argv else { return false };
    VERSIONS.iter().any(|(program, asked)| *program == name && word.exact() == Some(asked))
}

/// A program that obeys files of the project before it answers: it says its version, or what it looks up, only after it
/// has run, loaded or asked what they name or hold.
struct Obeys {
    names: &'static str,
    asked: Asked,
    files: &'static [&'static str],
    /// A text that has to stand in one of the files, if any.
    text: &'static str,
}

/// What a program is asked for when it obeys.
enum Asked {
    Anything,
    /// One of these subcommands.
    These(&'static str),
    /// A subcommand that is none of these. Before it stand options, of which the last take a value.
    Others(&'static str, &'static str),
}

const fn obeying(names: &'static str, files: &'static [&'static str], text: &'static str) -> Obeys {
    Obeys { names, asked: Asked::Anything, files, text }
}

/// Where the packages of a project for node are installed: a program of that name among them is run instead.
const INSTALLED: &[&str] = &["node_modules", ".pnp.cjs", ".pnp.js"];

/// A wrapper that is run in the program's place, options of the machine that runs it, a tool chain or a version that is
/// fetched or taken from the project, its interpreter, plugins and tests that are loaded first.
const OBEYS: &[Obeys] = &[
    obeying(
        "cargo rustc rustdoc rustfmt rustup rust-analyzer clippy-driver cargo-clippy cargo-fmt cargo-miri cross",
        &["rust-toolchain", "rust-toolchain.toml"],
        "path",
    ),
    // In the place of any of these may stand a script of a manager of versions, which starts the program of the directory that
    // is named there.
    obeying(MANAGED, &[".tool-versions"], "path:"),
    obeying("python python3 pip pip3", &[".python-version"], ".."),
    obeying("ruby gem bundle irb rake", &[".ruby-version"], ".."),
    obeying("node npm npx", &[".node-version"], ".."),
    obeying("bazel bazelisk", &["tools/bazel", ".bazeliskrc", ".bazelversion"], ""),
    obeying("mvn mvnd", &[".mvn"], ""),
    // Its version is one that it asks the build for.
    obeying("sbt", &[".sbtopts", ".jvmopts", "build.sbt", "project"], ""),
    obeying("mill", &[".mill-version", ".mill-jvm-opts", ".config/mill-version", ".config/mill-jvm-opts"], ""),
    obeying("bundle bundler", &[".bundle"], ""),
    obeying("dotnet", &["global.json"], "paths"),
    obeying("npm", &[".npmrc"], "onload-script"),
    obeying("pnpm", &["package.json"], "packageManager"),
    obeying("pnpm", &[".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js"], ""),
    obeying("pnpm", &[".npmrc", "pnpm-workspace.yaml"], "pnpmfile"),
    obeying("pnpm", &["pnpm-workspace.yaml"], "configDependencies"),
    obeying("yarn", &[".yarnrc.yml", ".yarnrc", ".yarn", ".pnp.cjs"], ""),
    obeying("yarn", &["package.json"], "packageManager"),
    obeying("composer", &["composer.json"], ""),
    obeying("poetry", &[".poetry"], ""),
    Obeys { asked: Asked::These("env"), ..obeying("poetry", &[".venv"], "") },
    Obeys { asked: Asked::These("tree"), ..obeying("uv", &[".venv", ".python-version", ".python-versions"], "") },
    obeying("pdm", &[".pdm-plugins"], ""),
    obeying("tox", &["toxfile.py"], ""),
    obeying("flake8", &[".flake8", "setup.cfg", "tox.ini"], "local-plugins"),
    obeying("pytest py.test", &["conftest.py", "tests/conftest.py", "test/conftest.py", "testing/conftest.py"], ""),
    obeying("pytest py.test", PYTEST, "testpaths"),
    obeying("pytest py.test", PYTEST, "addopts"),
    obeying("pylint", PYLINT, "init-hook"),
    obeying("pylint", PYLINT, "load-plugins"),
    obeying(
        "jest webpack lerna nx turbo karma ava xo eslint_d storybook grunt gulp ionic quasar gatsby stryker",
        INSTALLED,
        "",
    ),
    // Beside its own packages, where the project is no project for node.
    obeying("nx", &[".nx"], ""),
    obeying("prisma", PRISMA, ""),
    // Of what it does not bring itself an alias may stand for anything.
    Obeys {
        asked: Asked::Others(OF_CARGO, CARGO_VALUED),
        ..obeying("cargo", &[".cargo/config.toml", ".cargo/config"], "alias")
    },
    Obeys {
        asked: Asked::Others(OF_CARGO, CARGO_VALUED),
        ..obeying("cargo", &[".cargo/config.toml", ".cargo/config"], "include")
    },
    obeying("busted", &[".busted"], ""),
    obeying("rush", &["rush.json"], ""),
    obeying("tflint", &[".tflint.hcl", ".tflint.d"], ""),
    // It says which program draws the cow, which is asked for its list of cows.
    obeying("ansible", &["ansible.cfg"], ""),
    obeying("standardrb", &[".standard.yml", ".standard.yaml"], ""),
    obeying("conan", &[".conanrc"], ""),
    obeying("pants", &["pants.toml"], ""),
    obeying("buck", &[".buckconfig", ".buckjavaargs", ".buckversion"], ""),
    // Options that write: `-I`, `-f`.
    obeying("mlr", &[".mlrc"], ""),
    obeying("ctags exuberant-ctags universal-ctags", &[".ctags.d", ".ctags", "ctags.d"], ""),
    obeying("lean lake", &["lean-toolchain", "leanpkg.toml"], ""),
];

/// Subcommands that every cargo of some years brings itself, and lets no alias take the place of: not their one-letter names,
/// and not what is a program of its own.
const OF_CARGO: &str = "add bench build check clean doc fetch fix generate-lockfile help init install locate-project login \
    logout metadata new owner package pkgid publish read-manifest remove run rustc rustdoc search test tree uninstall update \
    vendor verify-project version yank";

/// Options before cargo's subcommands that take a value.
const CARGO_VALUED: &str = "--color --config --explain -Z -C";

/// Programs that are often managed so.
const MANAGED: &str = "node npm npx pnpm yarn corepack deno bun tsc python python3 pip pip3 poetry pipenv uv ruby gem bundle irb \
    rake erl elixir mix java javac jar javap kotlin kotlinc scala sbt mvn gradle groovy go gofmt rustc cargo rustup php composer perl lua \
    luac luarocks julia R Rscript dart flutter swift zig nim crystal ghc cabal stack ocaml opam clojure clj sbcl racket \
    terraform tofu terragrunt packer kubectl helm kustomize helmfile protoc buf cmake ninja make bazel just task jq yq rg fd bat fzf \
    delta eza shellcheck shfmt hadolint tokei dotnet ctags hugo golangci-lint";

/// Where options of pytest stand.
const PYTEST: &[&str] = &["pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini"];

/// Where options of pylint stand.
const PYLINT: &[&str] =
    &["pylintrc", ".pylintrc", "pylintrc.toml", ".pylintrc.toml", "pyproject.toml", "setup.cfg", "tox.ini"];

/// A program with the settings of prisma, which is loaded whatever is asked.
const PRISMA: &[&str] = &[
    "prisma.config.ts",
    "prisma.config.mts",
    "prisma.config.cts",
    "prisma.config.js",
    "prisma.config.mjs",
    "prisma.config.cjs",
    ".config/prisma.ts",
    ".config/prisma.mts",
    ".config/prisma.js",
    ".config/prisma.mjs",
];

/// Says so where a file of the project decides what runs, even if the version is all that is asked for.
pub(super) fn obeys(known: &str, argv: &[Arg], judge: &mut Judge<'_>) {
    let Some(host) = judge.site.repositories.clone() else { return };
    let asked = |row: &Obeys| match row.asked {
        Asked::Anything => true,
        Asked::These(subs) => argv.iter().filter_map(Arg::exact).any(|word| spec::lists(subs, word)),
        Asked::Others(subs, valued) => {
            let behind = argv.get(1..).unwrap_or_default();
            goals::plain(behind, valued).next().is_some_and(|sub| !spec::lists(subs, sub))
        }
    };
    let rows: Vec<&Obeys> = OBEYS.iter().filter(|row| spec::lists(row.names, known) && asked(row)).collect();
    if rows.is_empty() {
        return;
    }
    let Some(named) = directories(known, argv) else {
        return judge.code(format!("`{known}` may obey a file of a directory that is not known"));
    };
    let mut places: Vec<_> = named.iter().map(|name| judge.resolve(name)).collect();
    places.push(judge.site.cwd.clone());
    if rows.iter().any(|row| places.iter().any(|place| host.has_file(place, row.files, row.text))) {
        judge.code(format!("`{known}` obeys a file of the project before it answers"));
    }
}

/// Options with which a program stands in another directory.
const STANDS: &[(&str, &str)] = &[
    ("pnpm", "-C --dir"),
    ("npm", "-C --prefix"),
    ("yarn", "--cwd"),
    ("uv", "--directory --project"),
    ("poetry", "-C --directory -P --project"),
    ("pdm", "-p --project"),
    ("cargo", "-C"),
];

/// The directories that these options name; none if one is not known.
fn directories<'a>(known: &str, argv: &'a [Arg]) -> Option<Vec<&'a str>> {
    let options = STANDS.iter().find(|(program, _)| *program == known).map_or("", |(_, options)| *options);
    if options.is_empty() {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let text = match &word.word {
            Word::Exact(text) => text.as_str(),
            // One that cannot be such an option, however it ends.
            Word::Glob { prefix, .. } if !prefix.is_empty() && !prefix.starts_with('-') => continue,
            _ => return None,
        };
        if spec::lists(options, text) {
            found.extend(words.next().map(Arg::exact)?);
            continue;
        }
        let behind = options.split(' ').filter_map(|option| Some((option, text.strip_prefix(option)?)));
        found.extend(behind.filter_map(|(option, value)| match value.strip_prefix('=') {
            Some(value) => Some(value),
            None => (!option.starts_with("--")).then_some(value),
        }));
    }
    Some(found)
}

/// A program whose words its function reads.
const fn row(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// Nothing else is known of it.
fn nothing(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.opaque(format!("what `{}` does cannot be said", name(parsed)));
    secrets(&parsed.operands, judge);
}

/// Words that only show the version, when they stand alone.
fn alone(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = match name(parsed) {
        "nginx" => "-v -V -h",
        "apache2" | "httpd" | "apachectl" => "-v -V",
        "ffmpeg" | "ffprobe" | "ffplay" => "-version -codecs -formats -encoders",
        "convert" | "identify" | "magick" | "mogrify" => "-version",
        "dot" | "neato" => "-V",
        "ocaml" | "ocamlc" | "ocamlopt" => "-version -vnum",
        "dlv" | "direnv" => "version",
        _ => "",
    };
    let listed = |word: &str| words.split(' ').any(|known| known == word);
    match parsed.operands.as_slice() {
        [word] if word.exact().is_some_and(listed) => {}
        _ => nothing(parsed, judge),
    }
}

fn name(parsed: &Parsed) -> &str {
    parsed.path.first().map_or("", String::as_str)
}

/// Looks packages up in the system's folders. `--define-variable` and the like only change what is printed.
fn pkg_config(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SHOWS: &str = "--modversion --libs --cflags --exists --list-all --list-package-names --libs-only-l --libs-only-L \
                         --libs-only-other --cflags-only-I --cflags-only-other --print-errors --short-errors \
                         --silence-errors --static --print-variables --print-provides --print-requires --variable";
    let fine = |arg: &Arg| {
        arg.exact().is_some_and(|text| {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            !text.starts_with('-') && !text.contains('/') || SHOWS.split(' ').any(|known| known == name)
        })
    };
    if !parsed.operands.iter().all(fine) {
        nothing(parsed, judge);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use crate::ExecKind;
    use crate::bash::{Site, analyse};
    use crate::repository::{Repositories, Repository};

    /// A workspace with one file in it.
    #[derive(Debug)]
    struct Holds(&'static str);

    impl Repositories for Holds {
        fn at(&self, _: &Path) -> Arc<Repository> {
            Arc::default()
        }

        fn has_file(&self, dir: &Path, names: &[&str], _: &str) -> bool {
            let (sub, name) = self.0.strip_prefix("sub/").map_or(("/w/repo", self.0), |name| ("/w/repo/sub", name));
            dir == Path::new(sub) && names.contains(&name)
        }
    }

    #[test]
    fn a_version_behind_a_file_of_the_project_is_its_code() {
        let kind = |text: &str, holds: &'static str| {
            let site = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
            analyse(text, &Site { repositories: Some(Arc::new(Holds(holds))), ..site }).kind
        };
        for (text, file) in [
            ("bazel --version", "tools/bazel"),
            ("bazelisk --version", ".bazelversion"),
            ("mvn -v", ".mvn"),
            ("mvn --version", ".mvn"),
            ("sbt --version", ".jvmopts"),
            ("sbt --version", "build.sbt"),
            ("sbt --version", "project"),
            ("busted --version", ".busted"),
            ("cargo-clippy --version", "rust-toolchain.toml"),
            ("cargo-fmt --version", "rust-toolchain"),
            ("cross --version", "rust-toolchain.toml"),
            ("node --version", ".tool-versions"),
            ("node --check a.js", ".tool-versions"),
            ("python3 -V", ".tool-versions"),
            ("pip list", ".tool-versions"),
            ("npm ls", ".tool-versions"),
            ("go list ./...", ".tool-versions"),
            ("terraform fmt -check", ".tool-versions"),
            ("jq . a.json", ".tool-versions"),
            ("python3 -V", ".python-version"),
            ("pip list", ".python-version"),
            ("ruby --version", ".ruby-version"),
            ("gem list", ".ruby-version"),
            ("node -v", ".node-version"),
            ("bundle --version", ".bundle"),
            ("cargo --version", "rust-toolchain.toml"),
            ("rustc -vV", "rust-toolchain"),
            ("cargo metadata --no-deps", "rust-toolchain"),
            ("pnpm -v", "package.json"),
            ("poetry --version", ".poetry"),
            ("pytest --version", "conftest.py"),
            ("flake8 --version", "setup.cfg"),
            ("pytest --version", "testing/conftest.py"),
            ("pytest --version", "pyproject.toml"),
            ("pnpm ls", ".pnpmfile.cjs"),
            ("pnpm why react", ".pnpmfile.cjs"),
            ("pnpm licenses list", ".pnpmfile.cjs"),
            ("pnpm ls --depth 0", "pnpm-workspace.yaml"),
            ("pnpm list", ".npmrc"),
            ("npm ls", ".npmrc"),
            ("uv tree --frozen", ".venv"),
            ("uv tree --frozen --depth 1", ".python-version"),
            ("poetry env info", ".venv"),
            ("poetry env info --path", ".venv"),
            ("poetry env list", ".venv"),
            ("turbo --version", "node_modules"),
            ("gulp -v", "node_modules"),
            ("cargo nextest --help", ".cargo/config.toml"),
            ("cargo b --version", ".cargo/config.toml"),
            ("cargo t --help", ".cargo/config"),
            ("cargo geiger --version", ".cargo/config.toml"),
            ("cargo hakari --help", ".cargo/config.toml"),
            ("cargo fmt --version", ".cargo/config.toml"),
            ("karma --version", "node_modules"),
            ("xo --version", "node_modules"),
            ("jest --version", ".pnp.cjs"),
            ("rush --version", "rush.json"),
            ("tflint --version", ".tflint.hcl"),
            ("ansible --version", "ansible.cfg"),
            ("standardrb --version", ".standard.yml"),
            ("conan --version", ".conanrc"),
            ("pants --version", "pants.toml"),
            ("buck --version", ".buckconfig"),
            ("lean --version", "lean-toolchain"),
            ("lake --version", "lean-toolchain"),
            ("mlr --icsv --ojson cat a.csv", ".mlrc"),
            ("ctags -x a.c", ".ctags.d"),
            ("universal-ctags -f - a.c", ".ctags"),
            ("pylint --version", "pylintrc"),
            ("pylint --version", "pyproject.toml"),
            ("mill --version", ".config/mill-version"),
            ("nx --version", ".nx"),
            ("ionic --version", "node_modules"),
            ("gatsby --help", "node_modules"),
            ("prisma --version", "prisma.config.ts"),
            ("yarn --version", ".yarnrc.yml"),
            ("yarn -v", ".yarnrc"),
            ("yarn --version", "package.json"),
            ("composer --version", "composer.json"),
            ("pnpm -C sub ls", "sub/.pnpmfile.cjs"),
            ("pnpm --dir sub ls", "sub/.pnpmfile.cjs"),
            ("pnpm --dir=sub why x", "sub/.pnpmfile.cjs"),
            ("npm --prefix sub ls", "sub/.npmrc"),
            ("pnpm -Csub ls", "sub/.pnpmfile.cjs"),
        ] {
            assert_eq!(kind(text, file), ExecKind::WritesInside, "{text}");
            assert_eq!(kind(text, "README.md"), ExecKind::ReadOnly, "{text}");
        }
        for (text, file) in [
            ("cargo --version", ".mvn"),
            ("cargo build --help", ".cargo/config.toml"),
            ("cargo --version", ".cargo/config.toml"),
            ("cargo metadata --no-deps --features serde", ".cargo/config.toml"),
            ("cargo --color never metadata --no-deps", ".cargo/config.toml"),
            ("uv --version", ".venv"),
            ("uv python list", ".venv"),
            ("poetry --version", ".venv"),
            ("npm --version", ".pnpmfile.cjs"),
            ("eslint --version", "node_modules"),
        ] {
            assert_eq!(kind(text, file), ExecKind::ReadOnly, "{text}");
        }
    }

    /// A workspace with one file that says one thing.
    #[derive(Debug)]
    struct Says(&'static str, &'static str);

    impl Repositories for Says {
        fn at(&self, _: &Path) -> Arc<Repository> {
            Arc::default()
        }

        fn has_file(&self, _: &Path, names: &[&str], text: &str) -> bool {
            names.contains(&self.0) && text == self.1
        }
    }

    #[test]
    fn what_a_file_says_decides() {
        let kind = |text: &str, file, says| {
            let site = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
            analyse(text, &Site { repositories: Some(Arc::new(Says(file, says))), ..site }).kind
        };
        for (text, file, says) in [
            ("cargo b --version", ".cargo/config.toml", "alias"),
            ("cargo b --version", ".cargo/config.toml", "include"),
            ("cargo t --help", ".cargo/config", "include"),
            ("cargo nextest --help", ".cargo/config.toml", "include"),
            ("node -v", ".tool-versions", "path:"),
            ("python3 -V", ".python-version", ".."),
            ("rustc -V", "rust-toolchain.toml", "path"),
        ] {
            assert_eq!(kind(text, file, says), ExecKind::WritesInside, "{text}");
        }
        for (text, file, says) in [
            ("cargo build --help", ".cargo/config.toml", "include"),
            ("cargo b --version", ".cargo/config.toml", "build"),
            ("node -v", ".tool-versions", "20"),
            ("cat a", ".tool-versions", "path:"),
            ("rustc -V", "rust-toolchain.toml", "channel"),
        ] {
            assert_eq!(kind(text, file, says), ExecKind::ReadOnly, "{text}");
        }
    }
}
