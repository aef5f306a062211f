//! Where secrets go. Their values are hidden in everything that is shown; these are places that hiding does not reach:
//! a model's provider, the arguments of a process, and what the workflow answers with.

use nika_contract::code;

use super::texts;
use crate::finding::Finding;
use crate::model::{Command, Flow, Index, Template, Verb};
use crate::template::names::walk;
use crate::template::{is_template, source};

/// Looks for secrets where others read them.
pub(super) fn check(flow: &Flow, unbroken: &[Index]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in unbroken {
        let task = &flow.tasks[*index];
        let id = &task.id.value;
        let mut look = |template: &Template, place: &str, instead: &str| {
            for name in named(template) {
                let message = format!("`{id}`: the secret `{name}` would reach {place}");
                findings.push(Finding::error(code::FLOW_SECRET, template.at, message).suggest(instead));
            }
        };
        let prompt = "leave it out: what a task does with a secret belongs into its `env` or its `headers`";
        match &task.verb {
            Verb::Infer(infer) => {
                look(&infer.prompt, "a model's provider", prompt);
                infer.system.iter().for_each(|template| look(template, "a model's provider", prompt));
            }
            Verb::Agent(agent) => {
                look(&agent.prompt, "a model's provider", prompt);
                agent.system.iter().for_each(|template| look(template, "a model's provider", prompt));
            }
            Verb::Exec(exec) => {
                if let Command::Words(words) = &exec.command {
                    let instead = "hand it over as a variable of `env`, and let the program read that";
                    for word in words {
                        look(word, "the arguments of a process, which every program on the machine can read", instead);
                    }
                }
            }
            Verb::Fetch(fetch) => look(
                &fetch.url,
                "a URL, which servers and proxies write into their logs",
                "send it in `headers` or in `body`",
            ),
            Verb::Invoke(_) => {}
        }
    }
    for (name, value) in &flow.outputs {
        texts::inside(value, &mut |template| {
            for secret in named(template) {
                let message = format!("the output `{}` would hold the secret `{secret}`", name.value);
                findings.push(Finding::error(code::FLOW_SECRET, template.at, message));
            }
        });
    }
    findings
}

/// The secrets that a template names.
fn named(template: &Template) -> Vec<String> {
    // Most templates name none, and are not read for it.
    if !is_template(&template.text) || !template.text.contains("secrets") {
        return Vec::new();
    }
    let walked = walk(
        &source(&template.text),
        &[("secrets".to_owned(), super::Type::Object { fields: Vec::new(), open: true })],
    );
    let mut names: Vec<String> = walked.below("secrets");
    // All of them at once is no less than one.
    if names.is_empty() && walked.roots.iter().any(|root| root == "secrets") {
        names.push("…".to_owned());
    }
    names.sort();
    names.dedup();
    names
}
