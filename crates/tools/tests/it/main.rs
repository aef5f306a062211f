//! The tools through the real pipeline. One binary; each module says what belongs in it.

/// Every worked call of every specification.
mod examples;
/// `edit`, `write`, `notebook_edit`: byte-exact, read first, stale, refused.
mod editing;
/// Path forms and what stands at them: links, FIFOs, devices, races, names.
mod boundary;
/// `change_set` and `undo`: all or nothing, and back again.
mod sets;
/// `glob`, `grep`, `list_dir`: the record, secrets, pages.
mod searching;
/// Modes, rules, questions, the journal's two lines.
mod pipeline;
/// `tool_search`, `call`, deferral, dialects.
mod surface;
