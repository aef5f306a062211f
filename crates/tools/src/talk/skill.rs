//! `skill`: instructions that somebody wrote down for a kind of task, read when the task is at hand.
//!
//! A skill is a directory with a `SKILL.md`. Its name and description are what a model knows from the start; the
//! text is this tool's answer; the files beside it are read with `read`, when the text says so. Which skills
//! there are, and whether a repository's may be used, is for [`Skills`] to say.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, front, text};
use nika_guard::Effects;
use nika_host::fs::Workspace;
use schemars::JsonSchema;
use serde::Deserialize;

/// The file that makes a directory a skill.
pub const FILE: &str = "SKILL.md";

/// A skill, as it is known before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The name of its directory.
    pub name: String,
    /// When to use it; empty where it may not be used.
    pub description: String,
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// Why it may not be used.
    pub withheld: Option<String>,
}

/// Who knows the skills.
pub trait Skills: Send + Sync {
    /// Every skill there is now, one a name, sorted.
    fn all(&self) -> Vec<Card>;

    /// Whether these bytes, just read, may be used as the skill's text: a repository's are what a person has
    /// trusted, or nothing. The error says why not.
    fn vouch(&self, card: &Card, bytes: &[u8]) -> Result<(), String>;
}

/// Reads a skill: instructions for a kind of task, to be followed. The skills are listed at the start; a wrong
/// name lists them again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Its name.
    pub skill: String,
    /// What to apply it to, put in the place of `$ARGUMENTS`.
    pub args: Option<String>,
}

/// The tool.
pub struct Skill {
    /// The files.
    pub files: Arc<Workspace>,
    /// The skills.
    pub skills: Arc<dyn Skills>,
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill").finish_non_exhaustive()
    }
}

/// The longest `SKILL.md`; the format's authors ask for 500 lines.
pub const MOST_BYTES: u64 = 256 << 10;
/// Names in an error.
const MOST_NAMES: usize = 40;

