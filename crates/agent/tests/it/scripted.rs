//! The scripted model: it says its lines, and says what is wrong where it is asked otherwise than it expects.

use nika_agent::provider::{
    Arguments, Asking, Call, CallResult, Kind, Message, Part, Provider, Role, Scripted, Stop, Usage,
};
use serde_json::json;

use crate::loopback::{ask, ask_with, calls, object, text, user};

fn script(text: &str) -> Scripted {
    Scripted::parse("demo.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn told(id: &str, text: &str, is_error: bool) -> Message {
    let result = CallResult { id: id.into(), name: "read".into(), text: text.into(), is_error, images: Vec::new() };
    Message { role: Role::Tool, parts: vec![Part::Result(result)] }
}

fn said(parts: Vec<Part>) -> Message {
    Message { role: Role::Assistant, parts }
}

const TWO_TURNS: &str = r#"
context_tokens: 50000
prices: {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}
turns:
  - expect:
      tools_include: [read]
      tools_exclude: [rocket]
      system_contains: [Be brief]
      last_user_contains: a.txt
      messages: 1
    think: It has to be read.
    say: I read the file, which takes no time at all.
    calls:
      - {id: one, tool: read, arguments: {path: a.txt, lines: [1, 2]}}
      - {tool: list_dir}
      - {tool: read, raw: '{"path": '}
    usage: {input: 100, cache_read: 50, output: 20, reasoning: 5}
  - expect:
      results:
        - {id: one, contains: hello, is_error: false}
    say: It says hello.
"#;

#[tokio::test]
async fn a_conversation_of_two_turns() {
    let model = script(TWO_TURNS);
    let mut messages = vec![user("What is in a.txt?")];
    let (answered, pieces) = ask(&model, &messages).await;
    let answered = answered.unwrap();
    assert_eq!(answered.stop, Stop::Calls);
    assert_eq!(answered.usage, Usage { input: 100, cache_read: 50, cache_write: 0, output: 20, reasoning: 5 });
    let made = calls(&answered);
    assert_eq!(object(&made[0]), json!({"path": "a.txt", "lines": [1, 2]}));
    assert_eq!((made[0].id.as_str(), made[1].id.as_str()), ("one", "call_1_2"));
    assert_eq!(made[2].arguments, Arguments::Malformed("{\"path\": ".into()));
    // Several pieces of text, and together all of it.
    let texts: Vec<&str> = pieces.iter().filter_map(|piece| piece.strip_prefix("text:")).collect();
    assert!(texts.len() > 1);
    assert_eq!(texts.concat(), "I read the file, which takes no time at all.");
    assert_eq!(pieces[0], "began");
    assert!(pieces.contains(&"thinking:It has to be rea".to_owned()), "{pieces:?}");

    messages.push(said(answered.parts));
    messages.push(told("one", "1: hello", false));
    let (answered, _) = ask(&model, &messages).await;
    let answered = answered.unwrap();
    assert_eq!((text(&answered).as_str(), answered.stop), ("It says hello.", Stop::Done));

    let error = ask(&model, &messages).await.0.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::Script, "demo.yaml: the script has no more turns (it had 2)")
    );
    assert_eq!(error.kind.code().to_string(), "NIKA-807");
}

#[tokio::test]
async fn a_difference_names_file_line_and_what_was_there_instead() {
    let expectations = [
        ("tools_include: [rocket]", "expected the tool `rocket` to be offered; offered were list_dir, read"),
        ("tools_exclude: [read]", "expected the tool `read` not to be offered; it was"),
        ("system_contains: [Be long]", "expected the system's text to contain 'Be long'; it was 'Be brief.'"),
        (
            "last_user_contains: b.txt",
            "expected the last message of the person to contain 'b.txt'; it was 'Read a.txt'",
        ),
        ("messages: 2", "expected 2 messages; there were 3"),
        ("must_call: read", "expected `read` to be the tool to call; it was None"),
        ("results: [{id: two}]", "expected the result of call `two`; there is none (results are there of one)"),
        (
            "results: [{contains: hello}]",
            "expected the first result of the last message to contain 'hello'; it was 'NIKA-208 nothing'",
        ),
        (
            "results: [{lacks: nothing}]",
            "expected the first result of the last message not to contain 'nothing'; it was 'NIKA-208 nothing'",
        ),
        (
            "results: [{id: one, code: 205}]",
            "expected the result of call `one` to begin with NIKA-205; it was 'NIKA-208 nothing'",
        ),
        (
            "results: [{id: one, is_error: false}]",
            "expected the result of call `one` to be no failure; it was one: 'NIKA-208 nothing'",
        ),
    ];
    let call =
        Part::Call(Call { id: "one".into(), name: "read".into(), arguments: Arguments::Object(Default::default()) });
    let messages = [user("Read a.txt"), said(vec![call]), told("one", "NIKA-208 nothing", true)];
    for (expect, difference) in expectations {
        let text = format!("# A demonstration.\nturns:\n  - say: never said\n  - expect: {{{expect}}}\n    say: x\n");
        let error = ask(&script(&text), &messages).await.0.expect_err(expect);
        assert_eq!(error.kind, Kind::Script);
        assert_eq!(error.message, format!("demo.yaml, line 4, turn 2: {difference}"));
    }
    let met = "{id: one, contains: nothing, lacks: hello, code: NIKA-208, is_error: true}";
    let text_of = format!("turns:\n  - say: never said\n  - {{say: fine, expect: {{results: [{met}]}}}}\n");
    assert_eq!(text(&ask(&script(&text_of), &messages).await.0.unwrap()), "fine");
    let forced = script("turns: [{say: fine, expect: {must_call: read}}]");
    assert!(ask_with(&forced, &messages[..1], Some("read")).await.0.is_ok());
}

