//! Arguments that a tool refuses in the middle of a run: what the document writes was held against the tool by the
//! check, so what is left is data, and said as data. A template made a value that the tool does not take, or what is
//! there is not what the document takes for granted.

use nika_contract::{ToolError, code};

use crate::check::OF_ARGUMENTS;
use crate::model::{Called, Command, Dynamic, Task, Template, Verb};
use crate::template::is_template;

/// The error as the run says it. One of a server's tool stays what it is: only `--strict` has asked that server.
pub(super) fn said(task: &Task, error: ToolError) -> ToolError {
    let of_inputs = error.code == code::RUN_INPUT;
    let called = match &task.verb {
        Verb::Invoke(invoke) => match &invoke.what {
            Called::Tool(name) => name.value.as_str(),
            Called::Workflow(path) => path.value.as_str(),
            Called::Resource { .. } => return error,
        },
        verb => verb.name(),
    };
    if !(OF_ARGUMENTS.contains(&error.code) || of_inputs) || called.starts_with("mcp__") {
        return error;
    }
    let why = match is_made(task, &error.message) {
        true => format!("what its templates made does not fit `{called}`"),
        false => format!("`{called}` does not take this, as things are here"),
    };
    let message = format!("`{}`: {why}: {}", task.id.value, error.message);
    let hint = error.hint.unwrap_or_else(|| "`nika trace show` has the outputs before it".to_owned());
    ToolError::new(code::RUN_DATA, message).hint(hint)
}

/// Whether a template made what a refusal is about: the parameter that it names first, else any.
fn is_made(task: &Task, message: &str) -> bool {
    let named = message.strip_prefix('`').and_then(|rest| rest.split(['`', '.', '[']).next()).unwrap_or_default();
    let open = |template: &Template| is_template(&template.text);
    match &task.verb {
        Verb::Invoke(invoke) => match &invoke.params {
            Dynamic::Object(entries) => match entries.iter().find(|(name, _)| name.value == named) {
                Some((_, value)) => value.has_templates(),
                None => invoke.params.has_templates(),
            },
            other => other.has_templates(),
        },
        Verb::Exec(exec) => {
            let words = match &exec.command {
                Command::Words(words) => words.as_slice(),
                Command::Shell(_) => &[],
            };
            words.iter().chain(&exec.cwd).chain(&exec.stdin).chain(exec.env.iter().map(|(_, value)| value)).any(open)
        }
        Verb::Fetch(fetch) => {
            open(&fetch.url)
                || fetch.headers.iter().any(|(_, value)| open(value))
                || fetch.body.as_ref().is_some_and(Dynamic::has_templates)
        }
        Verb::Infer(_) | Verb::Agent(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::{at, calling, param, task};

    #[test]
    fn what_a_template_made_is_data_and_what_is_there_is_too() {
        let mut made = task("find", &[]);
        made.verb = calling("grep", param("{{ use.x }}"));
        let refused = |message: &str| ToolError::new(code::INVALID_REGEX, message).hint("literal: true");
        let error = said(&made, refused("`in`: no pattern"));
        assert_eq!((error.code, error.hint.as_deref()), (code::RUN_DATA, Some("literal: true")));
        assert_eq!(error.message, "`find`: what its templates made does not fit `grep`: `in`: no pattern");
        // A path that a document writes, in a world where it leads elsewhere.
        let mut written = task("look", &[]);
        written.verb = calling("read", param("x"));
        let error = said(&written, ToolError::argument("in", "is no PDF"));
        assert_eq!(error.code, code::RUN_DATA);
        assert!(error.message.contains("`read` does not take this, as things are here: `in`"), "{error}");
    }

    #[test]
    fn other_failures_and_those_of_servers_stay_what_they_are() {
        let mut call = task("find", &[]);
        call.verb = calling("grep", param("{{ use.x }}"));
        let missing = ToolError::new(code::NOT_FOUND, "there is no file");
        assert_eq!(said(&call, missing.clone()), missing);
        call.verb = calling("mcp__s__t", param("{{ use.x }}"));
        let refused = ToolError::argument("in", "is missing");
        assert_eq!(said(&call, refused.clone()), refused);
        call.verb = Verb::Invoke(crate::model::Invoke {
            what: Called::Workflow(at("w.nika.yaml".to_owned())),
            params: param("{{ use.x }}"),
        });
        let error = said(&call, ToolError::new(code::RUN_INPUT, "inputs of `w`: `in` takes a number"));
        assert_eq!(error.code, code::RUN_DATA);
    }
}
