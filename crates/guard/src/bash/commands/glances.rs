//! Forms in which a tool that otherwise builds, runs or rewrites only looks: `clang-format a.c`, `ninja -t targets`,
//! `ruff rule E501`, `gcc -fsyntax-only a.c`.
//!
//! A form is here only where no file of the project can make it do more: what a tool reads then is data to it. All its
//! options are in the row; with any other the tool is judged as always.

use super::super::judge::{Arg, Judge, Stdin};
use super::effects::{dash, prints, with};
use super::spec::Does::{Flag, Read, ReadTree, Value};
use super::spec::{self, Operands, PLAIN, Parsed, Spec, Style};

/// Whether the words of a tool are those of such a form. What it looks at is then in `judge`.
pub(super) fn looks(parsed: &Parsed, judge: &mut Judge<'_>) -> bool {
    let Some(name) = parsed.path.first() else { return false };
    if COMPILERS.split_whitespace().any(|known| known == name) {
        return compiler(&parsed.operands, judge);
    }
    let mut argv = vec![judge.word(name.as_str())];
    argv.extend_from_slice(&parsed.operands);
    GLANCES.iter().filter(|(spec, _)| spec.is(name)).any(|(spec, needs)| reads(spec, needs, &argv, judge))
}

/// Whether a module of Python's library is given such words. `rest` is what stands behind its name.
pub(super) fn module(name: &str, rest: &[Arg], judge: &mut Judge<'_>) -> bool {
    let mut argv = vec![judge.word(name)];
    argv.extend_from_slice(rest);
    let before = judge.facts.len();
    let found = MODULES.iter().filter(|(spec, _)| spec.is(name)).any(|(spec, needs)| reads(spec, needs, &argv, judge));
    if found {
        super::shadowed::check(name, judge);
    }
    debug_assert!(found || judge.facts.len() == before);
    found
}

fn reads(spec: &Spec, needs: &str, argv: &[Arg], judge: &mut Judge<'_>) -> bool {
    let parsed = spec::parse(spec, argv);
    let whole = parsed.unknown.is_none() && (spec.operands != Operands::Sub || parsed.path.len() > 1);
    let fits = whole && (needs.is_empty() || parsed.has(needs)) && tool_of_ninja(&parsed);
    if fits {
        spec::apply(spec, &parsed, judge);
    }
    fits
}

/// Of its tools, those that end before a log is opened and nothing is built anew.
fn tool_of_ninja(parsed: &Parsed) -> bool {
    const TOOLS: &str = "list targets rules commands inputs graph compdb";
    let asked =
        || parsed.value("t").and_then(Arg::exact).is_some_and(|tool| TOOLS.split(' ').any(|known| known == tool));
    parsed.path.first().is_none_or(|name| name != "ninja") || asked()
}

