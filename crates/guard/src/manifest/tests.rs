//! Manifests in both styles, and every way to get one wrong.

use super::*;

fn said(text: &str) -> Vec<String> {
    let entries = parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let one = |entry: Entry| {
        let says = match entry.says {
            Says::Trusted(said) => said.to_string(),
            Says::Setting(_, value) => value.text(),
            Says::SafeEnv(name) => name,
            Says::Deny(rule) => rule.text,
            Says::Budget(budget, amount) => budget.shown(amount),
            Says::Message(message) => format!("{}={}", message.tool.as_deref().unwrap_or("*"), message.text),
        };
        format!("{}:{} {} {says}", entry.spot.line, entry.spot.column, entry.key)
    };
    entries.into_iter().map(one).collect()
}

const CAMEL: &str = r#"{
  "trusted": false,
  "managedSettings": {"mode": "ask", "theme": {"dark": true}},
  "safeEnv": ["CI", "LC_ALL"],
  "denyTools": "Bash",
  "denyToolPrefixes": ["mcp__github__"],
  "budget": {"maxToolCalls": 3, "maxTotalCostUsd": 0.25},
  "hooks": {
    "beforePrompt": "Be brief.",
    "beforeTool": {"*": ["a", "b"], "edit_file": "c"},
    "afterTool": {"bash": "d"},
    "afterTurn": ["e"]
  }
}"#;

const SNAKE: &str = r#"{
  "trusted": false,
  "managed_settings": {"mode": "ask", "theme": {"dark": true}},
  "safe_env_names": ["CI", "LC_ALL"],
  "deny_tools": "Bash",
  "deny_tool_prefixes": ["mcp__github__"],
  "budget_overrides": {"max_tool_calls": 3, "max_total_cost_usd": 0.25},
  "hooks": {
    "before_prompt": "Be brief.",
    "before_tool": {"*": ["a", "b"], "edit_file": "c"},
    "after_tool": {"bash": "d"},
    "after_turn": ["e"]
  }
}"#;

#[test]
fn both_styles_say_the_same() {
    let plain = |text: &str| {
        said(text).iter().map(|line| line.split_once(' ').expect("a place").1.to_owned()).collect::<Vec<_>>()
    };
    let want = [
        "trusted false",
        "managedSettings.mode ask",
        "managedSettings.theme {dark: true}",
        "safeEnv CI",
        "safeEnv LC_ALL",
        "denyTools tool(bash)",
        "denyToolPrefixes tool(mcp__github__*)",
        "budget.max_tool_calls 3",
        "budget.max_total_cost_usd 0.25",
        "hooks.beforePrompt *=Be brief.",
        "hooks.beforeTool *=a",
        "hooks.beforeTool *=b",
        "hooks.beforeTool edit_file=c",
        "hooks.afterTool bash=d",
        "hooks.afterTurn *=e",
    ];
    assert_eq!(plain(CAMEL), want);
    assert_eq!(plain(SNAKE), want);
    assert_eq!(said(CAMEL)[5], "5:16 denyTools tool(bash)");
    assert_eq!(said("{}"), Vec::<String>::new());
}

