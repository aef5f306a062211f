//! `tool_search` over the surface that ships: whoever says in their own words what they want is shown the tool for it.

use serde_json::json;

use crate::peer::Peer;
use crate::world::world;

/// What somebody might ask who does not know the name; few words are those of the descriptions.
const PARAPHRASES: &[(&str, [&str; 6])] = &[
    (
        "agent",
        [
            "hand this research off to a helper",
            "spawn a subagent to look through the codebase",
            "have a second assistant investigate a bug",
            "start a worker with its own context",
            "let a colleague explore the repository for me",
            "launch an explorer with another model",
        ],
    ),
    (
        "ask_user_question",
        [
            "ask the user to decide",
            "clarify what the person wants",
            "put a question to the human",
            "let the user choose between options",
            "which one does the user prefer",
            "get a decision from the developer before going on",
        ],
    ),
    (
        "bash",
        [
            "execute a shell command",
            "run the test suite",
            "compile the project with cargo",
            "git status",
            "npm install",
            "use the terminal",
        ],
    ),
    (
        "call",
        [
            "invoke a tool by its name",
            "call something that is not in my list",
            "execute a deferred tool",
            "run a hidden function with these arguments",
            "gateway to other tools",
            "use an unlisted tool",
        ],
    ),
    (
        "change_set",
        [
            "edit several files at once",
            "rename a file",
            "delete a file",
            "atomic multi-file refactoring",
            "move a module to another folder",
            "apply a patch over many files together",
        ],
    ),
    (
        "checkpoints",
        [
            "history of changes",
            "which calls changed files",
            "list snapshots",
            "what can I undo",
            "earlier versions",
            "what did I modify so far",
        ],
    ),
    (
        "delegate_agent",
        [
            "split a job over several agents",
            "run subtasks in parallel by different workers",
            "fan out work to helpers",
            "coordinate multiple subagents with dependencies",
            "orchestrate a team of agents",
            "distribute independent pieces of work",
        ],
    ),
    (
        "edit",
        [
            "replace text in a file",
            "change a line",
            "modify a function",
            "substitute a string",
            "fix a typo in a file",
            "update a version number in Cargo.toml",
        ],
    ),
    (
        "enter_plan_mode",
        [
            "plan before acting",
            "read-only planning",
            "propose a design first",
            "start plan mode",
            "think first",
            "work out an approach without touching anything",
        ],
    ),
    (
        "exit_plan_mode",
        [
            "the plan is ready",
            "get the plan approved",
            "leave plan mode",
            "approval of the plan",
            "show my proposal",
            "done planning, begin the implementation",
        ],
    ),
    (
        "glob",
        [
            "find files by name",
            "files with an extension",
            "locate files matching a pattern",
            "which files changed most recently",
            "list all rust files",
            "where are the test files",
        ],
    ),
    (
        "grep",
        [
            "search text in files",
            "find usages of a function",
            "regex search",
            "ripgrep",
            "look for a string in the code",
            "where is this symbol defined",
        ],
    ),
    (
        "job_input",
        [
            "type an answer into a running program",
            "send text to stdin of a background process",
            "respond to an interactive prompt of a command",
            "press enter in a running process",
            "feed input to a job",
            "write to a process that waits for input",
        ],
    ),
    (
        "job_list",
        [
            "which processes are still running",
            "show background commands",
            "list running jobs",
            "what did I leave running",
            "active dev servers",
            "is anything still running in the background",
        ],
    ),
    (
        "job_output",
        [
            "see what the dev server printed",
            "tail the logs of a background command",
            "check on a long build that I started",
            "get new output of a running process",
            "wait until the server says it is listening",
            "stdout of a background job",
        ],
    ),
    (
        "job_stop",
        [
            "kill a background process",
            "stop the dev server",
            "terminate a running command",
            "end a hanging job",
            "shut down the server I started",
            "interrupt a long running build",
        ],
    ),
    (
        "list_dir",
        [
            "what is in this folder",
            "ls",
            "show directory contents",
            "browse a directory",
            "list entries of a folder",
            "how big are the files in this directory",
        ],
    ),
    (
        "mcp_auth",
        [
            "log in to an mcp server",
            "oauth login for a connector",
            "authenticate with a remote server",
            "sign in to the server that answered unauthorized",
            "renew expired credentials of a server",
            "the mcp server wants a login",
        ],
    ),
    (
        "mcp_call_tool",
        [
            "invoke a tool of an external server",
            "call an mcp tool",
            "use a connector's function",
            "run something that the github server offers",
            "execute a third-party server's tool",
            "call a remote server's tool with arguments",
        ],
    ),
    (
        "mcp_list_resources",
        [
            "which documents does a server offer",
            "browse resources of mcp servers",
            "list mcp resources",
            "what data is available from connectors",
            "resource uris of a server",
            "enumerate external resources",
        ],
    ),
    (
        "mcp_list_tools",
        [
            "which tools do the connected servers have",
            "list mcp tools",
            "what can the integrations do",
            "available mcp servers",
            "are there any connectors configured",
            "status of external servers",
        ],
    ),
    (
        "mcp_read_resource",
        [
            "open a resource by its uri",
            "read an mcp resource",
            "fetch a document from a connected server",
            "get the contents of a server's resource",
            "load data from an mcp server",
            "retrieve a resource of a connector",
        ],
    ),
    (
        "notebook_edit",
        [
            "change a jupyter cell",
            "insert a markdown cell",
            "edit ipynb",
            "remove a code cell from my notebook",
            "update python notebook",
            "add a cell to a notebook",
        ],
    ),
    (
        "plan_clear",
        [
            "throw the plan away",
            "discard the plan",
            "remove my plan",
            "reset the plan",
            "abandon the whole plan",
            "delete all steps of the plan",
        ],
    ),
    (
        "plan_get",
        [
            "what was the plan",
            "show the plan",
            "current plan steps",
            "read my plan",
            "next step of the plan",
            "how far is the plan",
        ],
    ),
    (
        "powershell",
        [
            "run a powershell command",
            "pwsh script",
            "execute a ps1 file",
            "a shell script for windows",
            "use a cmdlet",
            "run Pester tests",
        ],
    ),
    (
        "read",
        [
            "show me a file",
            "view an image",
            "look at pdf pages",
            "open file with line numbers",
            "display the contents of a file",
            "see the last lines of a log",
        ],
    ),
    (
        "remote_trigger",
        [
            "send a webhook",
            "post json to an api",
            "make an http request with headers",
            "trigger a deployment pipeline over http",
            "call a rest endpoint",
            "http DELETE request",
        ],
    ),
    (
        "repl",
        [
            "run a python snippet",
            "evaluate javascript",
            "interactive interpreter with state",
            "compute something in python",
            "execute code in node",
            "keep variables between code runs",
        ],
    ),
    (
        "run_task_packet",
        [
            "let an agent implement something and prove it with acceptance tests",
            "work order with a scope and a commit policy",
            "delegate an objective under strict terms",
            "contract for a coding agent",
            "have a change made and committed only if the tests pass",
            "packet of work with escalation policy",
        ],
    ),
    (
        "search_activate_provider",
        [
            "switch the search engine",
            "use brave for web searches",
            "change search provider",
            "make tavily the default",
            "select another engine for the internet search",
            "set which search backend is asked",
        ],
    ),
    (
        "search_list_providers",
        [
            "which search engines are configured",
            "list search providers",
            "what search backends are available",
            "is searxng set up",
            "show the engines for web search",
            "which provider does the web search use",
        ],
    ),
    (
        "send_user_message",
        [
            "tell the user about progress",
            "notify the person",
            "send a status update",
            "inform the human meanwhile",
            "show a message",
            "let the user know that this takes longer",
        ],
    ),
    (
        "skill",
        [
            "use a skill",
            "instructions for a task",
            "follow a playbook",
            "run a slash command",
            "is there a recipe",
            "load the guide for writing release notes",
        ],
    ),
    (
        "sleep",
        [
            "wait a few seconds",
            "pause before trying again",
            "delay",
            "do nothing for a minute",
            "hold on for some time",
            "wait 10 seconds",
        ],
    ),
    (
        "task_block",
        [
            "a task depends on another",
            "put a task on hold",
            "task is stuck",
            "add a dependency",
            "task has to wait",
            "mark a task as blocked",
        ],
    ),
    (
        "task_cancel",
        [
            "give up a task",
            "abandon a task",
            "cancel a ticket",
            "drop a task",
            "task won't be done",
            "a task is no longer needed",
        ],
    ),
    (
        "task_complete",
        [
            "mark a task done",
            "close a ticket",
            "finish a task",
            "resolve an issue",
            "the task is completed",
            "I have finished this ticket",
        ],
    ),
    (
        "task_create",
        [
            "open a ticket",
            "create an issue for later",
            "delegate work to a background agent",
            "new task",
            "add a task",
            "file a bug to be fixed another time",
        ],
    ),
    (
        "task_get",
        [
            "details of one task",
            "show a ticket",
            "description of a task",
            "one task whole",
            "task notes",
            "look up a task by its id",
        ],
    ),
    (
        "task_list",
        [
            "list all tickets",
            "what tasks are open",
            "show the backlog",
            "remaining tasks",
            "all tasks of the workspace",
            "who is working on which task",
        ],
    ),
    (
        "task_next",
        [
            "what should I work on next",
            "which task is ready",
            "next available task",
            "pick a task",
            "unblocked tasks",
            "what can be started now",
        ],
    ),
    (
        "task_output",
        [
            "wait for an agent to finish",
            "result of a background task",
            "poll a task",
            "has the agent finished",
            "answer of the agent",
            "get what the background agent found",
        ],
    ),
    (
        "task_start",
        [
            "claim a task",
            "begin working on a task",
            "take a task",
            "pick up a ticket",
            "start a task",
            "assign a task to myself and begin",
        ],
    ),
    (
        "task_stop",
        [
            "abort a running task",
            "kill the agent of a task",
            "stop an agent",
            "terminate a task",
            "end the work on a task",
            "halt a background agent",
        ],
    ),
    (
        "task_update",
        [
            "assign a task to somebody",
            "rename a task",
            "reopen a task",
            "delete a task",
            "change a task's priority",
            "edit the description of a ticket",
        ],
    ),
    (
        "todo_write",
        [
            "keep a checklist",
            "track my progress",
            "write down what is left to do",
            "to-do list",
            "tick off an item",
            "note the steps I still have to take",
        ],
    ),
    (
        "tool_search",
        [
            "find a tool for something",
            "what tools are there",
            "discover more capabilities",
            "get the schema of a tool",
            "search available functions",
            "which tool can do this",
        ],
    ),
    (
        "undo",
        [
            "revert my last change",
            "roll back an edit",
            "restore the previous version",
            "take back a mistake",
            "go back to a checkpoint",
            "get the file back as it was before",
        ],
    ),
    (
        "update_plan",
        [
            "make a plan",
            "revise the plan",
            "outline the steps of the work",
            "write a roadmap",
            "add a step to my plan",
            "mark a step of the plan as done",
        ],
    ),
    (
        "web_fetch",
        [
            "open a url",
            "read a web page",
            "download documentation from a website",
            "get the content of a link",
            "what does this page on the internet say",
            "curl an address",
        ],
    ),
    (
        "web_search",
        [
            "google something",
            "search the internet",
            "look up an error message online",
            "find recent news about a library",
            "what is the latest version of react",
            "find websites about a topic",
        ],
    ),
    (
        "workflow_list",
        [
            "which workflows are there",
            "show the pipelines of this repository",
            "available automations",
            "list yaml workflows",
            "what inputs does a workflow take",
            "are there predefined workflows",
        ],
    ),
    (
        "workflow_run",
        [
            "run a workflow",
            "start the release pipeline",
            "execute an automation",
            "kick off a predefined workflow",
            "launch a nika.yaml file",
            "trigger the workflow with inputs",
        ],
    ),
    (
        "write",
        [
            "create a new file",
            "save text to disk",
            "overwrite a file",
            "make a file with this content",
            "put content in a file",
            "generate a README",
        ],
    ),
];

