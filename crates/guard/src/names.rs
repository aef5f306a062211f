//! What other systems call our tools. One table, for calls in their vocabulary and for rules that name their tools.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Canonical name, then Claude Code's, Claw Code's, Claw Code Agent's; empty where a system has no such tool.
pub const NAMES: &[(&str, [&str; 3])] = &[
    ("read", ["Read", "read_file", "read_file"]),
    ("write", ["Write", "write_file", "write_file"]),
    ("edit", ["Edit", "edit_file", "edit_file"]),
    ("notebook_edit", ["NotebookEdit", "NotebookEdit", "notebook_edit"]),
    ("list_dir", ["LS", "", "list_dir"]),
    ("glob", ["Glob", "glob_search", "glob_search"]),
    ("grep", ["Grep", "grep_search", "grep_search"]),
    ("tool_search", ["ToolSearch", "ToolSearch", "tool_search"]),
    ("bash", ["Bash", "bash", "bash"]),
    ("job_output", ["BashOutput", "", ""]),
    ("job_stop", ["KillShell", "", ""]),
    ("repl", ["REPL", "REPL", ""]),
    ("powershell", ["PowerShell", "PowerShell", ""]),
    ("sleep", ["Sleep", "Sleep", "sleep"]),
    ("ask_user_question", ["AskUserQuestion", "AskUserQuestion", "ask_user_question"]),
    ("send_user_message", ["SendUserMessage", "SendUserMessage", ""]),
    ("structured_output", ["StructuredOutput", "StructuredOutput", ""]),
    ("skill", ["Skill", "Skill", "Skill"]),
    ("enter_plan_mode", ["EnterPlanMode", "EnterPlanMode", "EnterPlanMode"]),
    ("exit_plan_mode", ["ExitPlanMode", "ExitPlanMode", "ExitPlanMode"]),
    ("todo_write", ["TodoWrite", "TodoWrite", "todo_write"]),
    ("plan_get", ["", "", "plan_get"]),
    ("update_plan", ["", "", "update_plan"]),
    ("plan_clear", ["", "", "plan_clear"]),
    ("task_create", ["TaskCreate", "TaskCreate", "task_create"]),
    ("task_get", ["TaskGet", "TaskGet", "task_get"]),
    ("task_list", ["TaskList", "TaskList", "task_list"]),
    ("task_update", ["TaskUpdate", "TaskUpdate", "task_update"]),
    ("task_start", ["", "", "task_start"]),
    ("task_complete", ["", "", "task_complete"]),
    ("task_block", ["", "", "task_block"]),
    ("task_cancel", ["", "", "task_cancel"]),
    ("task_next", ["", "", "task_next"]),
    ("task_output", ["TaskOutput", "TaskOutput", "TaskOutput"]),
    ("task_stop", ["TaskStop", "TaskStop", "TaskStop"]),
    ("run_task_packet", ["", "RunTaskPacket", ""]),
    ("web_fetch", ["WebFetch", "WebFetch", "web_fetch"]),
    ("web_search", ["WebSearch", "WebSearch", "web_search"]),
    ("search_list_providers", ["", "", "search_list_providers"]),
    ("search_activate_provider", ["", "", "search_activate_provider"]),
    ("remote_trigger", ["RemoteTrigger", "RemoteTrigger", "remote_trigger"]),
    ("agent", ["Agent", "Agent", "Agent"]),
    ("delegate_agent", ["", "", "delegate_agent"]),
    ("workflow_list", ["", "", "workflow_list"]),
    ("workflow_run", ["Workflow", "", "workflow_run"]),
    ("mcp_auth", ["McpAuth", "McpAuth", ""]),
    ("mcp_list_tools", ["", "", "mcp_list_tools"]),
    ("mcp_call_tool", ["MCP", "MCP", "mcp_call_tool"]),
    ("mcp_list_resources", ["ListMcpResources", "ListMcpResources", "mcp_list_resources"]),
    ("mcp_read_resource", ["ReadMcpResource", "ReadMcpResource", "mcp_read_resource"]),
];

/// Second names that one of them answers to.
const ALSO: &[(&str, &str)] = &[("send_user_message", "Brief")];

/// Tools of ours that no other system has.
const OURS: &[&str] = &["change_set", "undo", "checkpoints", "call", "job_input", "job_list", "exec"];

