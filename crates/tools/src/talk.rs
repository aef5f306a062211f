//! The conversation: questions, messages, skills, plan mode, an answer as an object.
//!
//! Which of them there are depends on who is at the other end: nothing is listed that cannot work there.

pub mod ask_user_question;
pub mod enter_plan_mode;
pub mod exit_plan_mode;
pub mod send_user_message;
pub mod skill;
pub mod structured_output;

use std::fmt;
use std::sync::Arc;

use nika_contract::{AnyTool, Erased, Herald};
use nika_host::fs::Workspace;

/// What the tools of the conversation stand on.
#[derive(Clone, Default)]
pub struct Talk {
    /// Who shows a message to the person; without one there is no `send_user_message`.
    pub herald: Option<Arc<dyn Herald>>,
    /// The skills; without them there is no `skill`.
    pub skills: Option<Arc<dyn skill::Skills>>,
    /// Whether a caller may want an object for an answer.
    pub objects: bool,
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Talk").field("objects", &self.objects).finish_non_exhaustive()
    }
}

/// Every tool of the conversation that can work here.
pub fn all(talk: &Talk, files: &Arc<Workspace>) -> Vec<Box<dyn AnyTool>> {
    let mut tools: Vec<Box<dyn AnyTool>> = vec![
        Erased::boxed(ask_user_question::AskUserQuestion),
        Erased::boxed(enter_plan_mode::EnterPlanMode),
        Erased::boxed(exit_plan_mode::ExitPlanMode),
    ];
    if let Some(herald) = &talk.herald {
        let herald = Arc::clone(herald);
        tools.push(Erased::boxed(send_user_message::SendUserMessage { files: Arc::clone(files), herald }));
    }
    if let Some(skills) = &talk.skills {
        tools.push(Erased::boxed(skill::Skill { files: Arc::clone(files), skills: Arc::clone(skills) }));
    }
    if talk.objects {
        tools.push(Erased::boxed(structured_output::StructuredOutput));
    }
    tools
}
