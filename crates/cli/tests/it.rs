//! The real program, from the outside: what is printed, what the exit code is, what is left on disk.

#[path = "it/agent.rs"]
mod agent;
#[path = "it/agent_below.rs"]
mod agent_below;
#[path = "it/agent_mends.rs"]
mod agent_mends;
#[path = "it/belongings.rs"]
mod belongings;
#[path = "it/call.rs"]
mod call;
#[path = "it/check.rs"]
mod check;
#[path = "it/contract.rs"]
mod contract;
#[path = "it/durability.rs"]
mod durability;
#[path = "it/durability_dirs.rs"]
mod durability_dirs;
#[path = "it/durability_last.rs"]
mod durability_last;
#[path = "it/durability_links.rs"]
mod durability_links;
#[path = "it/durability_notes.rs"]
mod durability_notes;
#[path = "it/durability_others.rs"]
mod durability_others;
#[path = "it/finding.rs"]
mod finding;
#[path = "it/first.rs"]
mod first;
#[path = "it/golden.rs"]
mod golden;
#[path = "it/hooks.rs"]
mod hooks;
#[path = "it/http.rs"]
mod http;
#[path = "it/init.rs"]
mod init;
#[path = "it/journal.rs"]
mod journal;
#[path = "it/limits.rs"]
mod limits;
#[path = "it/mcp.rs"]
mod mcp;
#[path = "it/mcp_login.rs"]
mod mcp_login;
#[path = "it/mounts.rs"]
mod mounts;
#[path = "it/mutants.rs"]
mod mutants;
#[path = "it/objects.rs"]
mod objects;
#[path = "it/ordinary.rs"]
mod ordinary;
#[path = "it/pages.rs"]
mod pages;
#[path = "it/peer.rs"]
mod peer;
#[path = "it/policy.rs"]
mod policy;
#[path = "it/powershell.rs"]
mod powershell;
#[path = "it/pty.rs"]
mod pty;
#[path = "it/runs.rs"]
mod runs;
#[path = "it/runs_agents.rs"]
mod runs_agents;
#[path = "it/runs_servers.rs"]
mod runs_servers;
#[path = "it/runs_stopped.rs"]
mod runs_stopped;
#[path = "it/runs_terminal.rs"]
mod runs_terminal;
#[path = "it/runs_web.rs"]
mod runs_web;
#[path = "it/runs_within.rs"]
mod runs_within;
#[path = "it/sandbox_alone.rs"]
mod sandbox_alone;
#[path = "it/serve.rs"]
mod serve;
#[path = "it/serve_changed.rs"]
mod serve_changed;
#[path = "it/sessions.rs"]
mod sessions;
#[path = "it/shelf.rs"]
mod shelf;
#[path = "it/shell.rs"]
mod shell;
#[path = "it/shell_asked.rs"]
mod shell_asked;
#[path = "it/shell_asked_words.rs"]
mod shell_asked_words;
#[path = "it/shell_forerun.rs"]
mod shell_forerun;
#[path = "it/shell_forerun_left.rs"]
mod shell_forerun_left;
#[path = "it/shell_git.rs"]
mod shell_git;
#[path = "it/shell_hidden.rs"]
mod shell_hidden;
#[path = "it/shell_killed.rs"]
mod shell_killed;
#[path = "it/shell_led.rs"]
mod shell_led;
#[path = "it/shell_ordinary.rs"]
mod shell_ordinary;
#[path = "it/shell_planted.rs"]
mod shell_planted;
#[path = "it/shell_recorded.rs"]
mod shell_recorded;
#[path = "it/shell_recorded_beside.rs"]
mod shell_recorded_beside;
#[path = "it/shell_rules.rs"]
mod shell_rules;
#[path = "it/shell_scratch.rs"]
mod shell_scratch;
#[path = "it/shell_shown.rs"]
mod shell_shown;
#[path = "it/shell_sockets.rs"]
mod shell_sockets;
#[path = "it/shell_terminal.rs"]
mod shell_terminal;
#[path = "it/shell_together.rs"]
mod shell_together;
#[path = "it/shell_tracked.rs"]
mod shell_tracked;
#[path = "it/shell_tracked_jobs.rs"]
mod shell_tracked_jobs;
#[path = "it/shell_undo.rs"]
mod shell_undo;
#[path = "it/shell_undo_names.rs"]
mod shell_undo_names;
#[path = "it/shell_undo_rights.rs"]
mod shell_undo_rights;
#[path = "it/shell_undo_shown.rs"]
mod shell_undo_shown;
#[path = "it/steering.rs"]
mod steering;
#[path = "it/talk.rs"]
mod talk;
#[path = "it/terminal.rs"]
mod terminal;
#[path = "it/web.rs"]
mod web;
#[path = "it/work.rs"]
mod work;
#[path = "it/world.rs"]
mod world;
