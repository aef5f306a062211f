//! Programs that stay and watch or answer: language servers of the workspace and watchers of files; and the tools of Java
//! that look at classes and at programs that run.
//!
//! A language server builds what it is asked about, as a build does: it counts as code of the workspace.

use super::super::judge::{Arg, Judge};
use super::effects::{only, run};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};

/// The table. It stands before that of the versions.
pub(super) const SPECS: &[Spec] = &[
    raw(
        "clangd gopls rust-analyzer ccls pylsp pyright-langserver basedpyright-langserver jedi-language-server ruff-lsp \
         typescript-language-server vtsls bash-language-server yaml-language-server vscode-json-language-server \
         vscode-html-language-server vscode-css-language-server vscode-eslint-language-server svelteserver \
         vue-language-server tailwindcss-language-server lua-language-server zls solargraph jdtls \
         kotlin-language-server metals haskell-language-server haskell-language-server-wrapper elixir-ls ocamllsp \
         cmake-language-server texlab marksman nimlangserver serve-d sourcekit-lsp intelephense phpactor",
        language_server,
    ),
    Spec {
        names: "inotifywait inotifywatch",
        opts: &[
            (Does::Flag, "m monitor r recursive q quiet qq c csv P no-dereference no-newline z zero v verbose"),
            (
                Does::Value,
                "e event t timeout format timefmt exclude excludei include includei a ascending d descending",
            ),
            (Does::Write, "o outfile"),
            (Does::Read, "fromfile"),
            (Does::AskFlag, "s syslog daemon"),
            (Does::Info, "h help"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    raw("jdeps jlink", |parsed, judge| {
        written(
            &parsed.operands,
            "--output --dot-output --generate-module-info --generate-open-module --save-opts",
            judge,
        );
        run(parsed, judge);
    }),
    raw("jcmd", jcmd),
];

const fn raw(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// What it is told to run or to ask elsewhere is not code of the workspace.
fn language_server(parsed: &Parsed, judge: &mut Judge<'_>) {
    const RUNS: &[&str] = &["query-driver", "ocp", "exec", "server-command", "command", "e", "jvm-arg"];
    const ELSEWHERE: &[&str] = &["remote", "remote-index-address", "socket", "host", "pipe"];
    if parsed.path.first().is_some_and(|name| name == "gopls") && only(parsed, "version") {
        return;
    }
    for text in parsed.operands.iter().map(|word| word.exact().unwrap_or_default()) {
        let Some(option) = text.strip_prefix('-') else { continue };
        let option = option.trim_start_matches('-').split('=').next().unwrap_or_default();
        if RUNS.contains(&option) {
            judge.opaque(format!("`{text}` names a program"));
        }
        if ELSEWHERE.contains(&option) {
            judge.net(None);
        }
    }
    run(parsed, judge);
}

/// The values of these options are directories that are written.
fn written(words: &[Arg], options: &str, judge: &mut Judge<'_>) {
    let is = |name: &str| options.split_whitespace().any(|known| known == name);
    let mut behind = false;
    for word in words {
        let text = word.exact().unwrap_or_default();
        match text.split_once('=') {
            Some((name, value)) if is(name) => judge.write_tree(&word.with(value)),
            _ if behind => judge.write_tree(word),
            _ => {}
        }
        behind = is(text);
    }
}

/// `jcmd PID COMMAND`: in the sandbox no processes are seen but those of the command itself and its jobs.
fn jcmd(parsed: &Parsed, judge: &mut Judge<'_>) {
    const TELLS: &str = "help VM.version VM.flags VM.command_line VM.system_properties VM.uptime VM.info VM.metaspace \
        VM.native_memory VM.classloaders VM.class_hierarchy VM.stringtable VM.symboltable Thread.print GC.class_histogram \
        GC.heap_info GC.finalizer_info Compiler.codecache Compiler.queue Compiler.codelist PerfCounter.print JFR.check";
    let words: Option<Vec<&str>> = parsed.operands.iter().map(Arg::exact).collect();
    match words.as_deref() {
        Some([] | ["-l"]) => judge.code("lists the programs of Java that run"),
        Some([_, command, ..]) if TELLS.split_whitespace().any(|known| known == *command) => {
            judge.code("asks a program of Java that runs");
        }
        Some([_, "GC.heap_dump", options @ .., file]) if options.iter().all(|option| option.starts_with('-')) => {
            judge.code("asks a program of Java that runs");
            let file = judge.word(*file);
            judge.write(&file);
        }
        _ => judge.opaque("what `jcmd` does cannot be said"),
    }
}
