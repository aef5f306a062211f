//! Package managers of systems and languages: what is installed is public, installing it is not ours to do.

use super::super::judge::{Arg, Judge, Shell};
use super::effects::{Opts, asks, looks, prints, reaches, runs, with};
use super::runners::raw;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};
use super::{offline, uv};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    with("pip pip3", PIP_OPTS, PIP),
    with("uv", UV_OPTS, UV),
    with("conda mamba micromamba", &[(Does::Info, "V version")], CONDA),
    with("gem", &[(Does::Info, "v version h help")], GEM),
    with("apt apt-get aptitude", &[(Does::Flag, "q qq y"), (Does::Info, "v version")], APT),
    with(
        "apt-cache",
        &[
            (Does::Flag, "q n names-only i important no-pre-depends"),
            (
                Does::Info,
                "v \
        version",
            ),
        ],
        APT_CACHE,
    ),
    with(
        "apt-mark",
        &[],
        &[
            prints("showauto showmanual showhold showinstall", &[]),
            installs(
                "auto manual hold \
        unhold minimize-manual",
            ),
        ],
    ),
    Spec { names: "dpkg", opts: DPKG, operands: Operands::Words, check: Some(dpkg), ..PLAIN },
    prints("dpkg-query", DPKG_QUERY),
    prints("dpkg-architecture", &[(Does::Flag, "l"), (Does::Value, "q a t A T")]),
    Spec { names: "rpm", opts: RPM, operands: Operands::Words, check: Some(rpm), ..PLAIN },
    with("dnf yum dnf5 microdnf", &[(Does::Flag, "q quiet C cacheonly y assumeyes"), (Does::Info, "version")], DNF),
    Spec { names: "pacman", opts: PACMAN, operands: Operands::Words, check: Some(pacman), ..PLAIN },
    with("apk", &[(Does::Info, "V version"), (Does::Flag, "q quiet")], APK),
    with("brew", &[(Does::Info, "v version prefix cellar cache repository")], BREW),
    with("snap flatpak", &[(Does::Info, "version")], SNAP),
    installs("nix-env nix-store nix-build nix-channel nix-collect-garbage"),
    Spec { check: Some(shell_of), ..installs("nix-shell") },
    installs(
        "zypper emerge xbps-install xbps-remove opkg port eopkg swupd yay paru dpkg-reconfigure \
        add-apt-repository apt-key apt-file \
        update-alternatives alternatives choco scoop winget nala tasksel dselect gdebi alien",
    ),
    reaches(
        "twine flit luarocks cpan cpanm cabal-install pear pecl go-install krew conan vcpkg hex cocoapods pod \
        carthage spm",
    ),
    with(
        "ghc-pkg",
        &[(Does::Flag, "global user simple-output names-only v"), (Does::Info, "V version")],
        &[prints(
            "list latest describe field dump check find-module",
            &[(Does::Flag, "simple-output names-only global user")],
        )],
    ),
    asks("sdk rvm tfenv corepack n"),
];

/// Changes the machine, with what it fetches.
const fn installs(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(install), ..PLAIN }
}

fn install(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.system(format!("`{}` changes what is installed", parsed.path.join(" ")));
    judge.net(None);
}

/// A shell with packages that are fetched or built first; `--run` and `--command` give it a text.
fn shell_of(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.opaque("`nix-shell` builds an environment and runs a shell in it");
    judge.net(None);
    let texts = parsed.operands.windows(2).filter(|pair| matches!(pair[0].exact(), Some("--run" | "--command")));
    for text in texts.filter_map(|pair| pair.get(1)) {
        if let Some(script) = text.exact() {
            judge.script(Shell::Bash, script, &[], text.span.clone());
        }
    }
}

const PIP_OPTS: Opts = &[
    (Does::Info, "V version h help"),
    (Does::Flag, "q quiet v verbose disable-pip-version-check no-color isolated no-input no-cache-dir"),
    (Does::Value, "retries timeout"),
];

const PIP_LOOK: Opts = &[
    (
        Does::Flag,
        "l local user e editable not-required exclude-editable include-editable pre v verbose q quiet f \
        files all \
        disable-pip-version-check no-color isolated",
    ),
    (Does::Value, "format exclude"),
    (Does::ReadTree, "path"),
    (Does::NetFlag, "o outdated u uptodate"),
];

