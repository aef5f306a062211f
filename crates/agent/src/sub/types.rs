//! Types of agents: who they are, which tools they get, how they may stand. A Markdown file each.
//!
//! ```text
//! ---
//! name: reviewer
//! description: Reads a change and says what is wrong with it.
//! tools: Read, Grep, Bash
//! mode: read-only
//! max_turns: 30
//! ---
//! You review changes. …
//! ```
//!
//! What narrows an agent is understood or the file is not used; what says nothing about its rights (a colour) is left
//! aside. A type only ever narrows: the agent stands no wider than who starts it, whatever its file says.

use std::fmt;

use nika_contract::front::{self, Field};
use nika_contract::{ToolError, code, text};
use nika_guard::Mode;

/// A type of agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentType {
    /// What it is called by.
    pub name: String,
    /// When to use it, for who starts it.
    pub about: String,
    /// What it is told before its task.
    pub prompt: String,
    /// The only tools it gets, in any dialect; all of its starter's when nothing is said.
    pub tools: Option<Vec<String>>,
    /// Tools that it does not get.
    pub without: Vec<String>,
    /// How it stands at most.
    pub mode: Option<Mode>,
    /// The model it would like.
    pub model: Option<String>,
    /// How often it may ask its model.
    pub max_turns: Option<u32>,
    /// Keys of the file that say nothing to Nika.
    pub ignored: Vec<String>,
    /// The file it is from.
    pub from: String,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}:{line}: {why}")]
pub struct TypeError {
    /// The file.
    pub at: String,
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong there, and what would work.
    pub why: String,
}

/// Most turns that a file may ask for: more is a slip of the keyboard.
const MOST_TURNS: u32 = 10_000;

/// Reads one file; `at` is how errors name it.
pub fn parse(markdown: &str, at: &str) -> Result<AgentType, TypeError> {
    let wrong = |line: usize, why: String| TypeError { at: at.to_owned(), line, why };
    let (Some(head), body) = front::parts(markdown) else {
        let begun = markdown.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == "---");
        return Err(match begun {
            true => wrong(markdown.lines().count(), "end the front matter with a line `---`".into()),
            false => wrong(1, "begin with a line `---`, then `name:` and `description:`, then `---`".into()),
        });
    };
    // The lines between, and the two around them.
    let closed = head.lines().count() + 2;
    let prompt: Vec<&str> = body.lines().collect();
    let mut made = AgentType {
        name: String::new(),
        about: String::new(),
        prompt: prompt.join("\n").trim().to_owned(),
        tools: None,
        without: Vec::new(),
        mode: None,
        model: None,
        max_turns: None,
        ignored: Vec::new(),
        from: at.to_owned(),
    };
    let mut seen = Vec::new();
    for field in front::fields(head).map_err(|(line, why)| wrong(line, why))? {
        let known = KEYS.iter().find(|(names, _)| names.contains(&field.key.as_str()));
        let Some((names, read)) = known else {
            made.ignored.push(field.key);
            continue;
        };
        if seen.contains(&names[0]) {
            return Err(wrong(field.line, format!("`{}` is said twice", field.key)));
        }
        seen.push(names[0]);
        read(&mut made, &field).map_err(|why| wrong(field.line, format!("`{}`: {why}", field.key)))?;
    }
    for (key, value) in [("name", &made.name), ("description", &made.about)] {
        if value.is_empty() {
            return Err(wrong(closed, format!("`{key}` is missing")));
        }
    }
    if made.prompt.is_empty() {
        return Err(wrong(closed, "write below the front matter what the agent is told".into()));
    }
    Ok(made)
}

type Read = fn(&mut AgentType, &Field) -> Result<(), String>;

/// Each key with the spellings of other systems, and what it sets.
const KEYS: &[(&[&str], Read)] = &[
    (&["name"], |made, field| {
        let name = field.text();
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err("takes up to 64 letters, digits, `-`, `_` and `.`".into());
        }
        made.name = name;
        Ok(())
    }),
    (&["description"], |made, field| {
        // Files of other systems write a line's end as two characters.
        made.about = field.text().replace("\\n", "\n").trim().to_owned();
        Ok(())
    }),
    (&["tools", "allowed-tools", "allowedTools"], |made, field| {
        let names = tools(field)?;
        made.tools = if names.iter().any(|name| name == "*") { None } else { Some(names) };
        Ok(())
    }),
    (&["disallowedTools", "disallowed-tools"], |made, field| {
        made.without = tools(field)?;
        Ok(())
    }),
    (&["mode", "permissionMode", "permission-mode"], |made, field| {
        made.mode = Some(match field.text().as_str() {
            // In these files it is the name of the mode in which nothing is changed.
            "plan" => Mode::ReadOnly,
            // Whatever would be asked is refused, elsewhere: with rules of ours that is what read-only comes to.
            "dontAsk" => Mode::ReadOnly,
            other => other.parse().map_err(|error: nika_guard::UnknownMode| error.to_string())?,
        });
        Ok(())
    }),
    (&["model"], |made, field| {
        made.model = Some(field.text()).filter(|name| !name.is_empty() && name != "inherit");
        Ok(())
    }),
    (&["max_turns", "maxTurns", "max-turns"], |made, field| match field.text().parse() {
        Ok(turns @ 1..=MOST_TURNS) => {
            made.max_turns = Some(turns);
            Ok(())
        }
        _ => Err(format!("takes a number from 1 to {MOST_TURNS}")),
    }),
];

