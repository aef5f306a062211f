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
/// A command asked for a host.
pub const HOST_ASKED: &str = "HostAsked";
/// A page was fetched.
pub const WEB_FETCH: &str = "WebFetch";
/// The web was searched.
pub const WEB_SEARCH: &str = "WebSearch";
/// A request was sent to another machine.
pub const WEB_REQUEST: &str = "WebRequest";
/// A task row was made, changed or removed.
pub const TASK_CHANGED: &str = "TaskChanged";
/// An agent began to work for this session.
pub const AGENT_SPAWNED: &str = "AgentSpawned";
/// It ended.
pub const AGENT_COMPLETE: &str = "AgentComplete";
/// A path's pre-image was kept.
pub const CHECKPOINT: &str = "Checkpoint";
/// A command was ended that had a hold of what became a guarded file.
pub const GUARDED_HANDLED: &str = "GuardedHandled";
/// A command made a guarded name that nothing stood in for, and it was set aside.
pub const GUARDED_SET_ASIDE: &str = "GuardedSetAside";
/// A change was taken back.
pub const UNDONE: &str = "Undone";
/// An interrupted change set was settled, or could not be.
pub const RECOVERED: &str = "Recovered";
/// An agent asks its model to go on.
pub const AGENT_TURN: &str = "AgentTurn";
/// A request goes to a model.
pub const PROVIDER_CALLED: &str = "ProviderCalled";
/// A model answered.
pub const PROVIDER_RESPONDED: &str = "ProviderResponded";
/// A request to a model failed.
pub const PROVIDER_FAILED: &str = "ProviderFailed";
/// A server of somebody else's was connected to.
pub const MCP_CONNECTED: &str = "McpConnected";
/// A server of somebody else's is asked.
pub const MCP_INVOKE: &str = "McpInvoke";
/// It answered.
pub const MCP_RESPONSE: &str = "McpResponse";
/// It did not, or said that it failed.
pub const MCP_ERROR: &str = "McpError";
/// A conversation was made shorter.
pub const CONTEXT_COMPACTED: &str = "ContextCompacted";
/// An agent's run ended.
pub const AGENT_ENDED: &str = "AgentEnded";

/// A run of a workflow began.
pub const WORKFLOW_STARTED: &str = "WorkflowStarted";
/// A run goes on that was stopped.
pub const WORKFLOW_RESUMED: &str = "WorkflowResumed";
/// A run ended well.
pub const WORKFLOW_COMPLETED: &str = "WorkflowCompleted";
/// A run ended, and tasks of it failed.
pub const WORKFLOW_FAILED: &str = "WorkflowFailed";
/// A run was ended by a bound of its own.
pub const WORKFLOW_ABORTED: &str = "WorkflowAborted";
/// A run was stopped and can be gone on with.
pub const WORKFLOW_PAUSED: &str = "WorkflowPaused";
/// A loop of a workflow knows its elements.
pub const TASK_SCHEDULED: &str = "TaskScheduled";
/// A task of a workflow begins.
pub const TASK_STARTED: &str = "TaskStarted";
/// It ended.
pub const TASK_COMPLETED: &str = "TaskCompleted";
/// It failed.
pub const TASK_FAILED: &str = "TaskFailed";
/// It is not begun, or its failure counts as that.
pub const TASK_SKIPPED: &str = "TaskSkipped";

