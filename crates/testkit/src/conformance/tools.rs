//! The suite's tools, one row each; those that ask for input are in `asking`.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{AnyTool, Block, Cx, Erased, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use nika_mcp::ListKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::asking;
use super::samples::{png, wav};
use super::schemas::{Verbatim, draft_2020_12, mirrored_in_header};
use super::slot::{Slot, Slots};

/// Between two steps of a tool that takes its time.
const STEP: Duration = Duration::from_millis(50);

/// Takes nothing; answers as the conformance suite expects of its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {
    #[serde(rename = "__slot", default)]
    #[schemars(skip)]
    slot: Option<u64>,
}

/// Takes one text; answers as the conformance suite expects of its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    /// What to ask the client's model.
    pub prompt: String,
    #[serde(rename = "__slot", default)]
    #[schemars(skip)]
    slot: Option<u64>,
}

/// Takes one message; answers as the conformance suite expects of its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// What to ask the client's user.
    pub message: String,
    #[serde(rename = "__slot", default)]
    #[schemars(skip)]
    slot: Option<u64>,
}

/// Takes anything; its schema is what the conformance suite looks at.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Anything {
    #[serde(rename = "__slot", default)]
    #[schemars(skip)]
    slot: Option<u64>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Parameters that carry a slot.
trait Slotted {
    fn slot(&self) -> Option<u64>;
}

macro_rules! slotted {
    ($($params:ty),*) => { $(impl Slotted for $params { fn slot(&self) -> Option<u64> { self.slot } })* };
}
slotted!(Nothing, Prompt, Message, Anything);

/// A type for each row, because a tool's specification is a constant of its type.
macro_rules! tools {
    ($($type:ident $name:literal $params:ty => $run:path;)*) => { $(
        struct $type(Slots);

        impl Tool for $type {
            type Params = $params;
            const SPEC: Spec = Spec::new($name, $name, Group::Test).eager();

            fn effects(&self, _: &$params, _: &Scene<'_>) -> Result<Effects, ToolError> {
                Ok(Effects::session())
            }

            async fn run(&self, params: $params, cx: &Cx<'_>) -> Result<Output, ToolError> {
                let slot = self.0.find(params.slot())?;
                $run(params, slot, cx).await
            }
        }
    )*
        fn derived(slots: &Slots) -> Vec<Box<dyn AnyTool>> {
            vec![$(Erased::boxed($type(slots.clone()))),*]
        }
    };
}

tools! {
    SimpleText "test_simple_text" Nothing => simple_text;
    Image "test_image_content" Nothing => image;
    Audio "test_audio_content" Nothing => audio;
    Embedded "test_embedded_resource" Nothing => embedded;
    Mixed "test_multiple_content_types" Nothing => mixed;
    Logging "test_tool_with_logging" Nothing => logging;
    Failing "test_error_handling" Nothing => failing;
    Progressing "test_tool_with_progress" Nothing => progressing;
    Reconnection "test_reconnection" Nothing => reconnection;
    QuietLogging "test_logging_tool" Nothing => quiet_logging;
    ToolChange "test_trigger_tool_change" Nothing => tool_change;
    PromptChange "test_trigger_prompt_change" Nothing => prompt_change;
    MissingCapability "test_missing_capability" Nothing => asking::missing_capability;
    StreamingElicitation "test_streaming_elicitation" Nothing => asking::streaming_elicitation;
    Sampling "test_sampling" Prompt => asking::sampling;
    Elicitation "test_elicitation" Message => asking::elicitation;
    ElicitationDefaults "test_elicitation_sep1034_defaults" Nothing => asking::elicitation_defaults;
    ElicitationEnums "test_elicitation_sep1330_enums" Nothing => asking::elicitation_enums;
    InputElicitation "test_input_required_result_elicitation" Nothing => asking::input_elicitation;
    InputSampling "test_input_required_result_sampling" Nothing => asking::input_sampling;
    InputRoots "test_input_required_result_list_roots" Nothing => asking::input_roots;
    InputState "test_input_required_result_request_state" Nothing => asking::input_state;
    InputMultiple "test_input_required_result_multiple_inputs" Nothing => asking::input_multiple;
    InputRounds "test_input_required_result_multi_round" Nothing => asking::input_rounds;
    InputTampered "test_input_required_result_tampered_state" Nothing => asking::input_state;
    InputCapabilities "test_input_required_result_capabilities" Nothing => asking::input_capabilities;
    SchemaDraft "json_schema_2020_12_tool" Anything => echo;
    HeaderMirror "test_x_mcp_header" Anything => echo;
}

/// All of them.
pub(super) fn all(slots: &Slots) -> Vec<Box<dyn AnyTool>> {
    let given = [
        Verbatim::boxed(SchemaDraft(slots.clone()), draft_2020_12()),
        Verbatim::boxed(HeaderMirror(slots.clone()), mirrored_in_header()),
    ];
    let derived =
        derived(slots).into_iter().filter(|tool| !given.iter().any(|own| own.spec().name == tool.spec().name));
    let mut tools: Vec<_> = derived.collect();
    tools.extend(given);
    tools
}

async fn simple_text(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(Output::text("This is a simple text response for testing."))
}

async fn image(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(blocks(vec![Block::Image { mime: "image/png", data: png() }]))
}

async fn audio(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(blocks(vec![Block::Audio { mime: "audio/wav", data: wav() }]))
}

async fn embedded(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(blocks(vec![Block::Resource {
        uri: "test://embedded-resource".into(),
        mime: "text/plain".into(),
        text: "This is an embedded resource content.".into(),
    }]))
}

async fn mixed(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(blocks(vec![
        Block::Text("Multiple content types test:".into()),
        Block::Image { mime: "image/png", data: png() },
        Block::Resource {
            uri: "test://mixed-content-resource".into(),
            mime: "application/json".into(),
            text: r#"{"test":"data","value":123}"#.into(),
        },
    ]))
}

fn blocks(content: Vec<Block>) -> Output {
    Output { content, ..Output::default() }
}

async fn logging(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        slot.client.log("info", line.into()).await;
        tokio::time::sleep(STEP).await;
    }
    Ok(Output::text("Tool with logging executed successfully"))
}

async fn failing(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Err(ToolError::new(code::BUG, "This tool intentionally returns an error for testing"))
}

async fn progressing(_: Nothing, _: Arc<Slot>, cx: &Cx<'_>) -> Result<Output, ToolError> {
    for done in [0, 50, 100] {
        cx.progress.step(done, Some(100), &format!("Completed step {done} of 100"));
        tokio::time::sleep(STEP).await;
    }
    Ok(Output::text("progressed"))
}

async fn reconnection(_: Nothing, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(Output::text("Reconnection test completed successfully."))
}

async fn quiet_logging(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    slot.client.log("info", "for those who named a level".into()).await;
    Ok(Output::text("logged, where it was wanted"))
}

async fn tool_change(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    slot.client.changed(ListKind::Tools).await;
    Ok(Output::text("told"))
}

async fn prompt_change(_: Nothing, slot: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    slot.client.changed(ListKind::Prompts).await;
    Ok(Output::text("told"))
}

async fn echo(params: Anything, _: Arc<Slot>, _: &Cx<'_>) -> Result<Output, ToolError> {
    Ok(Output::text(json!(params.rest).to_string()))
}
