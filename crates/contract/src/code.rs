//! The one table of codes. Append-only: a number, once given, keeps its meaning.
//!
//! 1xx call · 2xx file · 3xx search · 4xx shell · 5xx net · 6xx work · 7xx MCP and LSP ·
//! 8xx agent and flow · 9xx host. 200 to 209 are the ten of the original design.

use std::fmt;

/// A stable number for a way of failing, shown as `NIKA-209`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NIKA-{:03}", self.0)
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The number.
    pub code: Code,
    /// The name used in Rust and in documents.
    pub name: &'static str,
    /// What happened, in a few words.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

macro_rules! codes {
    ($($number:literal $name:ident $title:literal $advice:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($number);)*
        /// Every code, in order.
        pub const TABLE: &[Entry] =
            &[$(Entry { code: $name, name: stringify!($name), title: $title, advice: $advice }),*];
    };
}

codes! {
    100 BAD_ARGUMENTS "The arguments do not fit the tool's parameters"
        "The message names the field and what it takes; `nika tools show NAME` prints the whole schema.";
    101 UNKNOWN_TOOL "No tool has this name"
        "The message lists near names; `tool_search` finds tools by what they do.";
    102 TOOL_REMOVED "A deny rule keeps this tool out of the pool"
        "The message names the rule and its file. A person can change it there.";
    103 NOT_LOADED "The tool is deferred and was not loaded yet"
        "Nothing was done. The tool is loaded now and the answer carries its schema: call it again with arguments that fit.";
    104 UNKNOWN_SESSION "The session handle is not known, or belongs to another caller"
        "Call without `nika_session`: the answer carries a new handle to pass from then on.";
    105 CANCELLED "The caller cancelled the call"
        "Nothing was left half done. Call again when it is wanted after all.";
    106 BUDGET_SPENT "A budget of the session is spent"
        "The message names the budget and the line that set it. A person can change it there, or begin another session.";
    107 HOOK_REFUSED "A person's hook does not let this happen"
        "The message names the hook, what it said or how it failed, and the line that configures it.";
    200 READ_FAILED "A file could not be read"
        "The message carries the system's own reason.";
    201 WRITE_FAILED "A file could not be written"
        "The message carries the system's own reason; what was there before is still there.";
    202 EDIT_FAILED "`old_string` is not in the file"
        "The message shows the nearest text and its first difference. Where it hands back an exact text, send that as `old_string`; else read those lines again.";
    203 MUST_READ_FIRST "The file was not read in this session, or not all that a write would replace"
        "Read it first, so that the change is made to what is there now. `edit` changes a part and needs no more.";
    204 OUT_OF_BOUNDS "The path lies outside what this call may touch"
        "Stay inside the roots, or have the outside path allowed by mode or rule.";
    205 PERMISSION_DENIED "The mode or a rule does not let this happen"
        "The message names the mode or rule, and what would allow it.";
    206 INVALID_GLOB "The glob pattern does not compile"
        "The message shows where. `**/*.rs` and `src/{a,b}/*.ts` are valid.";
    207 INVALID_REGEX "The regular expression does not compile"
        "The message shows where. With `literal: true` the pattern is plain text.";
    208 NOT_FOUND "Nothing exists at this path"
        "The message lists near names. `glob` finds files by pattern.";
    209 NOT_UNIQUE "`old_string` occurs more than once"
        "Add surrounding lines until it is unique, or set `replace_all`.";
    210 ALREADY_EXISTS "Something exists where a new file should go"
        "Read and edit what is there, or choose another path.";
    212 CHANGED_SINCE_READ "The file changed since it was read, where the change falls"
        "The message shows both sides, or where a command's own version lies. Read the file again and make the change \
         anew.";
    213 NOT_A_FILE "The path is not a regular file"
        "Directories are for `list_dir`; devices, sockets and FIFOs are never opened.";
    214 UNSUPPORTED_TYPE "The file's content is of a type that cannot be shown or edited as text"
        "Text, PNG, JPEG, GIF, WebP, PDF and notebooks can be read.";
    215 TOO_LARGE "The file is larger than this operation takes"
        "Use `offset` and `limit`, or `grep`, to see the part that matters.";
    216 CANNOT_ENCODE "The new text cannot be written in the file's encoding"
        "The message names the first character that does not fit and the encoding.";
    217 UNDO_CONFLICT "To take the call back would lose what was changed after it"
        "The message shows the difference. If a later call made it, undo that one first; else settle it by hand.";
    218 CHANGE_SET_REFUSED "A change of the set cannot be made, so none was"
        "The message names the change by its number and why.";
    219 CELL_NOT_FOUND "The notebook has no such cell"
        "The message lists the cells. Read the notebook for their ids.";
    220 NOT_A_NOTEBOOK "The file is not a Jupyter notebook"
        "Use `edit` for other files.";
    221 NOTHING_TO_UNDO "No change of this session, or no such call, can be taken back"
        "`checkpoints` lists what can.";
    222 PARSER_FAILED "The file's content made its parser give up"
        "It may be damaged. The parser ran apart and nothing else was harmed.";
    223 BAD_PATH "The text is not a path that can exist"
        "Paths hold no NUL and at most 4,096 bytes.";
    301 UNKNOWN_FILE_TYPE "`type` is not a known file type"
        "The message lists near names; use `glob` for anything else.";
    302 SEARCH_FAILED "The search could not begin"
        "The message names the path and the system's reason.";
    400 COMMAND_FAILED "The command ended with an error"
        "The answer holds its output and exit code.";
    401 TOO_MANY_JOBS "More commands live than one session needs"
        "End some with `job_stop`; `job_list` shows them.";
    402 NO_SUCH_JOB "There is no such job in this session"
        "The message lists those that live.";
    403 JOB_TAKES_NO_INPUT "The job takes no input"
        "Only a command that was started in the background, and still runs, takes input.";
    404 NAME_HELD "A guarded name, or the file that was to stand there, is held by something that runs"
        "A job or interpreter that may write keeps guarded names that do not exist empty, and what somebody can write is put under none of them: what stood there stands. End what holds it with `job_stop` (`job_list` shows what lives; another session or program may have it), and repeat the call.";
    500 BAD_URL "The text is no address that can be fetched"
        "`http` and `https` are fetched, from a host by name or number, without a name or password in the address.";
    501 FORBIDDEN_ADDRESS "The host is this machine, or in a private network"
        "No page and no redirect leads there. A person can except an address by `web.allow_addresses` in their own configuration.";
    502 UNREACHABLE "The host cannot be reached"
        "The message carries the reason. Look at the spelling of its name, and whether this machine is connected.";
    503 NET_TIMED_OUT "The host took too long"
        "The message says how long was waited. Try again later.";
    504 NET_TOO_LARGE "The answer is larger than is taken in"
        "The message names the bound. Fetch a smaller page, or download the file with a command.";
    505 NET_BAD_ANSWER "The server did not answer as HTTP wants it"
        "The server may be broken, or no web server. Nothing of its answer is shown.";
    506 HTTP_STATUS "The server answered with an error"
        "The message carries the status and the beginning of what the server said.";
    507 BAD_REDIRECT "The redirect is not followed"
        "It leads in a circle, too far, to no address, or from `https` to `http`. The message names it.";
    508 NO_SEARCH "No search provider is configured, or not this one"
        "`web.search_providers` in the configuration names them; `docs/web.md` has each in full.";
    509 SEARCH_REFUSED "The search provider gave no results that can be read"
        "The message says what it answered, or which variable its key is read from.";
    600 NO_SUCH_TASK "There is no such task"
        "`task_list` shows those that are there.";
    601 TASK_STATE "The task's state does not allow this step"
        "The message says where it stands and what would work.";
    602 TASK_CIRCLE "Tasks would wait for each other"
        "The message shows the circle. Leave one of its steps out; nothing was changed.";
    603 NEEDS_SESSION "The call changes a session, and this one ends with the call"
        "Name one with `nika call --session NAME`; over HTTP pass the handle of an earlier answer; elsewhere every session lasts.";
    604 NO_RUNNER "Nothing here can run an agent for the task"
        "Leave `prompt` out to keep the task for somebody else.";
    620 ACCEPTANCE_FAILED "A packet's work was done and does not pass its acceptance tests"
        "The answer names each test with its exit code. The work is kept as it is and was not committed.";
    700 NO_SUCH_SERVER "No MCP server has this name"
        "The message lists those that are configured; `nika mcp list` shows them all, with why one is withheld.";
    701 SERVER_WITHHELD "The MCP server is configured and may not be used"
        "The message says why: it is disabled, its configuration is incomplete, or the repository that brings it is not trusted.";
    702 SERVER_UNREACHABLE "The MCP server could not be started or reached"
        "The message says what happened and what the server complained of. It is tried again, at longer and longer intervals.";
    703 SERVER_DIED "The MCP server ended before it answered"
        "Whether the call was done is not known. The server is started again for the next one.";
    704 SERVER_SLOW "The MCP server did not answer in time"
        "The call was cancelled at the server. `timeout_ms` of the server gives it more time.";
    705 SERVER_REFUSED "The MCP server answered with an error of the protocol"
        "The message carries the server's own words.";
    706 FOREIGN_FAILED "The MCP server's tool says that it failed"
        "The answer holds what it says.";
    707 DEFINITION_CHANGED "The tool of an MCP server is not as it was when a person saw it"
        "The message names what changed. A person looks at it with `nika mcp tools SERVER` and says yes with `nika mcp approve SERVER`.";
    708 NO_SUCH_FOREIGN "The MCP server has no such tool or resource"
        "The message lists near names; `mcp_list_tools` and `mcp_list_resources` list all.";
    709 SERVER_UNAUTHORISED "The MCP server wants to know who asks"
        "Its `headers` in configuration say so, or a login where it offers one.";
    740 MCP_LOGIN_NEEDED "The MCP server wants a login"
        "`mcp_auth` begins one, and so does `nika mcp login SERVER`; a person finishes it in a browser.";
    741 MCP_LOGIN_EXPIRED "The login to the MCP server is good no more and cannot be renewed"
        "Log in again: `mcp_auth`, or `nika mcp login SERVER`.";
    742 MCP_LOGIN_UNDISCOVERED "How one logs in to the MCP server could not be found out"
        "The message names the document that is missing or wrong. `oauth.issuer` of the server names its authorization server.";
    743 MCP_LOGIN_ADDRESS "An address that a login needs may not be used"
        "The message says why. Logins go over https, on this machine alone over http.";
    744 MCP_LOGIN_UNSAFE "The authorization server lacks what makes a login safe"
        "The message says what. Its operator can mend that; nothing here makes it safe.";
    745 MCP_LOGIN_RESOURCE "A token would be for another server than this one"
        "Compare the server's address in the configuration with what its operator publishes.";
    746 MCP_LOGIN_REGISTRATION "The authorization server does not take Nika as a client"
        "Register Nika there by hand and set `oauth.client_id` for the server; `docs/mcp-login.md` shows how.";
    747 MCP_LOGIN_REFUSED "The authorization server refused"
        "The message carries its own words. Begin the login again, or look at the `oauth` settings of the server.";
    748 MCP_LOGIN_ANSWER "The answer to a login does not belong to it"
        "Nothing was done with it. Begin the login again.";
    749 MCP_LOGIN_TIMEOUT "Nobody finished the login in time"
        "Begin it again when somebody is there: `nika mcp login SERVER`.";
    750 MCP_LOGIN_LOOP "The MCP server refuses every token that it is given"
        "Tell its operator. A minute later it can be tried again.";
    751 MCP_LOGIN_HOST "The login leads to a host that nobody allowed"
        "The message names it. Name it in `via` of `mcp_auth`, set it as `oauth.issuer`, or run `nika mcp login SERVER`.";
    752 MCP_LOGIN_STORE "The file of logins cannot be used"
        "The message says why, and nothing of what the file holds. Without it one logs in anew.";
    753 MCP_LOGIN_UNREACHED "A server that the login needs gave no usable answer"
        "The message names its address. Look whether it can be reached, and whether a proxy is needed.";
    754 MCP_LOGIN_TOKEN "The token that the authorization server gave cannot be used"
        "Its operator has to mend that; the message says what is wrong.";
    755 MCP_LOGIN_SETTINGS "The `oauth` settings of the MCP server do not fit together"
        "The message names the setting. `docs/mcp-login.md` shows them all.";
    756 MCP_LOGIN_SCOPE "The login to the MCP server lacks rights that the call needs"
        "The message names them. Log in again to ask for them; an account that has none cannot give them.";
    800 NO_MODEL "No model is chosen, or the one that is does not exist"
        "The message says what would work: a key, Ollama, or an address of your own. `docs/models.md` has each in full.";
    801 MODEL_KEY_REFUSED "The provider of the model wants a key, and has none or refused it"
        "The message names the variable that the key is read from.";
    802 CONVERSATION_TOO_LONG "The conversation is longer than the model can read"
        "Begin another session, or choose a model with a larger context.";
    803 MODEL_REFUSED "The provider of the model refused the request"
        "The message carries the provider's own words.";
    804 MODEL_BUSY "The provider of the model is overloaded, or limits how often it is asked"
        "It was asked several times already. Try again later, or use another model.";
    805 MODEL_FAILED "The model's answer did not come to its end"
        "It was asked several times already. The message says what happened last.";
    806 MODEL_UNREACHABLE "The address of the model cannot be reached"
        "The message names the address. Look whether the server runs, and whether a proxy is needed.";
    807 SCRIPT_NOT_MET "The scripted model was asked something other than its script expects"
        "The message names the file, the line and the difference.";
    820 TRANSCRIPT_LOST "The conversation could not be written, so nothing more was done"
        "Free space or mend the permissions of the state directory; then go on with the session.";
    821 OUT_OF_TURNS "The run has taken all the turns that it may"
        "Go on with the session, or allow more with `--max-turns`.";
    822 GOES_IN_CIRCLES "The same call brought the same answer, again and again"
        "Go on with the session and say what to do differently.";
    823 INTERRUPTED "The call was interrupted with its process"
        "It may be partly done: look before doing it again. It was not made a second time.";
    824 ANSWER_LOST "The call was made, and its answer was lost with the process"
        "What it changed stands; what it said can be asked for again.";
    825 ANSWER_WITHHELD "The provider withheld the model's answer"
        "Word the task differently, or ask another model.";
    826 NO_OBJECT "The model ended without the object that was asked for"
        "Ask another model, or for a simpler object.";
    827 NOT_OFFERED "The tool is not among those that this agent was given"
        "The message lists those that are.";
    828 SESSION_BUSY "Another process is at work in the session"
        "Wait until it has ended, or work in a copy with `--fork`.";
    840 NO_AGENTS "No agent can be started here"
        "The message says what is missing. `docs/models.md` says how to choose a model.";
    841 AGENT_TYPE "There is no such agent type, or its file cannot be used"
        "The message lists those that are there, or names what is wrong with the file.";
    842 TOO_MANY_AGENTS "Agents are at work already, or stand below one another, as many as may"
        "Do the work yourself, or wait for one of them. `agent.max_agents` and `agent.max_depth` set the bounds.";
    843 AGENT_FAILED "The agent ended without having done its task"
        "The message says why; the answer holds what it said last and what it did.";
    844 SUBTASK_ORDER "The sub-tasks cannot be put in an order"
        "The message names the circle or the unknown name. Nothing was started.";
    845 SUBTASKS_FAILED "Some of the sub-tasks were not done"
        "The answer holds what became of each.";
    846 WORKTREE_FAILED "The worktree could not be made, looked at or taken away"
        "The message carries git's own reason.";
    860 NOT_PLANNING "The session is not in plan mode"
        "There is nothing to leave. `enter_plan_mode` begins one.";
    862 OUTPUT_UNFIT "The object is not what its caller wants"
        "The message names every problem by its path. Call again with all of them mended.";
    863 SCHEMA_UNUSABLE "The schema holds something that cannot be checked"
        "The message names each place. `docs/talk.md` lists the keywords that count.";
    864 NO_SUCH_SKILL "No skill has this name"
        "The message lists near names, or all.";
    865 SKILL_WITHHELD "The skill is there and may not be used"
        "The message says why. What a repository brings is used once a person has said `nika trust` there.";
    866 NOTHING_WANTED "Nobody asked this session for structured output"
        "Answer in words.";
    870 FLOW_UNREADABLE "The workflow's file is not YAML that is taken here"
        "The message names the place. Tabs do not indent; a file has one document of at most 4 MiB.";
    871 FLOW_SHAPE "Something in the workflow is not what stands there"
        "The message names the key and what it takes; `docs/workflows.md` lists every key.";
    872 FLOW_NAME "A name in the workflow is given twice, or cannot be a name"
        "Names begin with a letter or `_`; letters, digits, `_` and `-` follow.";
    873 FLOW_UNKNOWN "The workflow names something that it does not have"
        "The message lists near names, or all.";
    874 FLOW_CYCLE "Tasks of the workflow wait for each other in a circle"
        "The message names the circle. Take one of its steps out.";
    875 FLOW_TEMPLATE "A template cannot be read"
        "The message says where it stops making sense. `docs/workflows.md` lists what templates know.";
    876 FLOW_TYPE "A value in the workflow cannot be what is asked of it"
        "The message names the value, what it is and what it would have to be.";
    877 FLOW_PERMIT "A task does what `permits` does not state"
        "`nika check --infer-permits FILE` prints the lines that are missing.";
    878 FLOW_RULE "A line of `permits` cannot be read as a rule"
        "The message says what is wrong with it. `docs/permissions.md` has the language.";
    879 FLOW_SECRET "A secret would reach a place where others read it"
        "The message names the place. Hand it over as a variable of `env` or a header.";
    880 FLOW_PARAMS "The parameters do not fit the tool that is called"
        "The message names the field and what it takes; `nika tools show NAME` prints the whole schema.";
    881 FLOW_COST "The workflow can cost more than its limit"
        "The message says how the bound is made. Lower `token_budget` or `limits.tokens`, or raise `limits.cost_usd`.";
    882 FLOW_FAULTY "The workflow has findings, so it is not run"
        "Each finding stands with its place. `nika check FILE` shows them again.";
    889 FLOW_NOT_CARRIED "An older workflow uses something that is not carried over"
        "The message names it, and what to write instead. `docs/older-workflows.md` lists all of it.";
    890 RUN_DATA "A task's template found or made other data than is needed"
        "The message names the template or the parameter, and what it takes. `??` gives a default.";
    891 RUN_INPUT "An input of the workflow is missing, unknown or of another kind"
        "The message names it and what it takes: `nika run FILE NAME=VALUE`.";
    892 RUN_SECRET "A secret that the workflow names is not set"
        "Set the variable in the environment, or in `.env` beside the workspace's root.";
    893 RUN_NOT_ALLOWED "What the workflow states that it does was not allowed"
        "The message lists what it asks. A person allows it once with `--yes`; `nika check` shows where it is stated.";
    894 RUN_TRACE "There is no such trace, or it cannot be gone on with"
        "`nika trace list` shows those that are there.";
    895 RUN_OTHER "The workflow or its inputs are not those of the trace"
        "What ended there may mean something else now: begin a new run.";
    896 TASK_TIMEOUT "A task took longer than it may"
        "`timeout` of the task says how long; `retry` tries again.";
    897 RUN_LIMIT "A bound of the run was reached"
        "The message names it: `limits` in the document, or how deep workflows run one another.";
    898 TASKS_FAILED "Tasks of the workflow failed"
        "The message names them. `nika run --resume` runs them again, and nothing that ended.";
    899 TEST_DIFFERS "A workflow's result is not the one that its test holds"
        "The message shows the difference. `nika test --update` takes the new one.";
    900 JOURNAL_LOST "The journal could not be written, so the call was not made"
        "Free space or mend the permissions of the state directory.";
    901 STATE_UNUSABLE "The state directory cannot be used"
        "The message names it and the system's reason.";
    902 CONFIG_MALFORMED "A configuration file is malformed"
        "The message names file, line and column. Nothing runs until it is mended.";
    903 RULE_MALFORMED "A permission rule is malformed"
        "The message names file, line and what is wrong with the rule.";
    904 BAD_ROOT "A root cannot be opened as a directory"
        "The message names it and the system's reason.";
    905 BUG "Nika itself failed in this call"
        "The journal holds the details. Please report it.";
    906 KERNEL_TOO_OLD "The kernel lacks what keeps file access beneath the roots"
        "Linux 5.6 or newer, with `openat2` allowed, is needed.";
    907 JOURNAL_BROKEN "A journal does not verify"
        "The message names the first line that does not fit its chain.";
    910 NOT_CONFINED "The sandbox cannot give one of its guarantees, so nothing was run"
        "The message names the guarantee and the system's reason; `nika doctor` tries all of them.";
    911 NOT_STARTED "The program could not be started"
        "The message names it and the system's reason.";
}