#[test]
fn a_denial_means_the_tool_whatever_it_is_called() {
    for (manifest, tool, want) in [
        (r#"{"denyTools": ["Bash"]}"#, "bash", true),
        (r#"{"denyTools": ["BASH"]}"#, "bash", true),
        (r#"{"denyTools": ["read_file"]}"#, "read", true),
        (r#"{"denyTools": ["nika_edit"]}"#, "edit", true),
        (r#"{"denyTools": ["LS"]}"#, "list_dir", true),
        (r#"{"denyTools": ["read"]}"#, "read_more", false),
        (r#"{"denyTools": ["rea?"]}"#, "read", false),
        (r#"{"denyTools": ["*"]}"#, "anything", true),
        (r#"{"denyTools": ["mcp__GitHub__push"]}"#, "mcp__github__push", true),
        (r#"{"denyToolPrefixes": ["write_"]}"#, "write", true),
        (r#"{"denyToolPrefixes": ["Notebook"]}"#, "notebook_edit", true),
        (r#"{"denyToolPrefixes": ["glob_"]}"#, "glob", true),
        (r#"{"denyToolPrefixes": ["gr"]}"#, "grep", true),
        (r#"{"denyToolPrefixes": ["gr"]}"#, "agr", false),
        (r#"{"denyToolPrefixes": ["mcp__*"]}"#, "mcp__a__b", true),
        (r#"{"denyToolPrefixes": ["nika_ed"]}"#, "edit", true),
    ] {
        let rules = parse(manifest).expect(manifest).into_iter().filter_map(|entry| match entry.says {
            Says::Deny(rule) => Some(rule),
            _ => None,
        });
        assert_eq!(rules.into_iter().any(|rule| rule.names_tool(tool)), want, "{manifest} on {tool}");
    }
}

#[test]
fn texts_find_their_tool_in_any_dialect() {
    let entries = parse(CAMEL).expect("it parses");
    let found = entries.into_iter().filter_map(|entry| match entry.says {
        Says::Message(message) => Some(message),
        _ => None,
    });
    let messages = Messages(found.collect());
    let texts = |tool| messages.for_tool(Moment::BeforeTool, tool).map(|m| m.text.as_str()).collect::<Vec<_>>();
    assert_eq!((texts("edit"), texts("read")), (vec!["a", "b", "c"], vec!["a", "b"]));
    assert_eq!(messages.at(Moment::AfterTurn).count(), 1);
}

#[test]
fn what_cannot_be_meant_is_an_error_with_its_place() {
    for (text, at, word) in [
        ("[]", "1:1", "an object"),
        ("", "1:1", "ends"),
        ("{\"trusted\": \"no\"}", "1:13", "true or false"),
        ("{\"denyTool\": []}", "1:2", "unknown key `denyTool`"),
        ("{\"denyTools\": [],\n \"deny_tools\": []}", "2:2", "what line 1 says"),
        ("{\"denyTools\": [1]}", "1:16", "text"),
        ("{\"denyTools\": {}}", "1:15", "text or a list"),
        ("{\"denyTools\": [\"\"]}", "1:16", "no tool's name"),
        ("{\"denyTools\": null}", "1:15", "`null`"),
        ("{\"safeEnv\": [\"A=B\"]}", "1:14", "no variable"),
        ("{\"budget\": {\"max_tool_calls\": -1}}", "1:31", "a whole number"),
        ("{\"budget\": {\"max_tool_calls\": \"3\"}}", "1:31", "a whole number"),
        ("{\"budget\": {\"max_calls\": 1}}", "1:13", "unknown key `max_calls`"),
        ("{\"budget\": {\"max_tool_calls\": 1, \"maxToolCalls\": 1}}", "1:34", "other style"),
        ("{\"budget\": {\"maxTotalCostUsd\": 0.0000001}}", "1:32", "six decimals"),
        ("{\"hooks\": {\"beforeTool\": \"x\"}}", "1:26", "an object"),
        ("{\"hooks\": {\"beforeTools\": {}}}", "1:12", "unknown key"),
        ("{\"hooks\": {\"afterTurn\": \"\"}}", "1:25", "0"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(format!("{}:{}", error.spot.line, error.spot.column), at, "{text}: {error}");
        assert!(error.what.contains(word), "{text}: {error}");
    }
    let (word, known) = parse("{\"denyTool\": []}").expect_err("unknown").unknown.expect("it is known what is known");
    assert!(word == "denyTool" && known.contains(&"denyTools"));
}

#[test]
fn names_of_credentials_are_known() {
    for name in
        ["GITHUB_TOKEN", "aws_secret_access_key", "OPENAI_API_KEY", "DB_PASSWORD", "SSH_AUTH_SOCK", "PGPASS_PWD"]
    {
        assert!(looks_like_credential(name), "{name}");
    }
    for name in ["CI", "LC_ALL", "PATH", "RUST_LOG", "PWD", "KEYBOARD", "MONKEY"] {
        assert!(!looks_like_credential(name), "{name}");
    }
}