/// Tools by their names; a rule about some calls of one is none.
fn tools(field: &Field) -> Result<Vec<String>, String> {
    let names = field.names();
    match names.iter().find(|name| name.contains(['(', ')', ' '])) {
        Some(name) => {
            let bare = name.split(['(', ' ']).next().unwrap_or(name);
            Err(format!(
                "'{name}' lets only some calls of a tool through, which a type cannot; name `{bare}` alone and \
                 write a rule for the rest"
            ))
        }
        None => Ok(names),
    }
}

/// A file as the program found it.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file.
    pub at: String,
    /// What it says.
    pub text: String,
    /// Why it is not used, where it is not: the repository that brings it is not trusted.
    pub withheld: Option<String>,
}

/// The types there are.
#[derive(Debug, Clone)]
pub struct Types {
    usable: Vec<AgentType>,
    /// The file's name without its end, the file, and why not.
    unusable: Vec<(String, String, String)>,
}

/// What ships with Nika: the file's name, what it says.
const SHIPPED: &[(&str, &str)] = &[
    ("general.md", include_str!("../../types/general.md")),
    ("explore.md", include_str!("../../types/explore.md")),
    ("plan.md", include_str!("../../types/plan.md")),
    ("verify.md", include_str!("../../types/verify.md")),
];

/// Names of other systems for what ships.
const ALIASES: &[(&str, &str)] =
    &[("general-purpose", "general"), ("task", "general"), ("verification", "verify"), ("planner", "plan")];

impl Types {
    /// Those of files, in the order in which they are looked up; of two with one name, the first counts. What
    /// ships stands behind them all.
    pub fn new(files: impl IntoIterator<Item = Found>) -> Types {
        let mut types = Types { usable: Vec::new(), unusable: Vec::new() };
        for Found { at, text, withheld } in files {
            let read = match withheld {
                Some(why) => Err(why),
                None => parse(&text, &at).map_err(|error| error.to_string()),
            };
            match read {
                Ok(found) => types.add(found),
                Err(why) => {
                    let name = at.rsplit('/').next().unwrap_or(&at).trim_end_matches(".md").to_owned();
                    types.unusable.push((name, at, why));
                }
            }
        }
        for (at, text) in SHIPPED {
            types.add(parse(text, &format!("shipped {at}")).expect("a test reads what ships"));
        }
        types
    }

    fn add(&mut self, found: AgentType) {
        if !self.usable.iter().any(|other| other.name.eq_ignore_ascii_case(&found.name)) {
            self.usable.push(found);
        }
    }

    /// Those that can be used, in the order of the lookup.
    pub fn usable(&self) -> &[AgentType] {
        &self.usable
    }

    /// Files that are not used, with the reason.
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unusable.iter().map(|(_, at, why)| (at.as_str(), why.as_str()))
    }

    /// The type of a name, whatever its case.
    pub fn get(&self, name: &str) -> Result<&AgentType, ToolError> {
        let called = |name: &str| self.usable.iter().find(|known| known.name.eq_ignore_ascii_case(name));
        let alias =
            || ALIASES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).and_then(|(_, own)| called(own));
        if let Some(found) = called(name).or_else(alias) {
            return Ok(found);
        }
        let shown = text::preview(name, 80);
        if let Some((_, at, why)) = self.unusable.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)) {
            return Err(ToolError::new(
                code::AGENT_TYPE,
                format!("the agent type '{shown}' ({at}) is not used: {why}"),
            ));
        }
        let names: Vec<&str> = self.usable.iter().map(|known| known.name.as_str()).collect();
        Err(ToolError::new(code::AGENT_TYPE, format!("no agent type is called '{shown}'"))
            .hint(format!("there are {}", names.join(", "))))
    }
}

impl fmt::Display for Types {
    /// One line a type, for a system prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for known in &self.usable {
            let about = known.about.lines().next().unwrap_or_default();
            writeln!(f, "- {}: {}", known.name, text::preview(about, 300))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AgentType, String> {
        parse(text, "a.md").map_err(|error| error.to_string())
    }