/// More of the same.
const MORE: &str = include_str!("../data/finding.txt");

/// What only an agent is offered whose caller wants an object; the crate of the tools looks for it.
pub const FOR_AGENTS: &[&str] = &["structured_output"];

#[test]
fn paraphrases_find_their_tool_in_the_top_three() {
    let world = world();
    let surface = world.run(&["tools", "--json"]).json();
    let shipped: Vec<&str> =
        surface.as_array().expect("a list").iter().filter_map(|tool| tool["canonical"].as_str()).collect();
    for tool in shipped.iter().filter(|tool| !FOR_AGENTS.contains(tool)) {
        assert!(PARAPHRASES.iter().any(|(known, _)| known == tool), "{tool} has no paraphrases: add six");
    }
    let mut server = world.nika(&["serve"]);
    server.env("PATH", crate::powershell::installed(&world));
    let mut peer = Peer::start(server);
    peer.initialize("2025-11-25");
    let mut missed = Vec::new();
    let others = MORE.lines().filter(|line| !line.starts_with('#'));
    let others = others.map(|line| line.split_once(": ").expect("a tool and queries")).collect::<Vec<_>>();
    let asked = PARAPHRASES.iter().map(|(tool, queries)| (*tool, queries.to_vec()));
    let asked = asked.chain(others.iter().map(|(tool, queries)| (*tool, queries.split(" | ").collect())));
    for (tool, queries) in asked {
        assert!(shipped.contains(&tool), "no tool is called {tool}");
        for query in queries {
            let found = peer.call("nika_tool_search", json!({"query": query, "max_results": 3}));
            let text = found["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned();
            if !text.contains(&format!("\"name\":\"nika_{tool}\"")) {
                missed.push(format!("{tool}: {query}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    peer.end();
}
