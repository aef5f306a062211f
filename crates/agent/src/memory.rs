//! Memory files: what a project tells every agent that works in it. The program reads them; here is what the model
//! is told of them.
//!
//! They are instructions and permit nothing, so they need no trust; but they are text of unknown origin, so each is
//! bounded, and what could steer a terminal is made visible.

use nika_contract::text;

/// The names that memory files have, and the order of those in one directory.
pub const NAMES: &[&str] = &["NIKA.md", "AGENTS.md", "CLAUDE.md"];

/// Characters of one file: about eight thousand tokens. What is longer is no memory but a document, to be read when
/// it is needed.
pub const MAX_FILE_CHARS: usize = 32_000;

/// Characters of all of them together: about sixteen thousand tokens, a twelfth of a usual context.
pub const MAX_CHARS: usize = 64_000;

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Where it stands, as a person recognises it.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// What the model is told of memory files, which come in the order from the root down to the working directory. The
/// nearest to the work count most: where they are too long together, those of the root are left out first, by name.
/// Of equal texts (`CLAUDE.md` is often a copy of `AGENTS.md`) the first stands.
pub fn told(files: &[MemoryFile]) -> String {
    let mut met: Vec<&str> = Vec::new();
    let mut shown = Vec::new();
    for file in files {
        let text = file.text.trim();
        if !text.is_empty() && !met.contains(&text) {
            met.push(text);
            shown.push((file.path.as_str(), bounded(text)));
        }
    }
    let mut room = MAX_CHARS;
    let mut told: Vec<String> = shown
        .iter()
        .rev()
        .map(|(path, text)| {
            let path = text::harmless(path);
            match room.checked_sub(text.chars().count()) {
                Some(left) => {
                    room = left;
                    format!("<memory file=\"{path}\">\n{text}\n</memory>")
                }
                None => format!("<memory file=\"{path}\">left out for its length: read it when it matters</memory>"),
            }
        })
        .collect();
    told.reverse();
    told.join("\n")
}

fn bounded(file: &str) -> String {
    let safe = text::harmless(file);
    text::head_and_tail(&safe, MAX_FILE_CHARS).unwrap_or_else(|| safe.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: impl Into<String>) -> MemoryFile {
        MemoryFile { path: path.to_owned(), text: text.into() }
    }

    #[test]
    fn they_stand_in_the_order_from_the_root_down() {
        let told = told(&[
            file("AGENTS.md", "Use tabs.\n"),
            file("CLAUDE.md", "Use tabs."),
            file("sub/NIKA.md", "No tabs\u{1b}."),
        ]);
        let want =
            "<memory file=\"AGENTS.md\">\nUse tabs.\n</memory>\n<memory file=\"sub/NIKA.md\">\nNo tabs␛.\n</memory>";
        assert_eq!(told, want, "an equal text stands once");
        assert_eq!(super::told(&[file("NIKA.md", " \n")]), "");
    }

    #[test]
    fn a_long_file_is_cut_and_of_many_the_nearest_stay() {
        let long = |c: char| c.to_string().repeat(MAX_FILE_CHARS + 5);
        let told = told(&[file("a.md", long('a')), file("b.md", long('b')), file("c.md", long('c'))]);
        assert!(told.starts_with("<memory file=\"a.md\">left out for its length"), "{}", &told[..80]);
        assert!(told.contains("bbb") && told.contains("ccc") && told.contains("left out …]"));
        assert!(told.chars().count() < MAX_CHARS + 500);
    }
}