    #[test]
    fn what_ships_can_be_used_and_says_what_it_is_for() {
        let types = Types::new([]);
        let names: Vec<_> = types.usable().iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["general", "explore", "plan", "verify"]);
        for name in ["explore", "plan"] {
            assert_eq!(types.get(name).expect("ships").mode, Some(Mode::ReadOnly), "{name}");
        }
        assert_eq!(types.get("General-Purpose").expect("an alias").name, "general");
        assert_eq!(types.get("Explore").expect("another case").name, "explore");
        assert!(types.to_string().contains("- verify: "), "{types}");
    }

    #[test]
    fn a_file_of_another_system_reads_as_it_is() {
        let made = read(
            "---\nname: code-reviewer\ndescription: Use this agent when: code was written.\\n\\nExamples: <x>\n\
             tools: Read, Grep, Bash\nmodel: sonnet\ncolor: green\npermissionMode: plan\n---\n\nYou review.\n\n---\nMore.\n",
        );
        let made = made.expect("reads");
        assert_eq!(made.about, "Use this agent when: code was written.\n\nExamples: <x>");
        assert_eq!(made.tools.as_deref(), Some(["Read", "Grep", "Bash"].map(String::from).as_slice()));
        assert_eq!((made.mode, made.model.as_deref()), (Some(Mode::ReadOnly), Some("sonnet")));
        assert_eq!((made.ignored, made.prompt.as_str()), (vec!["color".to_owned()], "You review.\n\n---\nMore."));
    }

    #[test]
    fn lists_may_be_written_in_three_ways() {
        for tools in ["read, grep", "[read, \"grep\"]", "\n  - read\n  - grep", "\n- read\n- grep"] {
            let made = read(&format!("---\nname: a\ndescription: b\ntools: {tools}\n---\nc")).expect(tools);
            assert_eq!(made.tools, Some(vec!["read".to_owned(), "grep".to_owned()]), "{tools}");
        }
        let none = read("---\nname: a\ndescription: b\ntools: []\n---\nc").expect("an empty list is a list");
        assert_eq!(none.tools, Some(Vec::new()));
        let all = read("---\nname: a\ndescription: b\ntools: '*'\n---\nc").expect("all");
        assert_eq!(all.tools, None);
    }

    #[test]
    fn texts_may_go_over_several_lines() {
        let made = read("---\nname: a\ndescription: >\n  one\n  two\n---\nc").expect("folded");
        assert_eq!(made.about, "one two");
        let made = read("---\nname: a\ndescription: |\n  one\n  two\n---\nc").expect("kept");
        assert_eq!(made.about, "one\ntwo");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, what) in [
            ("You review.", "a.md:1: begin with a line `---`"),
            ("---\nname: a\n", "a.md:2: end the front matter"),
            ("---\nname: a\n---\nc", "a.md:3: `description` is missing"),
            ("---\nname: a b\ndescription: c\n---\nc", "a.md:2: `name`: takes up to 64"),
            ("---\nname: a\ndescription: c\nmode: wild\n---\nc", "a.md:4: `mode`: unknown mode 'wild'"),
            ("---\nname: a\ndescription: c\nmax_turns: 0\n---\nc", "a.md:4: `max_turns`: takes a number from 1"),
            ("---\nname: a\ndescription: c\ntools: Bash(git:*)\n---\nc", "a.md:4: `tools`: 'Bash(git:*)' lets only"),
            ("---\nname: a\nname: b\ndescription: c\n---\nc", "a.md:3: `name` is said twice"),
            ("---\nname a\ndescription: c\n---\nc", "a.md:2: 'name a' is no `key: value`"),
            ("---\nname: a\ndescription: c\n---\n", "a.md:4: write below the front matter"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.starts_with(what), "{text:?}: {said}");
        }
    }

    #[test]
    fn the_first_of_a_name_counts_and_what_is_withheld_says_why() {
        let file = |at: &str, name: &str, withheld: Option<&str>| Found {
            at: at.to_owned(),
            text: format!("---\nname: {name}\ndescription: from {at}\n---\nc"),
            withheld: withheld.map(str::to_owned),
        };
        let types = Types::new([
            file(".nika/agents/mine.md", "mine", None),
            file(".claude/agents/mine.md", "mine", None),
            file(".claude/agents/explore.md", "explore", Some("`nika trust` has not been said here")),
            file(".claude/agents/theirs.md", "theirs", Some("`nika trust` has not been said here")),
        ]);
        assert_eq!(types.get("mine").expect("there").from, ".nika/agents/mine.md");
        assert_eq!(types.get("explore").expect("ships").from, "shipped explore.md");
        let error = types.get("theirs").expect_err("withheld");
        assert!(error.message.contains(".claude/agents/theirs.md") && error.message.contains("nika trust"), "{error}");
        let error = types.get("nobody").expect_err("unknown");
        assert!(error.to_string().contains("there are mine, general, explore"), "{error}");
        assert_eq!(types.unusable().count(), 2);
    }
}