impl Tool for Skill {
    type Params = Params;
    const SPEC: Spec = Spec::new("skill", "Use a skill", Group::Talk)
        .read_only()
        .terms(&[
            "skill",
            "instructions",
            "procedure",
            "recipe",
            "playbook",
            "how to",
            "slash command",
            "guide",
            "guidelines",
            "load",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let card = self.find(&params.skill)?;
        Ok(Effects::read(self.files.locate_without_git(&card.file.to_string_lossy())?))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let card = self.find(&params.skill)?;
        let place = cx.place()?;
        let read = self.files.read_file(cx.permit, place, MOST_BYTES)?;
        self.skills.vouch(&card, &read.bytes).map_err(|why| withheld(&card.name, &why))?;
        let written = String::from_utf8(read.bytes)
            .map_err(|_| withheld(&card.name, &format!("{} is not UTF-8", place.shown())))?;
        let dir = card.file.parent().map_or_else(String::new, |dir| self.files.shown(dir));
        let body = filled(front::parts(&written).1.trim(), params.args.as_deref());
        let said =
            format!("Skill `{}`. Paths in it begin in {dir}; read its files when it says so.\n\n{body}", card.name);
        Ok(Output::text(said).with_fact("skill", card.name))
    }
}

impl Skill {
    fn find(&self, name: &str) -> Result<Card, ToolError> {
        let name = name.trim().trim_start_matches('/');
        let cards = self.skills.all();
        if let Some(card) = cards.iter().find(|card| card.name == name) {
            return match &card.withheld {
                Some(why) => Err(withheld(name, why)),
                None => Ok(card.clone()),
            };
        }
        let error = ToolError::new(code::NO_SUCH_SKILL, format!("no skill is called '{}'", text::preview(name, 80)));
        let usable = || cards.iter().filter(|card| card.withheld.is_none()).map(|card| card.name.clone());
        let near = text::near_names(name, usable(), 3);
        Err(match (near.as_slice(), usable().count()) {
            ([], 0) => error.hint("there are none here that may be used"),
            ([], count) => {
                let names: Vec<String> = usable().take(MOST_NAMES).collect();
                let more = if count > MOST_NAMES { format!(" and {} more", count - MOST_NAMES) } else { String::new() };
                error.hint(format!("there are {}{more}", names.join(", ")))
            }
            (names, _) => error.hint(format!("did you mean {}?", names.join(" or "))),
        })
    }
}

fn withheld(name: &str, why: &str) -> ToolError {
    ToolError::new(code::SKILL_WITHHELD, format!("the skill '{name}' may not be used: {why}"))
}

/// The lines that tell a model which skills there are, in at most `max_chars` characters: descriptions are cut
/// before names are dropped, and what is dropped is counted. Empty without any.
pub fn listing(cards: &[Card], max_chars: usize) -> String {
    let usable: Vec<&Card> = cards.iter().filter(|card| card.withheld.is_none()).collect();
    let lines = |most: usize| -> Vec<String> {
        let line = |card: &&Card| format!("- {}: {}\n", card.name, text::preview(&card.description, most));
        usable.iter().map(line).collect()
    };
    let fits = |lines: &[String]| lines.iter().map(|line| line.chars().count()).sum::<usize>() <= max_chars;
    // Cards are written to be this short; a few that are not must not cost the others their names.
    let tried = [1_024, 250, 100, 40].into_iter().map(lines).find(|lines| fits(lines));
    let (mut kept, mut used) = (String::new(), 0);
    let mut dropped = 0;
    for line in tried.unwrap_or_else(|| lines(40)) {
        used += line.chars().count();
        if used > max_chars { dropped += 1 } else { kept.push_str(&line) }
    }
    if dropped > 0 {
        kept.push_str(&format!("- and {dropped} more: a wrong name given to the tool lists them\n"));
    }
    kept
}

/// The text with the caller's words in their place, or below where it has none.
fn filled(body: &str, args: Option<&str>) -> String {
    let args = args.map(str::trim).unwrap_or_default();
    match body.contains("$ARGUMENTS") {
        true => body.replace("$ARGUMENTS", args),
        false if args.is_empty() => body.to_owned(),
        false => format!("{body}\n\nArguments: {args}"),
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "A skill with arguments",
    files: &[(
        ".nika/skills/release/SKILL.md",
        "---\nname: release\ndescription: Cuts a release. Use when asked to publish a version.\n---\n1. Set the version to $ARGUMENTS.\n2. Run the tests.\n",
    )],
    before: &[],
    arguments: r#"{"skill": "release", "args": "1.2.0"}"#,
    answer: "Set the version to 1.2.0.",
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_find_their_place() {
        assert_eq!(filled("do $ARGUMENTS, then $ARGUMENTS", Some(" x ")), "do x, then x");
        assert_eq!(filled("do $ARGUMENTS", None), "do ");
        assert_eq!(filled("do it", Some("x")), "do it\n\nArguments: x");
        assert_eq!(filled("do it", Some(" ")), "do it");
    }

    #[test]
    fn a_listing_keeps_to_its_budget() {
        let card = |name: &str, about: usize| Card {
            name: name.into(),
            description: "x".repeat(about),
            file: PathBuf::new(),
            withheld: None,
        };
        let hidden = Card { withheld: Some("not trusted".into()), ..card("hidden", 3) };
        assert_eq!(listing(&[card("a", 3), hidden], 1_000), "- a: xxx\n");
        assert_eq!(listing(&[], 10), "");
        let many: Vec<Card> = (0..100).map(|n| card(&format!("skill-{n:02}"), 500)).collect();
        let cut = listing(&many, 6_000);
        assert!(cut.chars().count() <= 6_000 && cut.contains("- skill-99: xxx"), "{cut}");
        let tiny = listing(&many, 600);
        assert!(tiny.contains("skill-00") && tiny.contains("more: a wrong name"), "{tiny}");
        assert!(tiny.chars().count() <= 700, "{tiny}");
    }
}