/// Codes that are a no to what was asked, and not a failure in doing it. One table: the journal counts by it, `nika log`
/// says *refused* by it, and the exit code follows it.
pub const REFUSALS: &[Code] = &[
    TOOL_REMOVED,
    BUDGET_SPENT,
    HOOK_REFUSED,
    OUT_OF_BOUNDS,
    PERMISSION_DENIED,
    RUN_NOT_ALLOWED,
    RUN_LIMIT,
    NOT_CONFINED,
    SERVER_WITHHELD,
];

impl Code {
    /// Whether it stands among [`REFUSALS`].
    pub fn is_refusal(self) -> bool {
        REFUSALS.contains(&self)
    }
}

/// The code that is written so: `NIKA-209`.
pub fn parse(text: &str) -> Option<Code> {
    let number: u16 = text.strip_prefix("NIKA-")?.parse().ok()?;
    TABLE.iter().map(|entry| entry.code).find(|code| code.0 == number)
}

/// The row for `code`.
pub fn entry(code: Code) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_it_is_written() {
        for row in TABLE {
            assert_eq!(parse(&row.code.to_string()), Some(row.code));
        }
        for none in ["", "205", "NIKA-", "NIKA-1", "NIKA-205x", "nika-205"] {
            assert_eq!(parse(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_a_budget_or_a_hook_refuses_is_a_refusal() {
        assert!(BUDGET_SPENT.is_refusal() && HOOK_REFUSED.is_refusal() && PERMISSION_DENIED.is_refusal());
        assert!(!EDIT_FAILED.is_refusal() && !CANCELLED.is_refusal());
    }

    #[test]
    fn numbers_rise_and_names_are_unique() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
        for row in TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.name == row.name).count(), 1);
        }
    }
}
