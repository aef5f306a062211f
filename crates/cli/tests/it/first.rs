//! What a new user runs first: the main job on a repository, and what `nika init` writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::terminal::with_a_yes;
use crate::world::{Ran, World, world};

/// A form of a key that no provider has given to anybody.
const KEY: &str = "AKIAABCDEFGHIJKLMNOP";

fn main_job() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/repository-report.nika.yaml").display().to_string()
}

/// Commands of a workflow run in the sandbox; where none can be had nothing runs.
pub fn confined(world: &World) -> bool {
    let there = world.run(&["sandbox", "exec", "--", "true"]).code == 0;
    if !there {
        eprintln!("skipped: the sandbox cannot be had here");
    }
    there
}

#[test]
fn the_main_job_reports_on_a_repository_whatever_its_files_are_called() {
    let world = world()
        .file("src/a <script>alert(1)</script>.rs", "// TODO: one\n// FIXME: two\n")
        .file("we\nird & `odd`.js", "// TODO\n")
        .file("deploy.sh", &format!("export AWS_ACCESS_KEY_ID={KEY}\n"))
        .file("empty", "");
    if !confined(&world) {
        return;
    }
    let job = main_job();
    // The second time its own report is there, and is no part of what it reports on.
    for _ in 0..2 {
        world.run(&["run", &job]).exits(0);
        let (page, text) = (world.text("report/index.html"), world.text("report/index.md"));
        assert!(page.contains("<b>4</b>files"), "{page}");
        assert!(page.contains("a &lt;script&gt;alert(1)&lt;/script&gt;.rs") && !page.contains("<script>"), "{page}");
        assert!(page.contains("<svg") && page.contains("AWS access key"), "{page}");
        assert!(text.contains("| TODO | 2 |") && text.contains("deploy.sh"), "{text}");
        for report in [&page, &text] {
            assert!(!report.contains(KEY), "the key itself is never shown");
        }
    }
}

#[test]
fn the_main_job_has_nothing_to_say_of_an_empty_directory_and_says_so() {
    let world = world();
    if !confined(&world) {
        return;
    }
    world.run(&["run", &main_job()]).exits(0);
    let page = world.text("report/index.html");
    assert!(page.contains("There are no files.") && page.contains("None found"), "{page}");
    assert!(page.contains("Nothing here says how its tests are run."), "{page}");
    assert!(page.contains("no git history"), "{page}");
}

#[test]
fn the_main_job_runs_the_tests_that_it_finds() {
    let world = world().file("Makefile", "test:\n\t@echo ran; exit 1\n");
    if !confined(&world) {
        return;
    }
    if Command::new("make").arg("--version").output().is_err() {
        eprintln!("skipped: there is no make here");
        return;
    }
    world.run(&["run", &main_job()]).exits(0);
    let page = world.text("report/index.html");
    assert!(page.contains("make test") && page.contains("failed (exit 2)") && page.contains("ran"), "{page}");
    world.run(&["run", &main_job(), "tests=false"]).exits(0);
    assert!(world.text("report/index.html").contains("Not run, as was asked."));
}

#[test]
fn the_pipeline_of_init_runs_as_it_is() {
    let world = world();
    if !confined(&world) {
        return;
    }
    world.run(&["init", "demo", "--template", "pipeline"]).exits(0);
    let root = world.root().join("demo").display().to_string();
    let file = format!("{root}/workflows/hello.nika.yaml");
    world.run(&["run", &file, "--root", &root]).exits(0).says("report/hello.md");
    let report = world.text("demo/report/hello.md");
    assert!(report.starts_with("# Words\n") && report.contains("| TODO | 1 |"), "{report}");
    // Again: the page is there and says the same, and what the write says of it is still an answer.
    world.run(&["run", &file, "--root", &root]).exits(0).says("report/hello.md");
    world.run(&["run", &file, "--root", &root, "words=nothing-like-it"]).exits(0);
    assert!(world.text("demo/report/hello.md").contains("| nothing-like-it | 0 |"));
}

#[test]
fn the_prompt_of_init_runs_on_its_transcript_and_without_a_model_says_how_to_get_one() {
    let world = world();
    world.run(&["init", "demo"]).exits(0);
    let root = world.root().join("demo").display().to_string();
    let file = format!("{root}/workflows/hello.nika.yaml");
    let script = format!("{root}/workflows/hello.script.yaml");
    let words = ["run", &file, "--root", &root, "--provider", "scripted"];
    // The script beside the workflow is the one that is meant, and which it is is said.
    let ran = world.run(&words);
    ran.exits(0).says("Hello, world!").complains("the model answers by").complains("workflows/hello.script.yaml");
    let named = world.run(&[&words[..], &["--model", &script]].concat());
    named.exits(0).says("Hello, world!");
    assert!(!named.err.contains("the model answers by"), "who names one knows it: {named:?}");
    let without = world.run(&["run", &file, "--root", &root]);
    assert_ne!(without.code, 0);
    assert!(format!("{}{}", without.out, without.err).contains("NIKA-800"), "{without:?}");
    assert!(fs::metadata(world.root().join("demo/report")).is_err());
}

/// A directory that `nika init` made, with what it printed, and the program where its sandbox sees it: installed for the user, as `nika`.
pub fn begun(world: &World, template: &str) -> (std::path::PathBuf, Ran) {
    let printed = world.run(&["init", "demo", "--template", template]);
    printed.exits(0);
    let bin = world.path("home").join("bin");
    fs::create_dir(&bin).expect("a directory");
    let (from, to) = (env!("CARGO_BIN_EXE_nika"), bin.join("nika"));
    fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(drop)).expect("a program");
    (bin, printed)
}