/// Every event.
pub const TABLE: &[Event] = &[
    Event { name: SESSION_STARTED, when: "a session's file begins", fields: "nika, workspace, mode" },
    Event {
        name: CALL_BEGUN,
        when: "a call arrived; written before anything else happens",
        fields: "call, tool, mode (how the session stands), origin (the caller's own name for the call, where it has \
                 one), arguments (secrets redacted, long values shortened)",
    },
    Event {
        name: HOOK_RAN,
        when: "a person's command was heard about a call, before or after it",
        fields: "call, tool, on (before, after), hook, at, outcome (decided, crashed, timed-out, not-found, malformed), \
                 detail, decision (allow, ask, deny, none), reason, arguments (those it puts in place, redacted), took_us",
    },
    Event {
        name: PERMISSION_REQUEST,
        when: "a verdict is a question",
        fields: "call, tool, reasons; rehearsal of a command that was tried over a layer first: held (whether a yes applies \
                 what it did), exit_code, wall_ms, sandbox, would_change (paths)",
    },
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
        when: "before a path is changed, its former content is kept; for jobs, when it is known what came of it",
        fields: "call, path, before, after (sha256, null for absent), mode",
    },
    Event {
        name: GUARDED_HANDLED,
        when: "somebody gave a guarded name to a file that a job or interpreter could write, or had opened before: it was \
               ended, and the file is to be looked at",
        fields: "call (that began it), paths",
    },
    Event {
        name: GUARDED_SET_ASIDE,
        when: "a command or job that nobody recorded had made a guarded name, with nothing there to stand in for it: it was \
               renamed at the end",
        fields: "call (that began the command), job, paths (as they are called now)",
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
    Event {
        name: HOST_ASKED,
        when: "a command, of a call or a job, asked the proxy for a host: the first time for each port and outcome, at most \
               1000 for one command",
        fields: "call (that began the command), job, host, port, refused (why it was not reached; null where it was)",
    },
    Event {
        name: WEB_FETCH,
        when: "`web_fetch` answered",
        fields: "call and the tool's facts: url, status, bytes, type, hops (the hosts of redirects that were followed, and \
                 who allowed each), cached, hidden (characters that a reader would not have seen)",
    },
    Event {
        name: WEB_SEARCH,
        when: "`web_search` answered",
        fields: "call and the tool's facts: provider, host, results",
    },
    Event {
        name: WEB_REQUEST,
        when: "`remote_trigger` answered",
        fields: "call and the tool's facts: method, url, status, bytes, leads_to (of a redirect)",
    },
    Event {
        name: TASK_CHANGED,
        when: "a tool that makes, changes or removes a task answered",
        fields: "call and the tool's facts: task, status",
    },
    Event {
        name: TOOL_RESULT,
        when: "any other tool answered, or one only showed what it would do (`dry_run`)",
        fields: "call and the tool's facts",
    },
    Event {
        name: AGENT_SPAWNED,
        when: "an agent begins to work for this session",
        fields: "agent (its session), type, depth, stance, tools (those it is left, when its type names some), model, \
                 worktree, task",
    },
    Event {
        name: AGENT_COMPLETE,
        when: "an agent that worked for this session has ended",
        fields: "agent (its session), ok, why, turns, calls, input_tokens, output_tokens, cost_usd",
    },
    Event { name: UNDONE, when: "a change was taken back", fields: "call, undone (the call taken back), paths" },
    Event {
        name: RECOVERED,
        when: "a change set that a kill interrupted was finished or rolled back, or is left as it stands, that at each start; \
               or one could not remove all that it had beside its files",
        fields: "change_set, outcome; of one that is left: note (the file that says what was under way), advice; of what \
                 could not be removed: left (its paths); apart (what others wrote and would have gone with it: path, and \
                 where it lies)",
    },
    Event {
        name: CALL_ENDED,
        when: "a call ended, whichever way: done, failed, refused, cancelled or crashed",
        fields: "call, tool, ok, code, message, decision, source, took_us, chars, spilled",
    },
    Event { name: AGENT_TURN, when: "an agent's model is asked to go on", fields: "turn, messages, tools" },
    Event {
        name: PROVIDER_CALLED,
        when: "a request goes to a model",
        fields: "provider, model, purpose (turn, summary), about_tokens",
    },
    Event {
        name: PROVIDER_RESPONDED,
        when: "the model's answer is whole",
        fields: "provider, model, stop, calls, input, cache_read, cache_write, output, reasoning (tokens), cost_micros \
                 (millionths of a US dollar, null without prices), first_ms, took_ms",
    },
    Event {
        name: PROVIDER_FAILED,
        when: "a request brought no answer, also when it was repeated",
        fields: "provider, model, kind, message",
    },
    Event {
        name: MCP_CONNECTED,
        when: "a call had an MCP server started or reached",
        fields: "call, server, transport, revision, title (the server's own name), tools (how many), first (definitions \
                 pinned for the first time), held_back (those that a person has to approve), took_ms",
    },
    Event {
        name: MCP_INVOKE,
        when: "an MCP server is asked for something",
        fields: "call, server, method, what (the tool or resource)",
    },
    Event { name: MCP_RESPONSE, when: "the MCP server answered", fields: "call, server, is_error, took_ms" },
    Event {
        name: MCP_ERROR,
        when: "the MCP server could not be asked, or gave no answer",
        fields: "call, server, code, message, took_ms",
    },
    Event {
        name: CONTEXT_COMPACTED,
        when: "a conversation became too long, and its older part a summary or its results shorter",
        fields: "before, after (messages), tokens_before, tokens_after (about), by (model, digest, cut)",
    },
    Event {
        name: AGENT_ENDED,
        when: "an agent's run ended",
        fields: "why (done, budget, turns, cancelled, looping, model, withheld, no-object), code, turns, calls, input, \
                 output (tokens), cost_micros",
    },
    Event {
        name: WORKFLOW_STARTED,
        when: "a run of a workflow began; in its trace, as all of the following",
        fields: "run, workflow, file, flow_hash, work_hash (of what the file says but for its limits), inputs (secrets hidden), inputs_hash, permits, tasks, nika",
    },
    Event {
        name: WORKFLOW_RESUMED,
        when: "a run goes on that was stopped",
        fields: "ended (how many tasks and elements are not run again), again (those that had begun)",
    },
    Event { name: TASK_SCHEDULED, when: "a loop knows its elements", fields: "task, count" },
    Event {
        name: TASK_STARTED,
        when: "a task, or an element of its loop, begins; written before its effect",
        fields: "task, element, attempt, verb, origin (what the journal knows its call by)",
    },
    Event {
        name: TASK_COMPLETED,
        when: "it ended; written before anything begins that depends on it",
        fields: "task, element, output (or object, bytes, preview where it is long), took_ms, tokens, cost_micros, \
                 call, instead_of (the error that `on_error` answered)",
    },
    Event {
        name: TASK_FAILED,
        when: "a try of it failed",
        fields: "task, element, attempt, error, took_ms, tokens, cost_micros, again_ms",
    },
    Event {
        name: TASK_SKIPPED,
        when: "it is not begun, or its failure counts as that",
        fields: "task, element, why, error, tokens, cost_micros",
    },
    Event { name: WORKFLOW_COMPLETED, when: "the run ended well", fields: "outputs, took_ms, tokens, cost_micros" },
    Event {
        name: WORKFLOW_FAILED,
        when: "the run ended, and tasks of it failed",
        fields: "error, took_ms, tokens, cost_micros",
    },
    Event {
        name: WORKFLOW_ABORTED,
        when: "the run was ended by a bound of its own",
        fields: "error, took_ms, tokens, cost_micros",
    },
    Event {
        name: WORKFLOW_PAUSED,
        when: "the run was stopped, and can be gone on with",
        fields: "took_ms, tokens, cost_micros",
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
