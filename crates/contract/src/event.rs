//! The one table of events: what a journal line may be.

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// The value of a line's `event` field.
    pub name: &'static str,
    /// When it is written.
    pub when: &'static str,
    /// Its fields beyond those of every line.
    pub fields: &'static str,
}

/// A session's file begins.
pub const SESSION_STARTED: &str = "SessionStarted";
/// A call begins.
pub const CALL_BEGUN: &str = "CallBegun";
/// A call ends.
pub const CALL_ENDED: &str = "CallEnded";
/// A person is asked.
pub const PERMISSION_REQUEST: &str = "PermissionRequest";
/// The question is settled.
pub const PERMISSION_SETTLED: &str = "PermissionSettled";
/// A tool asks a person what only they know.
pub const INQUIRY: &str = "Inquiry";
/// The inquiry is answered.
pub const INQUIRY_ANSWERED: &str = "InquiryAnswered";
/// A command hook ran.
pub const HOOK_RAN: &str = "HookRan";
/// A tool answered.
pub const TOOL_RESULT: &str = "ToolResult";
/// A file was read.
pub const TOOL_READ: &str = "ToolRead";
/// A file was written.
pub const TOOL_WRITE: &str = "ToolWrite";
/// A file was edited.
pub const TOOL_EDIT: &str = "ToolEdit";
/// Files were listed by pattern.
pub const TOOL_GLOB: &str = "ToolGlob";
/// Files were searched.
pub const TOOL_GREP: &str = "ToolGrep";
/// A command was run.
pub const TOOL_BASH: &str = "ToolBash";
/// A path's pre-image was kept.
pub const CHECKPOINT: &str = "Checkpoint";
/// A change was taken back.
pub const UNDONE: &str = "Undone";
/// An interrupted change set was settled at start.
pub const RECOVERED: &str = "Recovered";

/// Every event.
pub const TABLE: &[Event] = &[
    Event { name: SESSION_STARTED, when: "a session's file begins", fields: "nika, workspace, mode" },
    Event {
        name: CALL_BEGUN,
        when: "a call arrived; written before anything else happens",
        fields: "call, tool, origin (the caller's own name for the call, where it has one), arguments (secrets redacted, \
                 long values shortened)",
    },
    Event {
        name: HOOK_RAN,
        when: "a person's command was heard about a call, before or after it",
        fields: "call, tool, on (before, after), hook, at, outcome (decided, crashed, timed-out, not-found, malformed), \
                 detail, decision (allow, ask, deny, none), reason, arguments (those it puts in place, redacted), took_us",
    },
    Event { name: PERMISSION_REQUEST, when: "a verdict is a question", fields: "call, tool, reasons" },
    Event {
        name: PERMISSION_SETTLED,
        when: "the question was answered, or nobody could be asked",
        fields: "call, answer (yes, no, always, nobody, later), who, rule",
    },
    Event { name: INQUIRY, when: "a tool that may run asks what only a person knows", fields: "call, tool, question" },
    Event {
        name: INQUIRY_ANSWERED,
        when: "the inquiry was answered, or nobody could be asked",
        fields: "call, answer (chosen, wrote, declined, nobody, later), text",
    },
    Event {
        name: CHECKPOINT,
        when: "before a path is changed, its former content is kept",
        fields: "call, path, before, after (sha256, null for absent), mode",
    },
    Event { name: TOOL_READ, when: "`read` answered", fields: "call and the tool's facts" },
    Event { name: TOOL_WRITE, when: "`write` or `change_set` answered", fields: "call and the tool's facts" },
    Event { name: TOOL_EDIT, when: "`edit` or `notebook_edit` answered", fields: "call and the tool's facts" },
    Event { name: TOOL_GLOB, when: "`glob` or `list_dir` answered", fields: "call and the tool's facts" },
    Event { name: TOOL_GREP, when: "`grep` answered", fields: "call and the tool's facts" },
    Event {
        name: TOOL_BASH,
        when: "`bash` answered",
        fields: "call and the tool's facts: exit_code, wall_ms, sandbox (the profile that held), cwd, job",
    },
    Event { name: TOOL_RESULT, when: "any other tool answered", fields: "call and the tool's facts" },
    Event { name: UNDONE, when: "a change was taken back", fields: "call, undone (the call taken back), paths" },
    Event {
        name: RECOVERED,
        when: "a change set that a kill interrupted was finished or rolled back",
        fields: "change_set, outcome",
    },
    Event {
        name: CALL_ENDED,
        when: "a call ended, whichever way: done, failed, refused, cancelled or crashed",
        fields: "call, tool, ok, code, message, decision, source, took_us, chars, spilled",
    },
];

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique() {
        for row in super::TABLE {
            assert_eq!(super::TABLE.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
