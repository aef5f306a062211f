//! The trait that a tool implements, and the object the pipeline holds.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use nika_guard::Effects;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::code;
use crate::cx::{Cx, Scene};
use crate::error::ToolError;
use crate::misfit;
use crate::output::Output;
use crate::port::{BoxFuture, Inquiry};
use crate::rehearsal::Rehearsal;
use crate::schema::input_schema;
use crate::spec::Spec;

/// A tool. It never asks for permission, truncates, logs, or formats for a provider.
pub trait Tool: Send + Sync + 'static {
    /// Parameters, schema, validation and documentation in one. The struct's doc comment is the
    /// tool's description, each field's the parameter's: a model reads them.
    type Params: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// What is fixed about it.
    const SPEC: Spec;

    /// The schema of [`Output::structured`], where the result is data.
    fn output_schema() -> Option<Value> {
        None
    }

    /// What the call would do. Resolves paths, opens nothing.
    fn effects(&self, params: &Self::Params, scene: &Scene<'_>) -> Result<Effects, ToolError>;

    /// What is wrong with the arguments wherever the call is made, beyond what [`Tool::effects`] refuses: a pattern that
    /// does not compile. A check of a workflow asks before anything runs; a call finds it out by itself.
    fn flaw(&self, _params: &Self::Params) -> Option<ToolError> {
        None
    }

    /// What would change, for the person who is asked; an error where the call cannot work, so that nobody
    /// is asked for nothing. Runs under a permit to look, nothing more.
    fn preview(&self, _params: &Self::Params, _cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(None)
    }

    /// Tries the call where nothing of it counts, so that the question shows what it did and a yes is to just that:
    /// [`Tool::run`] finds what was held at [`Beside::held`](crate::Beside::held). Runs under a permit that
    /// lets nothing be put in force. `None` where there is nothing to try.
    fn rehearse(
        &self,
        _params: &Self::Params,
        _cx: &Cx<'_>,
    ) -> impl Future<Output = Result<Option<Rehearsal>, ToolError>> + Send {
        async { Ok(None) }
    }

    /// What a person has to be asked before it runs, once it may: no permission, but what only they know.
    /// The answer is [`Cx::reply`].
    fn inquires(&self, _params: &Self::Params, _scene: &Scene<'_>) -> Result<Option<Inquiry>, ToolError> {
        Ok(None)
    }

    /// A copy of the arguments, of a tool whose run may find that it would do other things than it was judged for: it fails
    /// with `CHANGED_SINCE_READ` then, having changed nothing, its [`Tool::effects`] say what they are now, and the call is
    /// judged again.
    fn again(_params: &Self::Params) -> Option<Self::Params> {
        None
    }

    /// What this machine lacks for it: then nobody is shown the tool, and [`Tool::effects`] answers with the same.
    fn lacks(&self) -> Option<ToolError> {
        None
    }

    /// Does it.
    fn run(&self, params: Self::Params, cx: &Cx<'_>) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// A tool whose parameters' type is forgotten.
pub trait AnyTool: Send + Sync + fmt::Debug {
    /// What is fixed about it.
    fn spec(&self) -> &'static Spec;
    /// What it does, for a model.
    fn description(&self) -> &str;
    /// JSON schema of its arguments.
    fn input_schema(&self) -> &Value;
    /// JSON schema of its structured result.
    fn output_schema(&self) -> Option<&Value>;
    /// Types the arguments; an error names the field and what it takes.
    fn parse(&self, arguments: Value) -> Result<Box<dyn Prepared + '_>, ToolError>;
    /// See [`Tool::lacks`].
    fn lacks(&self) -> Option<ToolError> {
        None
    }
}

/// Tools of other servers: they come and go while we run.
pub trait Guests: Send + Sync + fmt::Debug {
    /// Another number whenever the tools are others.
    fn version(&self) -> u64;

    /// Those that are known now. Starts nothing and waits for nobody.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// Looks for the tool of this name, which is not among them, where it would come from. An error says why it
    /// cannot be looked for; afterwards it may or may not be there.
    fn seek<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// A call whose arguments fit.
pub trait Prepared: Send + Sync {
    /// See [`Tool::effects`].
    fn effects(&self, scene: &Scene<'_>) -> Result<Effects, ToolError>;
    /// See [`Tool::flaw`].
    fn flaw(&self) -> Option<ToolError> {
        None
    }
    /// See [`Tool::preview`].
    fn preview(&self, cx: &Cx<'_>) -> Result<Option<String>, ToolError>;
    /// See [`Tool::rehearse`].
    fn rehearse<'a>(&'a self, _cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Option<Rehearsal>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
    /// See [`Tool::inquires`].
    fn inquires(&self, scene: &Scene<'_>) -> Result<Option<Inquiry>, ToolError>;
    /// The same call once more; see [`Tool::again`].
    fn again<'a>(&self) -> Option<Box<dyn Prepared + 'a>>
    where
        Self: 'a,
    {
        None
    }
    /// See [`Tool::run`].
    fn run<'a>(self: Box<Self>, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Output, ToolError>>
    where
        Self: 'a;
}

/// Makes an [`AnyTool`] of a [`Tool`].
pub struct Erased<T> {
    tool: T,
    schema: OnceLock<(String, Value)>,
    output: OnceLock<Option<Value>>,
}

impl<T: Tool> Erased<T> {
    /// Wraps a tool.
    pub fn new(tool: T) -> Erased<T> {
        Erased { tool, schema: OnceLock::new(), output: OnceLock::new() }
    }

    /// Wraps and boxes a tool, for a list of them.
    pub fn boxed(tool: T) -> Box<dyn AnyTool> {
        Box::new(Erased::new(tool))
    }

    fn described(&self) -> &(String, Value) {
        self.schema.get_or_init(|| input_schema::<T::Params>(T::SPEC.open_arguments))
    }
}

impl<T> fmt::Debug for Erased<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erased").finish_non_exhaustive()
    }
}

impl<T: Tool> AnyTool for Erased<T> {
    fn spec(&self) -> &'static Spec {
        const { &T::SPEC }
    }

    fn description(&self) -> &str {
        &self.described().0
    }

    fn input_schema(&self) -> &Value {
        &self.described().1
    }

    fn output_schema(&self) -> Option<&Value> {
        self.output.get_or_init(T::output_schema).as_ref()
    }

    fn parse(&self, arguments: Value) -> Result<Box<dyn Prepared + '_>, ToolError> {
        let params: T::Params = serde_path_to_error::deserialize(arguments).map_err(|error| {
            let path = error.path().to_string();
            let steps: Vec<Option<String>> = error.path().iter().map(step).collect();
            let why = misfit::said(self.input_schema(), &steps, &error.into_inner().to_string());
            let message = if path == "." { why } else { format!("`{path}`: {why}") };
            let fields = self.input_schema().get("properties").and_then(Value::as_object);
            let required: Vec<&str> = self.input_schema()["required"]
                .as_array()
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            let takes: Vec<String> = fields
                .map(|fields| {
                    let mark = |name: &String| if required.contains(&name.as_str()) { "!" } else { "" };
                    fields.keys().map(|name| format!("{name}{}", mark(name))).collect()
                })
                .unwrap_or_default();
            ToolError::new(code::BAD_ARGUMENTS, message).hint(format!(
                "`{}` takes {} (! is required)",
                T::SPEC.name,
                takes.join(", ")
            ))
        })?;
        Ok(Box::new(Call { tool: &self.tool, params }))
    }

    fn lacks(&self) -> Option<ToolError> {
        self.tool.lacks()
    }
}

/// A step into arguments: by a name, or into a list.
fn step(segment: &serde_path_to_error::Segment) -> Option<String> {
    match segment {
        serde_path_to_error::Segment::Map { key } => Some(key.clone()),
        _ => None,
    }
}

struct Call<'t, T: Tool> {
    tool: &'t T,
    params: T::Params,
}

impl<T: Tool> Prepared for Call<'_, T> {
    fn effects(&self, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(self.tool.effects(&self.params, scene)?.of(T::SPEC.name))
    }

    fn flaw(&self) -> Option<ToolError> {
        self.tool.flaw(&self.params)
    }

    fn preview(&self, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        self.tool.preview(&self.params, cx)
    }

    fn rehearse<'a>(&'a self, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Option<Rehearsal>, ToolError>> {
        Box::pin(self.tool.rehearse(&self.params, cx))
    }

    fn inquires(&self, scene: &Scene<'_>) -> Result<Option<Inquiry>, ToolError> {
        self.tool.inquires(&self.params, scene)
    }

    fn again<'a>(&self) -> Option<Box<dyn Prepared + 'a>>
    where
        Self: 'a,
    {
        Some(Box::new(Call { tool: self.tool, params: T::again(&self.params)? }))
    }

    fn run<'a>(self: Box<Self>, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Output, ToolError>>
    where
        Self: 'a,
    {
        Box::pin(self.tool.run(self.params, cx))
    }
}