const PIP: &[Spec] = &[
    looks("list show check inspect", PIP_LOOK),
    looks(
        "freeze",
        &[
            (Does::Flag, "l local user all exclude-editable"),
            (Does::Value, "exclude"),
            (
                Does::Read,
                "r \
        requirement",
            ),
            (Does::ReadTree, "path"),
        ],
    ),
    prints("help debug", &[(Does::Flag, "v verbose")]),
    with("cache", &[], &[prints("dir info list", &[(Does::Value, "format")]), asks("remove purge")]),
    with("config", &[], &[prints("list get debug", &[(Does::Flag, "user global site")]), asks("set unset edit")]),
    prints("hash", &[(Does::Value, "a algorithm")]).reading(),
    raw("install", offline::installs_for_python),
    reaches("uninstall download wheel index search lock"),
];

impl Spec {
    /// The row with operands that are read.
    const fn reading(self) -> Spec {
        Spec { operands: Operands::Read, ..self }
    }
}

const UV_OPTS: Opts = &[
    (Does::Info, "V version h help"),
    (Does::Flag, "q quiet v verbose offline no-cache n no-progress"),
    (Does::Value, "color"),
];

const UV: &[Spec] = &[
    // Asks the Python of the project's environment, and that is a program of the project.
    with(
        "pip",
        &[],
        &[
            Spec {
                check: Some(|_, judge| {
                    judge.read_cwd();
                    judge.code("runs the Python that the project brings");
                }),
                ..looks("list show freeze check tree", PIP_LOOK)
            },
            raw("install", offline::uv),
            reaches("uninstall sync compile"),
        ],
    ),
    // Without `--frozen` it brings the lock file up to date.
    Spec {
        check: Some(|parsed, judge| match parsed.has("frozen") {
            true => judge.read_cwd(),
            false => {
                judge.write_cwd();
                judge.code("brings the lock file up to date");
            }
        }),
        ..looks(
            "tree",
            &[
                (
                    Does::Flag,
                    "frozen locked no-dedupe invert universal all-groups no-dev \
        offline",
                ),
                (Does::Value, "d depth package prune group"),
            ],
        )
    },
    // With a number it sets it, and brings the environment up to date.
    Spec {
        check: Some(|parsed, judge| match parsed.operands.is_empty() && !parsed.has("bump") {
            true => judge.read_cwd(),
            false => {
                judge.code("brings the environment of the project up to date");
                judge.write_cwd();
            }
        }),
        ..looks(
            "version",
            &[
                (Does::Flag, "short dry-run frozen locked no-sync active offline"),
                (Does::Value, "output-format bump package"),
            ],
        )
    },
    with(
        "python",
        &[],
        &[
            prints(
                "list dir",
                &[(
                    Does::Flag,
                    "only-installed all-versions \
        offline",
                )],
            ),
            super::effects::runs("find"),
            reaches("install uninstall pin upgrade"),
        ],
    ),
    with("cache", &[], &[prints("dir", &[]), asks("clean prune")]),
    with(
        "tool",
        &[],
        &[
            prints("list dir", &[(Does::Flag, "show-paths")]),
            reaches(
                "run install uninstall upgrade \
        update-shell",
            ),
        ],
    ),
    Spec { names: "run", style: Style::Raw, operands: Operands::Custom, check: Some(uv::runs), ..PLAIN },
    super::effects::runs("build format"),
    super::effects::edits("venv init"),
    raw("add remove sync", offline::uv),
    raw("lock export", uv::keeps),
    reaches("publish self auth"),
];

/// `conda run -n ENV COMMAND`: the command, with the programs of an environment in front.
fn conda_run(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut words = parsed.operands.as_slice();
    while let Some((word, rest)) = words.split_first() {
        let takes = match word.exact() {
            Some("-n" | "--name") => 1,
            Some("--no-capture-output" | "--live-stream" | "-v") => 0,
            Some(text) if text.starts_with("--name=") => 0,
            Some(text) if !text.starts_with('-') => break,
            _ => return judge.opaque("an option of the runner leads elsewhere"),
        };
        words = rest.get(takes..).unwrap_or_default();
    }
    if words.is_empty() {
        return judge.opaque("there is no command");
    }
    judge.code("runs in an environment of conda");
    judge.command(words);
}

const CONDA: &[Spec] = &[
    prints(
        "list",
        &[
            (
                Does::Flag,
                "json e export f full-name c canonical explicit md5 no-pip reverse \
        show-channel-urls",
            ),
            (Does::Value, "n name"),
            (Does::ReadTree, "p prefix"),
        ],
    ),
    prints("info", &[(Does::Flag, "e envs json all a s system base")]),
    with("env", &[], &[prints("list", &[(Does::Flag, "json")]), reaches("create remove update export config")]),
    with("config", &[], &[asks("_")]),
    reaches("install create update upgrade remove uninstall search clean init activate deactivate build"),
    raw("run", conda_run),
];

