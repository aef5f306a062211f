//! What a repository brings is said to people without what steers their terminal.

use crate::world::world;

/// Colour, a cleared screen, and a text for the clipboard.
const STEERS: &str = "\\e[31m\\e[2J\\e]52;c;QQ==\\a";

#[test]
fn no_command_prints_what_steers_a_terminal() {
    let config = format!(
        "permissions:\n  deny:\n    - \"read(x{STEERS})\"\nhooks:\n  - on: before\n    run: [\"true{STEERS}\"]\n"
    );
    let bad = "permissions:\n  deny:\n    - \"exec(a\\e[31m)\"\n";
    let servers = format!("{{\"mcpServers\": {{\"a{0}\": {{\"command\": \"x{0}\"}}}}}}", "\\u001b[2J");
    let workflow = format!("schema: nika/workflow@1\nname: \"x{STEERS}\"\ntasks:\n  - id: \"a{STEERS}\"\n");
    let world = world().file(".nika/config.yaml", &config).file(".mcp.json", &servers).file("w.nika.yaml", &workflow);
    let odd = "a\u{1b}[31mb\u{9b}2J";
    let tried: &[&[&str]] = &[
        &["config"],
        &["hooks", "list"],
        &["mcp", "list"],
        &["trust"],
        &["policy", "explain", "ls"],
        &["policy", "test"],
        &["check", "w.nika.yaml"],
        &["upgrade", "w.nika.yaml"],
        &["explain", odd],
        &["tools", "show", odd],
        &["call", odd],
        &["call", "read", "file_path=x", "--mode", odd],
        &["log", "show", odd],
    ];
    let plain = |said: &str| !said.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    let mut shown = 0;
    for words in tried {
        let ran = world.run(words);
        assert!(plain(&ran.out) && plain(&ran.err), "{words:?}: {ran:?}");
        shown += usize::from(ran.out.contains('␛') || ran.err.contains('␛'));
    }
    assert!(shown > 4, "the words are still shown, as pictures: {shown}");
    let world = world.file(".nika/config.yaml", bad);
    for words in [&["call", "read", "file_path=x"][..], &["trust"], &["config"], &["policy", "explain", "ls"]] {
        let ran = world.run(words);
        assert!(ran.err.contains("NIKA-903") && plain(&ran.out) && plain(&ran.err), "{words:?}: {ran:?}");
    }
}
