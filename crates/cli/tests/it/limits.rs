//! What is small: the number of open files, the first list.

use serde_json::json;

use crate::finding::FOR_AGENTS;
use crate::peer::Peer;
use crate::world::world;

/// A search of many directories finds the same with few descriptors, as `ulimit -n` leaves on small machines.
#[test]
fn grep_finds_the_same_with_few_open_files() {
    let mut world = world();
    for dir in 0..120 {
        // Some beside each other, some in each other.
        let below = (0..dir % 12).map(|level| format!("/l{level}")).collect::<String>();
        for file in 0..3 {
            world = world.file(&format!("d{dir}{below}/f{file}.txt"), "a needle\nhay\n");
        }
    }
    let words = ["call", "grep", "pattern=needle", "output_mode=count", "--output", "json"];
    let whole = world.run(&words).json();
    assert_eq!(whole["structured"]["files"], 360);
    assert_eq!(whole["structured"]["completeness"]["complete"], true, "{whole}");
    for limit in [64, 1024] {
        let nika = world.nika(&words);
        let mut limited = std::process::Command::new("/bin/sh");
        limited.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]).arg(nika.get_program());
        limited.args(nika.get_args()).current_dir(world.root()).env_clear();
        limited.envs(nika.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = crate::world::Ran::of(limited.output().expect("it starts"));
        let found = ran.exits(0).json();
        assert_eq!(found["content"], whole["content"], "with {limit} open files");
    }
}

/// The first list costs a model at most 2,500 tokens. JSON of this kind has 4.2 bytes a token or more, by o200k_base;
/// `cargo xtask bench mcp` counts them.
#[test]
fn the_first_list_is_short_and_everything_else_is_found_from_it() {
    const MOST_BYTES: usize = 2_500 * 42 / 10;
    let world = world();
    let mut server = world.nika(&["serve"]);
    server.env("PATH", crate::powershell::installed(&world));
    let mut peer = Peer::start(server);
    peer.initialize("2025-11-25");
    let listed = peer.request("tools/list", json!({}))["result"]["tools"].clone();
    let bytes = listed.to_string().len();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes of at most {MOST_BYTES}");
    let listed: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(listed.contains(&"nika_tool_search") && listed.contains(&"nika_call"), "{listed:?}");
    let surface = world.run(&["tools", "--json"]).json();
    for tool in surface.as_array().expect("a list").iter().filter_map(|tool| tool["canonical"].as_str()) {
        if listed.contains(&format!("nika_{tool}").as_str()) || FOR_AGENTS.contains(&tool) {
            continue;
        }
        let found = peer.call("nika_tool_search", json!({"query": format!("select:{tool}")}));
        let text = found["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("\"name\":\"nika_{tool}\"")), "{tool}: {found}");
    }
    peer.end();
}

#[test]
fn a_list_names_tools_that_there_are() {
    let world = world();
    let refused = world.run(&["serve", "--list", "read,edti"]);
    refused.exits(2).complains("no tool is called `edti`").complains("edit");
    let ours = ["read", "nika_edit", "mcp__later__tool", "tool_search", "call"].join(",");
    world.run(&["serve", "--list", &ours]).exits(0);
    world.run(&["serve", "--dialect", "claude", "--list", "Read,bash"]).exits(0);
    std::fs::create_dir_all(world.root().join(".nika")).expect("a directory");
    std::fs::write(world.root().join(".nika/config.yaml"), "tools:\n  list: [read, grpe]\n").expect("written");
    let refused = world.run(&["serve"]);
    refused.complains(".nika/config.yaml:2:16: no tool is called 'grpe'").complains("grep");
}

#[test]
fn a_page_of_nothing_is_refused() {
    let world = world().file("a.txt", "one\n");
    for words in [&["call", "list_dir", "limit=0"][..], &["call", "glob", "pattern=*", "limit=0"]] {
        world.run(words).exits(2).complains("takes at least 1, not 0");
    }
}