const GEM: &[Spec] = &[
    prints(
        "list",
        &[
            (
                Does::Flag,
                "l local i installed no-installed a all d details q quiet versions \
        no-versions",
            ),
            (Does::Value, "v version"),
            (Does::NetFlag, "r remote b both"),
        ],
    ),
    prints("environment env", &[]),
    prints("which contents dependency help", &[(Does::Flag, "a all l local"), (Does::Value, "v version")]),
    reaches(
        "install update uninstall push yank fetch search query outdated sources cleanup signin signout owner \
        info pristine specification unpack",
    ),
    // The description of the package is a program of the project.
    runs("build"),
];

const APT: &[Spec] = &[
    prints(
        "list",
        &[(
            Does::Flag,
            "installed upgradable upgradeable a all-versions v verbose manual-installed q \
        qq",
        )],
    ),
    prints("show", &[(Does::Flag, "a all-versions q")]),
    prints("search", &[(Does::Flag, "n names-only f full q")]),
    prints("policy depends rdepends showsrc help", &[(Does::Flag, "installed i important recurse")]),
    installs(
        "install remove purge update upgrade full-upgrade dist-upgrade autoremove autopurge clean autoclean \
        source build-dep download \
        changelog edit-sources reinstall satisfy markauto check indextargets",
    ),
];

const APT_CACHE: &[Spec] = &[prints(
    "show search policy depends rdepends showpkg pkgnames stats showsrc madison dump unmet",
    &[(
        Does::Flag,
        "installed i important recurse a all-versions n names-only f full q generate no-recommends \
        no-suggests",
    )],
)];

const DPKG: Opts = &[
    (
        Does::Flag,
        "l list L listfiles S search s status p print-avail get-selections print-architecture \
        print-foreign-architectures C audit \
        V verify c contents I info W show compare-versions no-pager",
    ),
    (Does::Info, "version help"),
    (Does::Value, "admindir-none"),
];

fn dpkg(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.opts.is_empty() {
        judge.opaque("`dpkg` needs to be told what to do");
    }
    if parsed.has("c contents I info") {
        parsed.operands.iter().for_each(|file| judge.read(file));
    }
}

const DPKG_QUERY: Opts = &[
    (Does::Flag, "l list L listfiles S search s status p print-avail W show c control-list no-pager"),
    (Does::Value, "f showformat"),
    (Does::Info, "version help"),
];

const RPM: Opts = &[
    (
        Does::Flag,
        "q query a all l list i info f file c configfiles d docfiles R requires provides V verify p \
        package s state scripts changelog \
        last whatprovides whatrequires conflicts obsoletes g group triggers qa v verbose nosignature K checksig",
    ),
    (Does::Value, "qf queryformat"),
    (Does::Info, "version showrc help"),
];

fn rpm(parsed: &Parsed, judge: &mut Judge<'_>) {
    // `-i` is "info" of a query and "install" without one; `-V` verifies.
    if !parsed.has("q query K checksig") {
        judge.system("`rpm` without a query changes what is installed");
    }
    let runs = |format: &Arg| format.exact().is_none_or(|text| text.contains("%(") || text.contains("lua"));
    if parsed.value("qf queryformat").is_some_and(runs) {
        judge.opaque("a format of rpm may be a macro that is run");
    }
    if parsed.has("p package K checksig") {
        parsed.operands.iter().for_each(|file| judge.read(file));
        let url = parsed.operands.iter().any(|arg| arg.exact().is_none_or(|text| text.contains("://")));
        if url {
            judge.net(None);
        }
    }
}

const DNF: &[Spec] = &[
    Spec {
        names: "list info repolist repoquery search provides history check \
        deplist",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(dnf_look),
        ..PLAIN
    },
    installs(
        "install remove erase update upgrade autoremove makecache clean downgrade reinstall swap distro-sync \
        group groupinstall module \
        config-manager mark builddep check-update download versionlock",
    ),
];

/// Even looking refreshes the metadata, unless it is told to use what is there.
fn dnf_look(parsed: &Parsed, judge: &mut Judge<'_>) {
    let installed = parsed
        .operands
        .iter()
        .any(|arg| matches!(arg.exact(), Some("installed" | "--installed" | "-C" | "--cacheonly")));
    if !installed
        || !parsed.operands.iter().all(|arg| {
            arg.exact().is_some_and(|text| {
                !text.starts_with('-') || matches!(text, "--installed" | "-C" | "--cacheonly" | "-q")
            })
        })
    {
        judge.net(None);
    }
}

