//! Every template of a task, for looks that do not care which is which.

use crate::model::{Command, Dynamic, OnError, Task, Template, Verb};

/// Calls `look` with each template of a task, its condition left out: that one may stand without braces.
pub(super) fn each(task: &Task, look: &mut dyn FnMut(&Template)) {
    match &task.verb {
        Verb::Infer(infer) => std::iter::once(&infer.prompt).chain(&infer.system).for_each(&mut *look),
        Verb::Agent(agent) => std::iter::once(&agent.prompt).chain(&agent.system).for_each(&mut *look),
        Verb::Exec(exec) => {
            if let Command::Words(words) = &exec.command {
                words.iter().for_each(&mut *look);
            }
            exec.cwd.iter().chain(&exec.stdin).for_each(&mut *look);
            exec.env.iter().for_each(|(_, template)| look(template));
        }
        Verb::Fetch(fetch) => {
            look(&fetch.url);
            fetch.headers.iter().for_each(|(_, template)| look(template));
            fetch.body.iter().for_each(|body| inside(body, look));
        }
        Verb::Invoke(invoke) => {
            inside(&invoke.params, look);
            if let crate::model::Called::Resource { uri, .. } = &invoke.what {
                look(uri);
            }
        }
    }
    if let Some(each) = &task.for_each {
        inside(&each.items, look);
    }
    if let OnError::Value(value) = &task.on_error {
        inside(value, look);
    }
}

/// Calls `look` with each template inside a value.
pub(super) fn inside(dynamic: &Dynamic, look: &mut dyn FnMut(&Template)) {
    match dynamic {
        Dynamic::Plain(_) => {}
        Dynamic::Text(template) => look(template),
        Dynamic::List(items) => items.iter().for_each(|item| inside(item, look)),
        Dynamic::Object(entries) => entries.iter().for_each(|(_, value)| inside(value, look)),
    }
}
