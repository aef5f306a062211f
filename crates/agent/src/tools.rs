//! The tools that start agents. What they start is [`crate::sub`]'s.

pub mod agent;
mod begun;
pub mod delegate_agent;
pub mod run_task_packet;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use nika_contract::{AnyTool, Erased};

use crate::sub::Fleet;

/// Every tool of this crate.
pub fn all(fleet: &Arc<Fleet>) -> Vec<Box<dyn AnyTool>> {
    let fleet = || Arc::clone(fleet);
    vec![
        Erased::boxed(agent::AgentTool { fleet: fleet() }),
        Erased::boxed(delegate_agent::DelegateAgent { fleet: fleet() }),
        Erased::boxed(run_task_packet::RunTaskPacket { fleet: fleet() }),
    ]
}

/// The name of a worktree: what a person called it, or words of the task and a few letters that tell it from others.
fn slug(name: Option<&str>, words: &str, unlike: &impl Hash) -> String {
    let plain = |text: &str| -> String {
        let kept: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let parts: Vec<&str> = kept.split('-').filter(|part| !part.is_empty()).collect();
        parts.join("-").chars().take(40).collect::<String>().trim_end_matches('-').to_owned()
    };
    match name.map(plain).filter(|name| !name.is_empty()) {
        Some(name) => name,
        None => {
            let mut hash = DefaultHasher::new();
            unlike.hash(&mut hash);
            let words = Some(plain(words)).filter(|words| !words.is_empty()).unwrap_or_else(|| "agent".to_owned());
            format!("{words}-{:06x}", hash.finish() & 0xff_ffff)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_have_names_that_git_and_a_shell_take() {
        assert_eq!(slug(Some("Fix: the Parser!"), "x", &1), "fix-the-parser");
        let unnamed = slug(None, "Make it — faster", &("s", "p"));
        assert!(unnamed.starts_with("make-it-faster-") && unnamed.len() == "make-it-faster-".len() + 6, "{unnamed}");
        assert_eq!(unnamed, slug(None, "Make it — faster", &("s", "p")), "the same call has the same worktree");
        assert_ne!(unnamed, slug(None, "Make it — faster", &("s", "q")));
        assert!(slug(Some("..."), "日本", &1).starts_with("agent-"));
    }
}