/// Tools of the surface that this build does not have yet: who writes a rule for one writes no slip.
const TO_COME: &[(&str, [&str; 3])] = &[
    ("lsp", ["LSP", "LSP", "LSP"]),
    ("team_create", ["TeamCreate", "TeamCreate", "team_create"]),
    ("team_list", ["", "", "team_list"]),
    ("team_get", ["", "", "team_get"]),
    ("team_delete", ["TeamDelete", "TeamDelete", "team_delete"]),
    ("send_message", ["SendMessage", "", "send_message"]),
    ("team_messages", ["", "", "team_messages"]),
    ("worker_create", ["", "WorkerCreate", ""]),
    ("worker_get", ["", "WorkerGet", ""]),
    ("worker_observe", ["", "WorkerObserve", ""]),
    ("worker_await_ready", ["", "WorkerAwaitReady", ""]),
    ("worker_resolve_trust", ["", "WorkerResolveTrust", ""]),
    ("worker_send_prompt", ["", "WorkerSendPrompt", ""]),
    ("worker_restart", ["", "WorkerRestart", ""]),
    ("worker_terminate", ["", "WorkerTerminate", ""]),
    ("worker_observe_completion", ["", "WorkerObserveCompletion", ""]),
    ("cron_create", ["CronCreate", "CronCreate", ""]),
    ("cron_delete", ["CronDelete", "CronDelete", ""]),
    ("cron_list", ["CronList", "CronList", ""]),
    ("config_list", ["", "", "config_list"]),
    ("config_get", ["", "", "config_get"]),
    ("config_set", ["Config", "Config", "config_set"]),
    ("account_status", ["", "", "account_status"]),
    ("account_login", ["", "", "account_login"]),
    ("account_logout", ["", "", "account_logout"]),
    ("remote_connect", ["", "", "remote_connect"]),
    ("remote_disconnect", ["", "", "remote_disconnect"]),
    ("remote_status", ["", "", "remote_status"]),
    ("worktree_enter", ["EnterWorktree", "", "worktree_enter"]),
    ("worktree_exit", ["ExitWorktree", "", "worktree_exit"]),
    ("worktree_status", ["", "", "worktree_status"]),
    ("testing_permission", ["", "TestingPermission", ""]),
];

/// Every name of a tool, in any dialect, of this build or of one to come.
pub fn all() -> impl Iterator<Item = &'static str> + Clone {
    let rows = NAMES.iter().chain(TO_COME);
    let of_rows = rows.flat_map(|(ours, theirs)| std::iter::once(*ours).chain(theirs.iter().copied()));
    let also = ALSO.iter().map(|(_, other)| *other);
    of_rows.chain(OURS.iter().copied()).chain(also).filter(|name| !name.is_empty())
}

/// Whether a name is one of a tool; what other servers bring (`mcp__…`) is known only when they are asked.
pub fn is_known(name: &str) -> bool {
    name.starts_with("mcp__") || all().any(|known| known == name.strip_prefix("nika_").unwrap_or(name))
}

/// Canonical names and what others call them, pair by pair.
pub(crate) fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let named = NAMES.iter().flat_map(|(ours, theirs)| theirs.iter().map(|other| (*ours, *other)));
    named.chain(ALSO.iter().copied()).filter(|(_, other)| !other.is_empty())
}

/// The canonical name for one that another system uses, written exactly so; any other name is its own.
pub fn canonical(name: &str) -> &str {
    static OURS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| pairs().map(|(ours, other)| (other, ours)).collect());
    OURS.get(name).copied().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_every_dialect_and_slips_are_not() {
        for name in ["grep", "Grep", "grep_search", "nika_grep", "Brief", "undo", "lsp", "WorkerCreate", "mcp__a__b"] {
            assert!(is_known(name), "{name}");
        }
        for name in ["gerp", "GREP", "nosuch", "", "nika_"] {
            assert!(!is_known(name), "{name}");
        }
        // What is here is not to come.
        assert!(TO_COME.iter().all(|(name, _)| NAMES.iter().all(|(known, _)| known != name)));
    }

    #[test]
    fn a_name_means_one_tool() {
        for (ours, other) in pairs() {
            assert!(pairs().all(|(tool, name)| name != other || tool == ours), "{other}");
            // A name of theirs that is a name of ours is the same tool.
            assert!(NAMES.iter().all(|(tool, _)| *tool != other || *tool == ours), "{other}");
        }
    }
}