/// A process that was killed and began again asks with a conversation that is already under way.
#[tokio::test]
async fn a_conversation_under_way_goes_on_where_it_is() {
    let text_of = "turns: [{say: one}, {fault: 529}, {say: two}, {say: three}]";
    let before = [
        user("go"),
        said(vec![Part::Text("one".into())]),
        user("on"),
        said(vec![Part::Text("two".into())]),
        user("on"),
    ];
    assert_eq!(text(&ask(&script(text_of), &before).await.0.unwrap()), "three");
    // After one answer the fault is still to come.
    assert_eq!(ask(&script(text_of), &before[..3]).await.0.unwrap_err().kind, Kind::Overloaded);
}

#[tokio::test]
async fn other_conversations_have_their_own_turns() {
    let model = script(
        "turns: [{say: main one}, {say: main two}]\n\
         conversations:\n\
         \x20 - when: {first_user_contains: survey}\n\
         \x20   turns: [{say: sub one}]\n\
         \x20 - when: {name_begins: session-1, last_user_contains: Summarise}\n\
         \x20   repeat: true\n\
         \x20   turns: [{say: summary}]\n\
         \x20 - when: {system_contains: nobody says this}\n\
         \x20   turns: []\n",
    );
    let say = async |message: &str| text(&ask(&model, &[user(message)]).await.0.unwrap());
    assert_eq!(say("build it").await, "main one");
    assert_eq!(say("survey the house").await, "sub one");
    assert_eq!(say("Summarise").await, "summary");
    assert_eq!(say("Summarise").await, "summary");
    assert_eq!(say("go on").await, "main two");
}

#[tokio::test]
async fn faults_come_with_what_was_said_before_them() {
    let model =
        script("turns: [{say: half of it, fault: cut}, {fault: 429, retry_after_ms: 250}, {say: all, stop: length}]");
    let (answered, pieces) = ask(&model, &[user("go")]).await;
    assert_eq!(answered.unwrap_err().kind, Kind::Cut);
    assert_eq!(pieces, ["began", "text:half of it"]);
    let error = ask(&model, &[user("go")]).await.0.unwrap_err();
    assert_eq!((error.kind, error.retry_after_ms), (Kind::Limited, Some(250)));
    assert_eq!(ask(&model, &[user("go")]).await.0.unwrap().stop, Stop::Length);
}

#[test]
fn a_script_that_cannot_be_read_names_the_place() {
    let cases = [
        ("turns:\n  - sya: hello\n", "line 2"),
        ("turns:\n  - fault: 999\n", "`999` is no fault; there are cut, timeout"),
        ("turns: [{calls: [{tool: a, arguments: {x: 1}, raw: y}]}]", "both `arguments` and `raw`"),
        ("{}", "neither `turns` nor `conversations`"),
        ("turns: [", "demo.yaml"),
    ];
    for (text, expected) in cases {
        let error = Scripted::parse("demo.yaml", text).unwrap_err();
        assert_eq!(error.kind, Kind::Script);
        assert!(error.message.starts_with("demo.yaml: ") && error.message.contains(expected), "{text}: {error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
}

/// The example of docs/models.md, played to its end.
#[tokio::test]
async fn the_example_of_the_documentation_plays() {
    let page = include_str!("../../../../docs/models.md");
    let section = page.split("## A scripted model").nth(1).unwrap();
    let example = section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    // The tools and the system's text of these tests are others.
    let example = example
        .replace("[read, edit]", "[read]")
        .replace("system_contains: [Nika]", "system_contains: [Be brief]")
        .replace("{system_contains: keep the memory of an agent}", "{last_user_contains: Summarise}");
    let model = script(&example);
    let mut messages = vec![user("Fix the test")];
    let answered = ask(&model, &messages).await.0.unwrap();
    let ids: Vec<String> = calls(&answered).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["look", "call_1_2"]);
    messages.push(said(answered.parts));
    let mut results = told("look", "1: fn add(a: i32, b: i32) -> i32 { a - b }", false);
    results.parts.extend(told("call_1_2", "NIKA-100 the arguments are no JSON object", true).parts);
    messages.push(results);
    assert_eq!(ask(&model, &messages).await.0.unwrap_err().kind, Kind::Cut);
    assert_eq!(text(&ask(&model, &messages).await.0.unwrap()), "It subtracts. I correct that.");
    assert_eq!(text(&ask(&model, &[user("Survey the place")]).await.0.unwrap()), "There is one crate.");
    for _ in 0..2 {
        assert_eq!(text(&ask(&model, &[user("Summarise")]).await.0.unwrap()), "Nothing has happened yet.");
    }
}

/// Agents that work side by side ask the same script, each from its own beginning.
#[test]
fn many_conversations_at_once_keep_their_own_places() {
    let model = script("turns: [{say: one}, {say: two}, {say: three}]");
    let talk = &|name: String| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let messages = [user("go")];
        let said = (0..3).map(|_| {
            let asking = Asking { system: "", tools: &[], messages: &messages, cache_key: &name, must_call: None };
            text(&runtime.block_on(model.answer(&asking, &mut |_| {})).unwrap())
        });
        said.collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let talks: Vec<_> = (0..8).map(|nth| scope.spawn(move || talk(format!("agent-{nth}")))).collect();
        for talk in talks {
            assert_eq!(talk.join().unwrap(), ["one", "two", "three"]);
        }
    });
}