/// A form, and the options of which one has to be there (blank-separated; none for whatever is asked).
type Glance = (Spec, &'static str);

const GLANCES: &[Glance] = &[
    // It reads its recipes, and works out none of what stands in them.
    (
        Spec {
            names: "just",
            opts: &[
                (Flag, "l list summary groups variables u unsorted no-aliases"),
                (Value, "s show color list-heading list-prefix"),
                (Read, "f justfile"),
            ],
            ..PLAIN
        },
        "l list summary groups variables s show",
    ),
    // Without `-i` it prints. Its style is data.
    (
        Spec {
            names: "clang-format",
            style: Style::OneDash,
            opts: &[
                (
                    Flag,
                    "n dry-run Werror output-replacements-xml dump-config verbose sort-includes fail-on-incomplete-format",
                ),
                (Value, "style fallback-style lines offset length cursor ferror-limit"),
                // Styles are looked for beside it, and above.
                (Read, "assume-filename"),
            ],
            operands: Operands::Read,
            check: Some(super::within::style),
            ..PLAIN
        },
        "",
    ),
    (
        Spec {
            names: "shfmt",
            style: Style::OneDash,
            opts: &[
                (Flag, "l list d diff f find s simplify mn minify bn ci sr kp fn p posix tojson to-json"),
                (Value, "i indent ln language-dialect filename"),
            ],
            operands: Operands::ReadTree,
            ..PLAIN
        },
        "",
    ),
    (
        with(
            "ruff",
            &[(Flag, "q quiet v verbose s silent isolated")],
            &[
                prints("rule", &[(Flag, "all"), (Value, "output-format")]),
                prints("linter config version", &[(Value, "output-format")]),
            ],
        ),
        "",
    ),
    (
        with(
            "ruff",
            &[],
            &[Spec {
                names: "check",
                opts: &[
                    (Flag, "show-files show-settings isolated n no-cache"),
                    (Value, "select ignore extend-select exclude"),
                ],
                operands: Operands::ReadTree,
                ..PLAIN
            }],
        ),
        "show-files show-settings",
    ),
    (
        Spec {
            names: "actionlint",
            style: Style::OneDash,
            opts: &[
                (Flag, "oneline no-color color verbose debug"),
                (super::spec::Does::Info, "version"),
                (Value, "format ignore"),
                (Read, "config-file"),
            ],
            operands: Operands::Read,
            check: Some(|_, judge| judge.read_cwd()),
            ..PLAIN
        },
        "",
    ),
    (
        Spec {
            names: "ninja",
            opts: &[(Value, "t"), (ReadTree, "C"), (Read, "f"), (Flag, "v verbose quiet")],
            operands: Operands::Words,
            check: Some(|_, judge| judge.read_cwd()),
            ..PLAIN
        },
        "t",
    ),
    // Prints what a build directory holds, or the tree of the description; runs none of it.
    (
        with(
            "meson",
            &[],
            &[Spec {
                names: "introspect",
                opts: &[
                    (
                        Flag,
                        "a all ast benchmarks buildoptions buildsystem-files compilers dependencies scan-dependencies \
                         installed install-plan machines projectinfo targets tests i indent f force-object-output",
                    ),
                    (Value, "backend"),
                ],
                operands: Operands::ReadTree,
                ..PLAIN
            }],
        ),
        "",
    ),
    (
        with(
            "zig",
            &[],
            &[
                prints("env targets zen version", &[]),
                Spec { names: "ast-check", opts: &[(Flag, "t zon")], operands: Operands::Read, ..PLAIN },
            ],
        ),
        "",
    ),
    (
        with(
            "zig",
            &[],
            &[Spec {
                names: "fmt",
                opts: &[(Flag, "check stdin ast-check"), (Value, "exclude color")],
                operands: Operands::ReadTree,
                ..PLAIN
            }],
        ),
        "check",
    ),
    (
        Spec {
            names: "ghc",
            style: Style::OneDash,
            opts: &[(Flag, "info numeric-version print-libdir supported-extensions supported-languages show-options")],
            ..PLAIN
        },
        "info numeric-version print-libdir supported-extensions supported-languages show-options",
    ),
    (
        with(
            "ocamlfind",
            &[],
            &[
                dash(prints("list", &[(Flag, "describe")])),
                dash(prints(
                    "query",
                    &[
                        (Flag, "r recursive d-format i-format l-format a-format o-format p-format v qe qo descendants"),
                        (Value, "format predicates separator prefix suffix"),
                    ],
                )),
            ],
        ),
        "",
    ),
    (
        with(
            "opam",
            &[],
            &[
                prints("list", &[(Flag, "i installed a all s short installed-roots")]),
                with("switch", &[], &[prints("list show", &[(Flag, "s short")])]),
                prints("var", &[]),
            ],
        ),
        "",
    ),
    (Spec { names: "luac luac5.3 luac5.4", opts: &[(Flag, "p l v")], operands: Operands::Read, ..PLAIN }, "p"),
    (Spec { names: "protoc", opts: &[(Flag, "decode_raw")], ..PLAIN }, "decode_raw"),
    (
        Spec {
            names: "tsc",
            style: Style::OneDash,
            opts: &[(Flag, "showConfig"), (Read, "p project")],
            check: Some(|_, judge| judge.read_cwd()),
            ..PLAIN
        },
        "showConfig",
    ),
];

const MODULES: &[Glance] = &[
    (
        Spec {
            names: "ast",
            opts: &[(Flag, "a include-attributes no-type-comments"), (Value, "m mode i indent")],
            operands: Operands::Read,
            ..PLAIN
        },
        "",
    ),
    (Spec { names: "tokenize", opts: &[(Flag, "e exact")], operands: Operands::Read, ..PLAIN }, ""),
    // It compiles, and runs nothing.
    (Spec { names: "dis", opts: &[(Flag, "C show-caches O show-offsets")], operands: Operands::Read, ..PLAIN }, ""),
    (Spec { names: "tabnanny", opts: &[(Flag, "v q")], operands: Operands::ReadTree, ..PLAIN }, ""),
    (prints("site", &[(Flag, "user-base user-site")]), ""),
    (prints("platform", &[(Flag, "terse")]), ""),
    (Spec { names: "sysconfig", ..PLAIN }, ""),
    (prints("calendar this", &[]), ""),
    (
        Spec { names: "zipfile", opts: &[(Read, "l list t test"), (Value, "metadata-encoding")], ..PLAIN },
        "l list t test",
    ),
    (Spec { names: "tarfile", opts: &[(Read, "l list t test"), (Flag, "v verbose")], ..PLAIN }, "l list t test"),
    (Spec { names: "base64", opts: &[(Flag, "d e u")], operands: Operands::Read, ..PLAIN }, ""),
];

/// Compilers of C that take the options below.
const COMPILERS: &str = "gcc g++ cc c++ clang clang++";

/// What is only checked or preprocessed is printed. Anything that names an output, a program, a plugin, or options for
/// another program is not among these words.
fn compiler(words: &[Arg], judge: &mut Judge<'_>) -> bool {
    const LOOKS: &str = "-fsyntax-only -E -M -MM -Q";
    const FLAGS: &str = "-fsyntax-only -E -M -MM -MG -dM -dD -dI -P -C -CC -H -v -w -ansi -pedantic -pedantic-errors -nostdinc \
        -nostdinc++ -undef -pthread -m32 -m64 -g -O -O0 -O1 -O2 -O3 -Os -Og -Q -fno-diagnostics-color \
        -fdiagnostics-color -fno-exceptions -fno-rtti -fopenmp -fPIC -fpermissive -S-none";
    const LANGUAGES: &str = "c c++ c-header c++-header cpp-output";
    let is = |list: &str, text: &str| list.split_whitespace().any(|known| known == text);
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+=".contains(&byte));
    // Of other languages a file is written all the same: a module of Fortran.
    const SOURCES: &str = "c h cc cp cpp cxx c++ C hh hp hpp hxx h++ H i ii m mi mm M mii";
    let is_source = |file: &str| file.rsplit_once('.').is_some_and(|(_, end)| is(SOURCES, end));
    let (mut files, mut trees, mut looks, mut asks, mut told) = (Vec::new(), Vec::new(), false, false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.exact() else { return false };
        looks |= is(LOOKS, text) && text != "-Q";
        match text {
            "-" if input_is_plain(judge) => {}
            "-" => return false,
            "-Q" => {}
            "-x" => match words.next().and_then(Arg::exact) {
                Some(language) if is(LANGUAGES, language) => told = true,
                _ => return false,
            },
            "-I" | "-isystem" | "-iquote" | "-idirafter" => match words.next() {
                Some(tree) if tree.exact().is_some() => trees.push(tree.clone()),
                _ => return false,
            },
            "-include" | "-imacros" => match words.next() {
                Some(file) if file.exact().is_some() => files.push(file.clone()),
                _ => return false,
            },
            "-D" | "-U" => match words.next().and_then(Arg::exact) {
                Some(text) if names_no_file(text) => {}
                _ => return false,
            },
            _ if is(FLAGS, text) => {}
            _ if text.starts_with("-I") => trees.push(word.with(&text[2..])),
            _ if text.starts_with("-x") && is(LANGUAGES, &text[2..]) => told = true,
            _ if (text.starts_with("-D") || text.starts_with("-U")) && names_no_file(text) => {}
            _ if text.starts_with("-std=") && plain(text) => {}
            // Which processor is meant.
            _ if ["-march=", "-mtune=", "-mcpu=", "-mabi="].iter().any(|of| text.starts_with(of)) && plain(text) => {}
            // `-Wp,…` is for the preprocessor, `-Wl,…` for the linker; both have a comma.
            _ if text.starts_with("-W") && text.len() > 2 && plain(text) => {}
            _ if text.starts_with("--help=") && plain(text) => asks = true,
            _ if text.starts_with(['-', '@']) => return false,
            _ if told || is_source(text) => files.push(word.clone()),
            _ => return false,
        }
    }
    if !looks && !asks || asks && !files.is_empty() {
        return false;
    }
    // A stream by its name holds what `-` would.
    let stream = |file: &Arg| {
        let place = judge.resolve(file.exact().unwrap_or_default());
        (place.starts_with("/dev") || place.starts_with("/proc")) && place != std::path::Path::new("/dev/null")
    };
    if files.iter().any(stream) {
        return false;
    }
    files.iter().for_each(|file| judge.read(file));
    trees.iter().for_each(|tree| judge.read_tree(tree));
    true
}

/// What is defined may be what a file includes.
fn names_no_file(text: &str) -> bool {
    !text.contains(['/', '"', '<', '\'', '~'])
}

/// Text on standard input takes other files into it by name: what is known takes none, and a file is the workspace's own.
fn input_is_plain(judge: &Judge<'_>) -> bool {
    match &judge.stdin {
        Stdin::None | Stdin::File { .. } => true,
        Stdin::Text(text) => !["include", "embed", "import", "%:", "??=", "\\"].iter().any(|mark| text.contains(mark)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn forms_that_only_look() {
        all_harmless(&[
            "clang-format a.c",
            "clang-format --dry-run -Werror src/a.c",
            "clang-format -style=file --dump-config",
            "shfmt -d .",
            "shfmt -l -i 2 scripts",
            "ruff rule E501",
            "ruff linter",
            "ruff check --show-files",
            "ruff check --show-settings src",
            "actionlint",
            "actionlint -oneline .github/workflows/ci.yml",
            "ninja -t targets all",
            "ninja -C build -t commands app",
            "meson introspect build --targets",
            "zig env",
            "zig fmt --check src",
            "zig ast-check src/main.zig",
            "ghc --info",
            "ghc --numeric-version",
            "ocamlfind list",
            "ocamlfind query -r str",
            "opam list --installed",
            "opam switch list",
            "luac -p a.lua",
            "protoc --decode_raw",
            "tsc --showConfig -p tsconfig.json",
            "gcc -fsyntax-only -Wall -Iinclude -DX=1 src/a.c",
            "g++ -std=c++20 -fsyntax-only a.cpp",
            "gcc -E -dM -x c -",
            "gcc -MM src/a.c",
            "gcc -Q --help=optimizers",
            "clang -fsyntax-only a.c",
            "python3 -m ast src/a.py",
            "python3 -m tokenize a.py",
            "python3 -m dis a.py",
            "python3 -m zipfile -l a.whl",
            "python3 -m tarfile -l a.tar.gz",
            "python3 -m site",
            "python3 -m sysconfig",
            "python3 -m platform",
        ]);
    }

    #[test]
    fn beside_them() {
        none_harmless(&[
            "clang-format -i a.c",
            "clang-format -style=file -i a.c",
            "clang-format --files=x",
            "clang-format $x",
            "shfmt -w .",
            "shfmt -l -w .",
            "ruff check",
            "ruff check --fix --show-files",
            "ruff check --show-files --output-file=x",
            "ruff check --show-settings --config=x.toml",
            "ruff format --check",
            "ruff clean",
            "actionlint -shellcheck=./x",
            "actionlint -shellcheck ./x",
            "actionlint -init-config",
            "ninja",
            "ninja -n",
            "ninja -t clean",
            "ninja -t recompact",
            "ninja -t deps",
            "ninja -t query all",
            "ninja -t restat",
            "ninja -t browse",
            "ninja -t targets -t clean",
            "ninja -t",
            "meson introspect build --unknown",
            "meson setup build",
            "zig fmt src",
            "zig build",
            "zig run a.zig",
            "ghc A.hs",
            "ghc --info -F -pgmF ./x A.hs",
            "ghc -e 'x'",
            "ocamlfind ocamlopt a.ml",
            "ocamlfind query -pp x",
            "opam switch create x",
            "opam install x",
            "opam exec -- x",
            "luac a.lua",
            "luac -p -o x a.lua",
            "protoc --decode_raw --plugin=x",
            "tsc",
            "tsc --showConfig --outDir x",
            "tsc -p .",
            "gcc -fsyntax-only -o x a.c",
            "gcc -fsyntax-only -fplugin=./x.so a.c",
            "gcc -E -wrapper ./x a.c",
            "gcc -E -B. a.c",
            "gcc -E -specs=x a.c",
            "gcc -E @x",
            "gcc -E -MD a.c",
            "gcc -E -MF x a.c",
            "gcc -E -Wp,-MD,x a.c",
            "gcc -E -Wl,x a.c",
            "gcc -E -save-temps a.c",
            "gcc -E -fdump-tree-all a.c",
            "gcc -E -I/etc/ssl/private x.c",
            "gcc -E -include /etc/shadow a.c",
            "gcc a.c",
            "gcc -Q a.c",
            "gcc -x none -fsyntax-only a",
            "gcc -E -Xpreprocessor -MD a.c",
            "clang -fsyntax-only -Xclang -load -Xclang ./x.so a.c",
            "clang -E -include ../x a.c",
            "clang -fsyntax-only -fmodules a.c",
            "python3 -m zipfile -e a.zip x",
            "python3 -m zipfile -c a.zip x",
            "python3 -m tarfile -e a.tar",
            "python3 -m tarfile -l a.tar -c b.tar",
            "python3 -m sysconfig --generate-posix-vars",
            "python3 -m dis $x",
            "gcc -E -DX='\"/etc/x\"' a.c",
            "gcc -E -D 'X=</etc/x>' a.c",
        ]);
    }
}
