//! Every worked call of every specification.

use nika_guard::Mode;
use nika_testkit::world;
use serde_json::{Value, json};

#[test]
fn every_example_of_every_tool_runs_and_says_what_it_shows() {
    let names: Vec<&str> = world().runtime().surface().iter().map(|tool| tool.canonical).collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let spec = *world().runtime().find(name).expect("it is listed").spec();
        assert!(!spec.examples.is_empty(), "{name} has no example");
        for example in spec.examples {
            // Nobody is there to be asked.
            let world = world().mode(Mode::Workspace);
            let mut scene = example.files.iter().fold(world, |world, (path, text)| world.file(path, text));
            if name == "structured_output" {
                // What the caller wants is part of the scene, and no call can say it.
                let failures = json!({"type": "array", "items": {"type": "string"}});
                scene = scene.wants(json!({"properties": {"passed": {"type": "boolean"}, "failures": failures}}));
            }
            for (tool, arguments) in example.before {
                scene.call(tool, serde_json::from_str(arguments).expect("JSON")).ok();
            }
            let arguments: Value = serde_json::from_str(example.arguments).expect("JSON");
            let called = scene.call(name, arguments);
            let text = called.text();
            // Data are promised by a schema, and what is text has none.
            let promised = scene.runtime().find(&called.outcome.tool).expect("it is listed").output_schema().is_some();
            assert_eq!(called.ok().structured.is_some(), promised, "{name}, {}", example.title);
            assert!(text.contains(example.answer), "{name}, {}: {:?} is not in\n{text}", example.title, example.answer);
        }
    }
}