/// A line as a person types it in that directory; nobody is there to be asked.
pub fn typed(world: &World, bin: &Path, line: &str) -> Ran {
    Ran::of(shell(world, bin, line).output().expect("a shell"))
}

/// A shell in that directory that is about to run a line.
fn shell(world: &World, bin: &Path, line: &str) -> Command {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(world.root().join("demo")).env_clear().env("PATH", path);
    command
        .env("HOME", world.path("home"))
        .env("NIKA_STATE_DIR", world.path("state"))
        .stdin(std::process::Stdio::null());
    command
}

const ON_ITS_SCRIPT: &str = "nika run workflows/hello.nika.yaml --provider scripted --yes";

#[test]
fn the_agent_of_init_works_with_a_nika_below_nika_once_it_is_trusted() {
    let world = world();
    if !confined(&world) {
        return;
    }
    let (bin, _) = begun(&world, "agent");

    // What a directory brings starts nothing, and each command says what to do about it.
    let refused = typed(&world, &bin, ON_ITS_SCRIPT);
    refused.exits(3).complains("NIKA-701").complains("'files'").complains("`nika trust`");
    // A check needs no trust: the server is this program, and is not started for it.
    typed(&world, &bin, "nika check --strict workflows/*.yaml").exits(0).says("fine, 1 task");
    typed(&world, &bin, "nika mcp list --check").exits(0).says("withheld").says("`nika trust`");

    typed(&world, &bin, "nika trust --yes").exits(0).says(".mcp.json");
    typed(&world, &bin, "nika check --strict workflows/*.yaml").exits(0).says("fine, 1 task").says("fine, a script");
    typed(&world, &bin, "nika mcp list --check").exits(0).says("files  ready");
    let unasked = typed(&world, &bin, ON_ITS_SCRIPT.trim_end_matches(" --yes"));
    unasked.exits(3).complains("NIKA-893").complains("mcp__files__nika_read").complains("`--yes`");
    typed(&world, &bin, ON_ITS_SCRIPT).exits(0).says("answer: It is a project for Nika.");
    // Each call of the server's tools is one of ours, and in our journal; the state below ours is gone.
    let log = typed(&world, &bin, "nika log show");
    log.exits(0).says("mcp__files__nika_list_dir").says("mcp__files__nika_read");
    assert!(fs::metadata(world.root().join("demo/nika-state")).is_err());
}

#[test]
fn a_nika_below_nika_that_could_write_is_refused_and_says_why() {
    let world = world();
    if !confined(&world) {
        return;
    }
    let (bin, _) = begun(&world, "agent");
    let servers = world.root().join("demo/.mcp.json");
    let text = fs::read_to_string(&servers).expect("it is there");
    fs::write(&servers, text.replacen("\"command\"", "\"write\": true, \"command\"", 1)).expect("a file");
    typed(&world, &bin, "nika trust --yes").exits(0);
    // What it complained of is in the error.
    let list = typed(&world, &bin, "nika mcp list --check");
    list.exits(1).says("failed").says("it complained").says("NIKA-902").says("no call `openat2`").says("`write: true`");
}

#[test]
fn what_init_says_comes_next_works_as_it_is_printed() {
    for template in ["basic", "agent", "pipeline"] {
        let world = world();
        if !confined(&world) {
            return;
        }
        let (bin, printed) = begun(&world, template);
        let (_, next) = printed.out.split_once("\nNext:\n").expect("it says what comes next");
        let lines: Vec<&str> = next.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(lines[0], "cd demo", "{next}");
        for line in &lines[1..] {
            let ran = with_a_yes(shell(&world, &bin, line));
            let asks_a_model = template != "pipeline" && line.starts_with("nika run") && !line.contains("scripted");
            if asks_a_model {
                ran.exits(1).complains("NIKA-800");
            } else {
                ran.exits(0);
            }
            if line.contains("check") {
                ran.says("fine");
            }
        }
        let trusts = lines.iter().position(|line| *line == "nika trust");
        assert_eq!(trusts, (template == "agent").then_some(2), "{next}");
        assert!(lines.iter().any(|line| line.contains("check --strict")), "{next}");
    }
}

#[test]
fn what_the_readme_of_each_template_shows_works_word_for_word() {
    for template in ["basic", "agent", "pipeline"] {
        let world = world();
        if !confined(&world) {
            return;
        }
        let (bin, _) = begun(&world, template);
        let readme = fs::read_to_string(world.root().join("demo/README.md")).expect("it is there");
        let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
        assert!(lines.len() > 3, "{template}: {lines:?}");
        for line in lines {
            let asks_a_model = template != "pipeline" && line.starts_with("nika run") && !line.contains("scripted");
            if line == "nika trust" {
                // It asks a person, and there is none.
                typed(&world, &bin, "nika trust --yes").exits(0);
            } else if asks_a_model {
                let words = line.split('#').next().unwrap_or_default();
                let ran = typed(&world, &bin, &format!("{words} --yes"));
                ran.exits(1);
                let said = format!("{}{}", ran.out, ran.err);
                for way in ["NIKA-800", "a key:", "--provider ollama", "any other address:"] {
                    assert!(said.contains(way), "{template}: {line}: no {way:?} in {said}");
                }
            } else {
                typed(&world, &bin, line).exits(0);
            }
        }
        // The table names what is there, and what is there is in the table, but for itself.
        let named: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert!(named.iter().all(|name| fs::metadata(world.root().join("demo").join(name)).is_ok()), "{named:?}");
        assert_eq!(named.contains(&".mcp.json"), template == "agent");
    }
}
