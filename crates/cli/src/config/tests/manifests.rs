//! Policy manifests and hooks: who wins over whom, what an untrusted repository may say, and what stops
//! everything.

use nika_guard::manifest::Moment;
use nika_guard::{Budget, HookPoint, OnFailure};

use super::*;

impl World {
    fn manifest(self, text: &str) -> World {
        self.file("repo/.nika/policy.json", text)
    }

    /// The project is a directory two levels below the top of its repository.
    fn load_below(&self) -> Effective {
        fs::create_dir_all(self.path("repo/a/b")).expect("made");
        load(&self.below()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn below(&self) -> Sources {
        Sources { project_dir: self.path("repo/a/b"), ..self.sources() }
    }
}

fn denied(found: &Effective) -> Vec<(String, String)> {
    found.policy.rules().iter().map(|rule| (rule.rule.text.clone(), rule.at.clone())).collect()
}

fn texts(found: &Effective, moment: Moment) -> Vec<&str> {
    found.messages.at(moment).map(|message| message.text.as_str()).collect()
}

fn calls(found: &Effective) -> Option<(u64, &str)> {
    found.budgets.get(Budget::ToolCalls).map(|limit| (limit.amount, limit.at.as_str()))
}

#[test]
fn denials_of_every_file_hold_together_with_their_places() {
    let found = world()
        .manifest("{\"denyTools\": [\"bash\"]}")
        .file("repo/.claw-policy.json", "{\n \"deny_tools\": [\"Write\"]\n}")
        .file("repo/.codex-policy.json", "{\"deny_tools\": [\"edit_file\"]}")
        .file("repo/.claw-hooks.json", "{\"denyToolPrefixes\": [\"mcp__\"]}")
        .managed("")
        .file("etc/policy.json", "{\"denyTools\": \"undo\"}")
        .file("home/.config/nika/policy.json", "{\"denyTools\": \"glob\"}")
        .load();
    let want = [
        ("tool(undo)", "etc/policy.json:1"),
        ("tool(glob)", "manifest ~/.config/nika/policy.json:1"),
        ("tool(mcp__*)", "manifest .claw-hooks.json:1"),
        ("tool(edit)", "manifest .codex-policy.json:1"),
        ("tool(write)", "manifest .claw-policy.json:2"),
        ("tool(bash)", "manifest .nika/policy.json:1"),
    ];
    let found_rules = denied(&found);
    assert_eq!(found_rules.len(), want.len());
    for ((text, at), (want, place)) in found_rules.iter().zip(want) {
        assert!(text == want && at.ends_with(place), "{text} {at}");
    }
    for tool in ["bash", "write", "edit", "undo", "glob", "mcp__x__y"] {
        assert!(found.policy.removes_tool(tool).is_some(), "{tool}");
    }
    assert!(found.policy.removes_tool("read").is_none());
    assert_eq!(found.shown.iter().filter(|row| row.key == "manifest").count(), 6);
}

#[test]
fn the_nearer_manifest_wins_and_a_farther_denial_stands() {
    let scene = world()
        .manifest("{\"managedSettings\": {\"mode\": \"read-only\", \"tools.defer_above\": 1}, \"budget\": {\"max_tool_calls\": 9}, \"denyTools\": [\"undo\"], \"hooks\": {\"afterTurn\": \"far\"}}")
        .file(
            "repo/a/.claw-policy.json",
            "{\"managed_settings\": {\"tools\": {\"defer_above\": 2}}, \"budget\": {\"max_tool_calls\": 5}}",
        )
        .file("repo/a/b/.claw-policy.json", "{\"budget\": {\"maxToolCalls\": 3}, \"hooks\": {\"afterTurn\": \"near\"}}")
        .file("repo/a/b/.nika/policy.json", "{\"hooks\": {\"after_turn\": [\"nearest\", \"and more\"]}}")
        .file("policy.json", "{")
        .file(".claw-policy.json", "this lies above the repository and is not looked at");
    let found = scene.load_below();
    assert_eq!((found.stance, found.defer_above), (Stance::from(Mode::ReadOnly), 2));
    assert_eq!(calls(&found), Some((3, ".claw-policy.json:1")));
    assert_eq!(denied(&found), [("tool(undo)".to_owned(), "manifest ../../.nika/policy.json:1".to_owned())]);
    assert!(texts(&found, Moment::AfterTurn).is_empty(), "texts wait for trust");
    trust::grant(&scene.path("repo/a/b"), &scene.path("state/trust.jsonl")).expect("granted");
    let found = scene.load_below();
    assert_eq!(found.trusted, Trust::Trusted);
    assert_eq!(texts(&found, Moment::AfterTurn), ["nearest", "and more", "near", "far"]);
    // Its own configuration is stronger than any manifest beside it.
    let scene = scene.file("repo/a/b/.nika/config.yaml", "tools: {defer_above: 4}");
    assert_eq!(scene.load_below().defer_above, 4);
    // And trust is bound to the manifests above.
    let scene = scene.file("repo/a/b/.nika/config.yaml", "");
    fs::remove_file(scene.path("repo/a/b/.nika/config.yaml")).expect("removed");
    assert_eq!(scene.load_below().trusted, Trust::Trusted);
    let scene = scene.manifest("{}");
    let changed = Trust::Changed { files: vec!["../../.nika/policy.json".into()] };
    assert_eq!(scene.load_below().trusted, changed);
}

#[test]
fn without_a_repository_it_is_every_directory_above() {
    let scene = world().file("plain/x/file", "").file("plain/.claw-policy.json", "{\"denyTools\": [\"undo\"]}");
    let sources = Sources { project_dir: scene.path("plain/x"), ..scene.sources() };
    let found = load(&sources).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(denied(&found), [("tool(undo)".to_owned(), "manifest ../.claw-policy.json:1".to_owned())]);
}

const EVERYTHING: &str = r#"{
  "trusted": true,
  "managedSettings": {"mode": "accept-all", "theme": "dark", "permissions": {"allow": ["write(**)"]}},
  "safeEnv": ["RUST_LOG", "NPM_TOKEN"],
  "denyTools": ["undo"],
  "budget": {"max_tool_calls": 7, "max_session_turns": 50},
  "hooks": {"beforePrompt": "hi", "beforeTool": {"*": "careful"}}
}"#;

#[test]
fn an_untrusted_manifest_tightens_and_nothing_else() {
    let scene =
        world().manifest(EVERYTHING).file("home/.config/nika/policy.json", "{\"budget\": {\"max_session_turns\": 20}}");
    let found = scene.load();
    assert_eq!((found.stance, found.trusted.clone()), (Stance::from(Mode::Ask), Trust::Unasked));
    assert!(found.policy.removes_tool("undo").is_some() && found.policy.rules().len() == 1);
    assert_eq!(calls(&found), Some((7, ".nika/policy.json:6")));
    assert_eq!(found.budgets.get(Budget::SessionTurns).map(|limit| limit.amount), Some(20));
    assert!(found.safe_env.is_empty() && found.messages.0.is_empty());
    assert!(row(&found.inactive, "trusted").why.as_deref().expect("why").contains("only `nika trust`"));
    assert!(row(&found.inactive, "budget.max_session_turns").why.as_deref().expect("why").contains("budget of 20"));
    assert!(row(&found.inactive, "hooks.beforePrompt").why.as_deref().expect("why").contains("text before the model"));

    let found = scene.trusted().load();
    assert_eq!(found.stance, Stance::from(Mode::AcceptAll));
    assert_eq!(found.budgets.get(Budget::SessionTurns).map(|limit| limit.amount), Some(50));
    assert_eq!(found.safe_env, ["RUST_LOG"]);
    assert_eq!((texts(&found, Moment::BeforePrompt), texts(&found, Moment::BeforeTool)), (vec!["hi"], vec!["careful"]));
    let why = |key: &str| row(&found.inactive, key).why.clone().expect("why");
    assert!(why("safeEnv").contains("credential") && why("managedSettings.theme").contains("no key of Nika's"));
    assert_eq!(row(&found.shown, "mode").at, ".nika/policy.json:3");
}

#[test]
fn a_persons_own_manifest_needs_no_trust() {
    let found = world().file("home/.config/nika/policy.json", EVERYTHING).load();
    assert_eq!(found.stance, Stance::from(Mode::AcceptAll));
    assert_eq!(found.safe_env, ["RUST_LOG", "NPM_TOKEN"]);
    assert_eq!(texts(&found, Moment::BeforePrompt), ["hi"]);
}

#[test]
fn the_administrators_budget_is_a_ceiling() {
    let scene = world()
        .file("etc/policy.json", "{\"budget\": {\"max_tool_calls\": 10}}")
        .file("home/.config/nika/policy.json", "{\"budget\": {\"max_tool_calls\": 5}}")
        .manifest("{\"budget\": {\"max_tool_calls\": 11}}")
        .trusted();
    assert_eq!(calls(&scene.load()).map(|(amount, _)| amount), Some(5));
    let scene = scene.manifest("{\"budget\": {\"max_tool_calls\": 8}}").trusted();
    assert_eq!(calls(&scene.load()), Some((8, ".nika/policy.json:1")));
}

#[test]
fn an_untrusted_anywhere_wins() {
    for file in ["repo/.claw-hooks.json", "home/.config/nika/policy.json", "etc/policy.json"] {
        let scene = world().file(file, "{\n\"trusted\": false}").project("mode: accept-all").trusted();
        let found = scene.load();
        assert_eq!(found.stance, Stance::from(Mode::Ask), "{file}");
        assert!(matches!(&found.trusted, Trust::Refused { at } if at.ends_with(".json:2")), "{:?}", found.trusted);
    }
    // One that comes from above the project counts as well.
    let scene = world().manifest("{\"trusted\": false}").file("repo/a/b/.nika/config.yaml", "mode: accept-all");
    assert_eq!(scene.load_below().stance, Stance::from(Mode::Ask));
}

#[test]
fn a_malformed_manifest_stops_everything() {
    for (file, text, want) in [
        (
            "repo/.claw-policy.json",
            "{\n \"denyTool\": []}",
            "NIKA-902 .claw-policy.json:2:2: unknown key `denyTool`; did you mean denyTools",
        ),
        ("repo/.nika/policy.json", "{\"trusted\": 1}", "NIKA-902 .nika/policy.json:1:13: found `1`"),
        ("repo/.codex-policy.json", "{\"budget\": {\"maxToolCall\": 1}}", "did you mean max_tool_calls"),
        ("repo/.claw-hooks.json", "", "NIKA-902 .claw-hooks.json:1:1: "),
        ("etc/policy.json", "[]", "policy.json:1:1: found a list"),
        ("home/.config/nika/policy.json", "{\"x\": 1}", "NIKA-902 ~/.config/nika/policy.json:1:2: unknown key `x`"),
        ("repo/.claw-policy.json", "{\"managedSettings\": {\"mode\": \"everything\"}}", ":1:30: found 'everything'"),
        (
            "repo/.claw-policy.json",
            "{\"managedSettings\": {\"permissions\": {\"deny\": [\"x(\"]}}}",
            "NIKA-903 .claw-policy.json:1:",
        ),
    ] {
        let said = world().file(file, text).refused();
        assert!(said.contains(want), "{file}: {said}");
    }
    let scene = world().file("repo/target.json", "{}");
    link(&scene.path("repo/target.json"), &scene.path("repo/.claw-policy.json"));
    assert!(scene.refused().contains("is a link"));
    let said = load(&world().file("repo/.nika/policy.json", "{").file("repo/a/b/x", "").below()).expect_err("refused");
    assert!(said.to_string().contains("../../.nika/policy.json:1:2"), "{said}");
}

const HOOK: &str =
    "hooks:\n  - {on: before, tool: Edit, run: [.nika/hooks/check, -x], timeout_ms: 100, on_failure: note}\n";

#[test]
fn hooks_of_a_repository_wait_for_trust() {
    let scene = world().project(HOOK).user("hooks: [{on: after, run: [\"~/bin/log\"]}]");
    let found = scene.load();
    assert_eq!(found.hooks.len(), 1);
    assert!(found.hooks[0].command.program().ends_with("home/bin/log"), "{:?}", found.hooks);
    assert_eq!((found.hooks[0].point, found.hooks[0].timeout_ms), (HookPoint::After, 5_000));
    assert_eq!(found.hooks[0].on_failure, OnFailure::Deny);
    assert!(row(&found.inactive, "hooks").why.as_deref().expect("why").contains("it runs a command"));
    let found = scene.trusted().load();
    assert_eq!(found.hooks.len(), 2);
    let hook = &found.hooks[1];
    assert!(hook.concerns(HookPoint::Before, "edit") && !hook.concerns(HookPoint::Before, "write"));
    assert_eq!((hook.timeout_ms, hook.on_failure, hook.command.at()), (100, OnFailure::Note, ".nika/config.yaml:2"));
    assert_eq!(hook.command.argv(), [".nika/hooks/check", "-x"]);
}

#[test]
fn hooks_that_cannot_be_meant_are_errors() {
    for (text, want) in [
        ("hooks: {on: before}", ":1:8: found a mapping where a list of hooks"),
        ("hooks: [{run: [x]}]", ":1:9: found a mapping where a hook with `on`"),
        ("hooks: [{on: before}]", "a hook with `run`"),
        ("hooks: [{on: during, run: [x]}]", ":1:14: found 'during' where before or after"),
        ("hooks: [{on: before, run: x}]", "no shell reads it"),
        ("hooks: [{on: before, run: []}]", "begins with a program"),
        ("hooks: [{on: before, run: [x, 3]}]", "put it in quotes"),
        ("hooks: [{on: before, run: [x], timeout_ms: 60001}]", "from 1 to 60000"),
        ("hooks: [{on: before, run: [x], timeout_ms: 0}]", "from 1 to 60000"),
        ("hooks: [{on: before, run: [x], on_failure: ask}]", "deny, allow or note"),
        ("hooks: [{on: before, run: [x], when: now}]", "unknown key `when`"),
        ("hooks: [{on: before, run: [scripts/check]}]", "no file that trust binds to"),
        ("hooks: [{on: before, run: [.nika/../check]}]", "no file that trust binds to"),
        ("hooks: [{on: before, run: [sh, scripts/check.sh]}]", "`scripts/check.sh` is no file that trust binds to"),
        ("hooks: [{on: before, run: [python3, -u, scripts/check.py]}]", "`scripts/check.py` is no file that trust"),
        ("hooks: [{on: before, run: [check, --rules, conf/rules.txt]}]", "`conf/rules.txt` is no file that trust"),
        ("hooks: [{on: before, run: [check, --rules=conf/rules.txt]}]", "is no file that trust binds to"),
        ("hooks: [{on: before, run: [sh, check]}]", "put the file below .nika/"),
        ("hooks: [{on: before, run: [sh, -e, scripts/check.sh]}]", "`scripts/check.sh` is no file that trust"),
        ("hooks: [{on: before, run: [sh, -euo, pipefail, scripts/check.sh]}]", "`scripts/check.sh` is no file"),
        ("hooks: [{on: before, run: [timeout, '5', sh, x/y.sh]}]", "`x/y.sh` is no file that trust binds to"),
        ("hooks: [{on: before, run: [env, A=b, sh, x/y.sh]}]", "`x/y.sh` is no file that trust binds to"),
        ("hooks: [{on: before, run: [python3, -W, ignore, x/y.py]}]", "`x/y.py` is no file that trust binds to"),
    ] {
        let said = world().file("repo/conf/rules.txt", "").project(text).refused();
        assert!(said.contains(want), "{text}: {said}");
    }
    let said = world().user("hooks:\n  - on: before\n    run: [sh,\n      ./hook.sh]").refused();
    assert!(said.contains("config.yaml:4:7: `./hook.sh` would be a file"), "{said}");
    for words in ["./check", "sh, check/it.sh", "python3, .nika/hooks/check"] {
        let said = world().user(&format!("hooks: [{{on: before, run: [{words}]}}]")).refused();
        assert!(said.contains("whichever repository is open"), "{words}: {said}");
    }
    let scene = world().file("repo/tools/check", "");
    let program = scene.path("repo/tools/check");
    let said = scene.user(&format!("hooks: [{{on: before, run: [sh, {}]}}]", program.display())).refused();
    assert!(said.contains("lies in this workspace"), "{said}");
    // What names no file of the workspace, and scripts that trust binds to, are as they were.
    let free = "hooks: [{on: before, run: [logger, -t, nika]}, {on: after, run: [sh, -c, cd src/ && true]}, \
                {on: after, run: [sh, ~/hooks/a.sh]}, {on: after, run: [python3, -W, ignore, ~/hooks/a.py]}]";
    world().file("repo/nika", "").user(free).load();
    world().file("repo/.nika/hooks/a.sh", "").project("hooks: [{on: before, run: [sh, .nika/hooks/a.sh]}]").load();
}
