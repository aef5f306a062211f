//! Workflows that call MCP servers: started when a task first needs them, and said by name when they cannot be had.

use crate::world::{World, world};

/// A server with one tool and one resource.
const HELLO: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"hello","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"greet","description":"Greets somebody.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}]}' ;;
    *'"tools/call"'*) answer='"result":{"content":[{"type":"text","text":"Hello there."}]}' ;;
    *'"resources/read"'*) answer='"result":{"contents":[{"uri":"docs://guide","mimeType":"text/plain","text":"How to greet."}]}' ;;
    *) answer='"error":{"code":-32601,"message":"no such method"}' ;;
  esac
  if [ -n "$id" ]; then printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"; fi
done
"#;

/// A world with these servers in the person's own configuration, `hello.sh` at hand for them.
pub fn serving(servers: &str) -> World {
    let world = world().file("hello.sh", HELLO);
    let dir = world.path("home/.config/nika");
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join("config.yaml"), format!("mcp:\n  servers:\n{servers}")).expect("a file");
    world
}

/// The server of most scenes, which nobody has asked for anything yet.
pub const UNSEEN: &str = "    hello: {command: sh, args: [hello.sh]}\n";

const BOTH: &str = r#"
schema: nika/workflow@1
permits: {tools: [mcp__hello]}
tasks:
  - id: greet
    invoke: {mcp: hello, tool: greet, params: {name: Ada}}
  - id: guide
    invoke: {mcp: hello, resource: "docs://guide"}
outputs: {said: "{{ tasks.greet }}", guide: "{{ tasks.guide }}"}
"#;

#[test]
fn the_first_call_of_a_server_starts_it() {
    let world = serving(UNSEEN).file("w.nika.yaml", BOTH);
    world.run(&["run", "w.nika.yaml"]).exits(3).complains("NIKA-893").complains("tools: mcp__hello");
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    ran.exits(0).says("Hello there.").says("How to greet.");
    // Its tools are pinned now, and it is started again all the same.
    world.run(&["run", "w.nika.yaml", "--yes"]).exits(0).says("Hello there.").says("How to greet.");
}

#[test]
fn what_a_server_is_not_stated_for_is_refused_before_it_is_asked() {
    let narrow = BOTH.replace("[mcp__hello]", "[mcp__hello__greet]");
    let world = serving(UNSEEN).file("w.nika.yaml", &narrow);
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("resources/read"), "{ran:?}");
}

#[test]
fn a_server_that_cannot_be_had_is_said_and_no_tool_is_called_unknown() {
    let servers = "    dead: {command: sh, args: [-c, 'exit 3']}\n    \
                   mute: {command: sleep, args: ['60'], connect_timeout_ms: 300}\n";
    let world = serving(servers);
    let calling = |server: &str| {
        format!(
            "schema: nika/workflow@1\npermits: {{tools: [mcp__{server}]}}\ntasks:\n  - id: a\n    invoke: {{mcp: {server}, tool: greet, params: {{name: Ada}}}}\n"
        )
    };
    let world = world
        .file("dead.nika.yaml", &calling("dead"))
        .file("mute.nika.yaml", &calling("mute"))
        .file("none.nika.yaml", &calling("none"));
    let dead = world.run(&["run", "dead.nika.yaml", "--yes"]);
    assert!(dead.err.contains("'dead'") && dead.err.contains("NIKA-70"), "{dead:?}");
    world.run(&["run", "mute.nika.yaml", "--yes"]).exits(1).complains("'mute'").complains("NIKA-704");
    for ran in [dead, world.run(&["run", "none.nika.yaml", "--yes"])] {
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(!ran.err.contains("NIKA-101"), "{ran:?}");
    }
}

#[test]
fn a_server_that_waits_for_trust_is_refused_before_anything_begins() {
    let text = "schema: nika/workflow@1\npermits: {tools: [mcp__hello], exec: ['touch began'], fs: {write: [began]}}\ntasks:\n  - {id: first, exec: [touch, began]}\n  - {id: a, depends_on: first, agent: {prompt: x, tools: [mcp__hello]}}\n";
    let servers = "{\"mcpServers\": {\"hello\": {\"command\": \"sh\", \"args\": [\"hello.sh\"]}}}";
    let world = world().file("hello.sh", HELLO).file(".mcp.json", servers).file("w.nika.yaml", text);
    world.run(&["run", "w.nika.yaml", "--yes"]).exits(3).complains("NIKA-701").complains("nika trust");
    assert!(!world.root().join("began").exists());
}
