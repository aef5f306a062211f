//! Every worked call of every specification.

use std::collections::BTreeSet;

use nika_contract::Example;
use nika_guard::Mode;
use nika_testkit::world;
use nika_tools::talk::structured_output;
use serde_json::{Value, json};

/// Words of what an example is about, long enough to be nobody else's: files and calls, not their parameters' names.
fn words(example: &Example) -> BTreeSet<String> {
    fn said(value: &Value, into: &mut String) {
        match value {
            Value::String(text) => *into += &format!(" {text}"),
            Value::Array(values) => values.iter().for_each(|value| said(value, into)),
            Value::Object(fields) => fields.values().for_each(|value| said(value, into)),
            _ => {}
        }
    }
    let mut all = String::new();
    example.files.iter().for_each(|(path, text)| all += &format!(" {path} {text}"));
    for arguments in example.before.iter().map(|(_, arguments)| *arguments).chain([example.arguments]) {
        said(&serde_json::from_str(arguments).expect("JSON"), &mut all);
    }
    let long = |word: &&str| word.len() >= 5;
    all.split(|c: char| !c.is_alphanumeric()).filter(long).map(str::to_owned).collect()
}

#[test]
fn every_example_of_every_tool_runs_and_says_what_it_shows() {
    let names: Vec<&str> = world().runtime().surface().iter().map(|tool| tool.canonical).collect();
    assert!(names.len() >= 12, "{names:?}");
    let mut lost = Vec::new();
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
            // Data are promised by a schema, and what is text alone has none.
            let tool = scene.runtime().find(&called.outcome.tool).expect("it is listed");
            let (schema, data) = (tool.output_schema(), called.ok().structured.as_ref());
            assert_eq!(data.is_some(), schema.is_some(), "{name}, {}", example.title);
            if let Some((schema, data)) = schema.zip(data) {
                structured_output::fits(schema, data).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            // Most clients show a model data and no text where there are data: what the text says of the scene is in
            // them as well, or the answer is its text.
            if let Some(data) = data.filter(|_| !tool.spec().text) {
                let data = data.to_string();
                let unsaid = |word: &String| text.contains(word) && !data.contains(word);
                let unsaid: Vec<String> = words(example).into_iter().filter(unsaid).collect();
                lost.extend(unsaid.iter().map(|word| format!("{name}, {}: {word} is not in {data}", example.title)));
            }
            assert!(text.contains(example.answer), "{name}, {}: {:?} is not in\n{text}", example.title, example.answer);
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
