//! The tools through the real pipeline. One binary; each module says what belongs in it.

/// Path forms and what stands at them: links, FIFOs, devices, races, names.
mod boundary;
/// `edit`, `write`, `notebook_edit`: byte-exact, read first, stale, refused.
mod editing;
/// Every worked call of every specification.
mod examples;
/// Modes, rules, questions, the journal's two lines.
mod pipeline;
/// `glob`, `grep`, `list_dir`: the record, secrets, pages.
mod searching;
/// `change_set` and `undo`: all or nothing, and back again.
mod sets;
/// `tool_search`, `call`, deferral, dialects.
mod surface;
