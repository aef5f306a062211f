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
    fn a_name_means_one_tool() {
        for (ours, other) in pairs() {
            assert!(pairs().all(|(tool, name)| name != other || tool == ours), "{other}");
            // A name of theirs that is a name of ours is the same tool.
            assert!(NAMES.iter().all(|(tool, _)| *tool != other || *tool == ours), "{other}");
        }
    }
}
