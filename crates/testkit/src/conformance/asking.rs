//! The suite's tools that want something of the client: by requests before 2026-07-28, by results
//! that are questions since.

use std::sync::Arc;

use nika_contract::{Cx, Output, ToolError, code};
use nika_mcp::Object;
use serde_json::{Value, json};

use super::schemas::{defaults_form, enums_form, user_form};
use super::slot::{Slot, elicit, sample};
use super::tools::{Message, Nothing, Prompt};

type Done = Result<Output, ToolError>;

pub(super) async fn missing_capability(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    if slot.has("sampling") {
        return Ok(Output::text("The client can sample."));
    }
    let data = json!({ "requiredCapabilities": { "sampling": {} } });
    slot.refuse(-32021, "Missing required client capability", data)
}

pub(super) async fn streaming_elicitation(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    match slot.response("user_name") {
        Some(name) => Ok(Output::text(format!("Hello, {}!", name["content"]["name"]))),
        None => slot.input(&[("user_name", elicit("What is your name?", "name", "string"))], None),
    }
}

/// Sends a request of `{"method", "params"}` and waits.
async fn request(slot: &Slot, request: Value) -> Result<Value, ToolError> {
    let params = request["params"].as_object().cloned().unwrap_or_else(Object::new);
    let answer = slot.client.ask(request["method"].as_str().unwrap_or_default(), params).await;
    answer.map_err(|error| ToolError::new(code::BUG, format!("the client answered {}: {}", error.code, error.message)))
}

pub(super) async fn sampling(params: Prompt, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let answer = request(&slot, sample(&params.prompt, 100)).await?;
    Ok(Output::text(format!("LLM response: {}", text_of(&answer))))
}

/// The text of a sampling result, whose content is a block or a list of them.
fn text_of(answer: &Value) -> &str {
    let content = &answer["content"];
    content["text"].as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default()
}

pub(super) async fn elicitation(params: Message, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let answer = form(&slot, &params.message, user_form()).await?;
    Ok(Output::text(format!("User response: {answer}")))
}

pub(super) async fn elicitation_defaults(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    form(&slot, "Please review and update the form fields with defaults", defaults_form()).await.map(completed)
}

pub(super) async fn elicitation_enums(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    form(&slot, "Please select options from the enum fields", enums_form()).await.map(completed)
}

async fn form(slot: &Slot, message: &str, schema: Value) -> Result<Value, ToolError> {
    let params = json!({ "message": message, "requestedSchema": schema });
    request(slot, json!({ "method": "elicitation/create", "params": params })).await
}

fn completed(answer: Value) -> Output {
    let action = answer["action"].as_str().unwrap_or_default();
    Output::text(format!("Elicitation completed: action={action}, content={}", answer["content"]))
}

pub(super) async fn input_elicitation(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let answer = slot.response("user_name");
    match answer.as_ref().and_then(|answer| answer["content"]["name"].as_str()) {
        Some(name) => Ok(Output::text(format!("Hello, {name}!"))),
        None => slot.input(&[("user_name", elicit("What is your name?", "name", "string"))], None),
    }
}

pub(super) async fn input_sampling(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    match slot.response("capital_question") {
        Some(answer) => Ok(Output::text(text_of(&answer))),
        None => slot.input(&[("capital_question", sample("What is the capital of France?", 100))], None),
    }
}

pub(super) async fn input_roots(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    match slot.response("client_roots") {
        Some(answer) => Ok(Output::text(format!("The client's roots: {}", answer["roots"]))),
        None => slot.input(&[("client_roots", roots())], None),
    }
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// A state that was tampered with never comes here: the server refuses it.
pub(super) async fn input_state(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    match (slot.response("confirm"), slot.client.state()) {
        (Some(_), Some(state)) if state == "asked" => Ok(Output::text("state-ok")),
        _ => slot.input(&[("confirm", elicit("Please confirm", "ok", "boolean"))], Some("asked".into())),
    }
}

pub(super) async fn input_multiple(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let answers = ["user_name", "greeting", "client_roots"].map(|key| slot.response(key));
    match answers {
        [Some(name), Some(greeting), Some(roots)] => {
            let name = &name["content"]["name"];
            Ok(Output::text(format!("{name}: {} ({})", text_of(&greeting), roots["roots"])))
        }
        _ => {
            let requests = [
                ("user_name", elicit("What is your name?", "name", "string")),
                ("greeting", sample("Generate a greeting", 50)),
                ("client_roots", roots()),
            ];
            slot.input(&requests, Some("three".into()))
        }
    }
}

pub(super) async fn input_rounds(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let state = slot.client.state();
    let round = state.as_ref().and_then(|state| state["round"].as_u64()).unwrap_or(0);
    match (round, slot.response("step1"), slot.response("step2")) {
        (1, Some(name), _) => {
            let state = json!({ "round": 2, "name": name["content"]["name"] });
            slot.input(&[("step2", elicit("Step 2: What is your favorite color?", "color", "string"))], Some(state))
        }
        (2, _, Some(color)) => {
            let name = state.map(|state| state["name"].clone()).unwrap_or_default();
            Ok(Output::text(format!("{name} likes {}", color["content"]["color"])))
        }
        _ => {
            let state = json!({ "round": 1 });
            slot.input(&[("step1", elicit("Step 1: What is your name?", "name", "string"))], Some(state))
        }
    }
}

/// Asks for what the client can do, and for nothing else.
pub(super) async fn input_capabilities(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Done {
    let possible = [
        ("elicitation", "confirm", elicit("Please confirm", "ok", "boolean")),
        ("sampling", "greeting", sample("Generate a greeting", 50)),
        ("roots", "client_roots", roots()),
    ];
    let asked: Vec<_> = possible
        .into_iter()
        .filter(|(capability, key, _)| slot.has(capability) && slot.response(key).is_none())
        .map(|(_, key, request)| (key, request))
        .collect();
    if asked.is_empty() { Ok(Output::text("answered")) } else { slot.input(&asked, None) }
}