const PACMAN: Opts = &[
    (
        Does::Flag,
        "Q query q quiet i info l list o owns e explicit d deps m foreign n native t unrequired k check s \
        search g groups u upgrades c changelog",
    ),
    (Does::Info, "V version h help"),
];

fn pacman(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !parsed.has("Q query") {
        judge.system("`pacman` without a query changes what is installed");
    }
}

const APK: &[Spec] = &[
    prints(
        "info list version policy search",
        &[(
            Does::Flag,
            "a all d description e installed L contents R depends r rdepends w webpage v verbose vv I P \
            provides W who-owns s size t triggers q quiet orphaned upgradable u",
        )],
    ),
    installs("add del update upgrade fix cache fetch audit index manifest dot"),
];

const BREW: &[Spec] = &[
    prints("list ls", &[(Does::Flag, "versions formula cask full-name 1 l pinned t r multiple")]),
    prints("leaves config doctor-none", &[]),
    // A formula is a program, and one by its place is fetched or lies here.
    Spec {
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let named = |word: &Arg| word.exact().is_some_and(|name| !name.contains(['/', '.', ':']));
            if !parsed.operands.iter().all(named) {
                judge.opaque("a formula by its place is a program that is run");
            }
        }),
        ..prints("deps uses", &[(Does::Flag, "tree installed n topological direct")])
    },
    installs(
        "install uninstall remove rm upgrade update reinstall tap untap link unlink cleanup services doctor \
        info search outdated autoremove \
        fetch pin unpin bundle cask postinstall edit create audit test",
    ),
];

const SNAP: &[Spec] = &[
    prints("list version", &[(Does::Flag, "all unicode app runtime columns")]),
    installs(
        "install remove refresh update uninstall run info find search enable disable revert connect disconnect \
        set unset start stop restart \
        remote-add remote-delete override repair changes services",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn what_is_installed() {
        all_harmless(&[
            "pip list",
            "pip list --format=json",
            "pip show requests",
            "pip show -f requests",
            "pip freeze",
            "pip \
                check",
            "pip --version",
            "pip3 list",
            "pip3 --version",
            "pip cache dir",
            "pip config list",
            "pip -V",
            "uv --version",
            "uv tree --frozen",
            "uv python list",
            "conda list",
            "conda env list",
            "conda \
                info",
            "conda --version",
            "gem list",
            "gem env",
            "gem --version",
            "apt list --installed",
            "apt show \
                curl",
            "apt-cache policy curl",
            "apt-cache search json",
            "apt --version",
            "dpkg -l",
            "dpkg -L curl",
            "dpkg -S /usr/bin/curl",
            "dpkg \
                --print-architecture",
            "dpkg -s curl",
            "dpkg-query -W -f '{}' curl",
            "dpkg-query -l",
            "rpm \
                -qa",
            "rpm -qi bash",
            "rpm -q --changelog bash",
            "rpm --version",
            "pacman -Q",
            "pacman -Qi bash",
            "apk info",
            "apk list",
            "brew list",
            "brew list --versions",
            "brew \
                --version",
            "brew --prefix",
            "snap list",
            "dnf list installed",
            "nix --version",
            "apt-mark \
                showmanual",
        ]);
    }

    #[test]
    fn installing_and_asking_servers() {
        none_harmless(&[
            "pip install x",
            "pip uninstall x",
            "pip download x",
            "pip list --outdated",
            "pip list -o",
            "pip index \
                versions x",
            "pip config set a b",
            "pip cache purge",
            "pip wheel .",
            "uv pip install x",
            "uv \
                sync",
            "uv run x",
            "uv add x",
            "conda install x",
            "conda search x",
            "gem install x",
            "gem list -r",
            "apt install x",
            "apt-get update",
            "apt-get install -y x",
            "apt-get \
                remove x",
            "dpkg -i x.deb",
            "dpkg --configure -a",
            "dpkg",
            "rpm -i x.rpm",
            "rpm -Uvh x.rpm",
            "rpm \
                -e x",
            "rpm -qp https://x/y.rpm",
            "dnf install x",
            "dnf list",
            "yum install x",
            "pacman -S x",
            "pacman -R x",
            "pacman -Ss x",
            "apk add x",
            "brew install x",
            "brew update",
            "snap \
                install x",
            "nix build",
            "nix-shell",
            "pip list --python ./x",
            "apt-cache -o X=y show z",
            "apt -c x \
                list",
            "dpkg --root=x -l",
            "rpm --eval x",
            "rpm -qa --pipe x",
            "pip freeze $y",
            "apt-get -s install \
                x",
            "dpkg-query --admindir x -l",
        ]);
    }
}
