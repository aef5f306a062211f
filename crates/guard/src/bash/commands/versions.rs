//! Programs of which only the version and the help are known: whatever else they are asked is opaque.
//!
//! Every name here stops at these words; a program that runs or starts something first is not here.

use super::super::judge::{Arg, Judge};
use super::spec::{Operands, PLAIN, Parsed, Spec, Style};

/// The table. `--version` and `--help` alone are harmless for every row of every table.
pub(super) const SPECS: &[Spec] = &[
    row(
        "clippy-driver rust-analyzer lldb fzf vim vi view vimdiff nvim emacs nano helix hx micro swiftc \
         mono virtualenv redis-server redis-benchmark mongod mongos postgres pg_ctl initdb mysqld \
         mariadbd wasmtime wasmer hyperfine ccls clangd bear ccache sccache distcc mold lld jsonnet k9s \
         stern dvc mlflow jupyter jupyter-lab jupyter-notebook ipython streamlit gunicorn uvicorn celery \
         airflow dbt hadoop ollama llama-cli asciidoctor graphviz gnuplot octave maxima inkscape gimp \
         blender libreoffice soffice chromium google-chrome firefox chromedriver geckodriver lighthouse \
         caddy traefik haproxy envoy memcached systemd udevadm qemu-system-x86_64 cargo-binstall \
         wasm-opt flamegraph samply heaptrack bpftrace starship zoxide atuin lazygit tig gitui mcfly \
         navi tldr info otool swift-format coursier cs amm jlink jpackage jmap jstack ghcup gleam v odin \
         fpc gnat iverilog verilator yosys ghdl z3 coqc agda idris2 racket guile sbcl clisp swipl raku \
         tcc pcc icc icx fasm xmake premake5 earthly dagger gitlab-runner lima nerdfetch",
        nothing,
    ),
    row("pkg-config pkgconf", pkg_config),
    row("nginx apache2 httpd apachectl ffprobe ffplay identify", alone),
    row("ocaml ocamlc ocamlopt dlv direnv gopls", alone),
    row("sass lessc mmdc guix borg", nothing),
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
];

/// Whether `argv` is one of [`VERSIONS`], and nothing else.
pub(super) fn asks(name: &str, argv: &[Arg]) -> bool {
    let [_, word] = argv else { return false };
    VERSIONS.iter().any(|(program, asked)| *program == name && word.exact() == Some(asked))
}

/// A program whose words its function reads.
const fn row(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// Nothing else is known of it.
fn nothing(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.opaque(format!("what `{}` does cannot be said", name(parsed)));
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
        "dlv" | "direnv" | "gopls" => "version",
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
