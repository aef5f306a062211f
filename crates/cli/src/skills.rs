//! Which skills there are: those of the repository, where a person trusts it, and the person's own.
//!
//! Looked for when they are asked for, never at start. What a repository brings is held against trust with the very
//! bytes that were read, here for the descriptions that a model is shown and again when the text itself is used;
//! of a repository that nobody trusts only the names of its directories are told.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use nika_contract::front::{self, Field};
use nika_tools::talk::skill::{Card, FILE, MOST_BYTES, Skills};

use crate::trust::{self, Trust};
use crate::world::World;

/// Where a repository keeps skills, below its root; the first wins over the second.
const IN_REPOSITORY: [&str; 2] = [".nika/skills", ".claude/skills"];

/// Skills in one directory; more are not looked at.
const MOST_IN_ONE: usize = 500;

/// The skills of one workspace.
#[derive(Debug)]
pub struct Shelf {
    root: PathBuf,
    trust_store: PathBuf,
    /// Where a configuration says `trusted: false`.
    refused: Option<Trust>,
    /// The person's own directories.
    own: Vec<PathBuf>,
}

/// Where the person's own skills lie, as far as there are any.
pub fn own(world: &World) -> Vec<PathBuf> {
    let configured = world.config_dir.as_ref().map(|dir| dir.join("skills"));
    let claude = world.home.as_ref().map(|home| home.join(".claude/skills"));
    configured.into_iter().chain(claude).filter(|dir| dir.is_dir()).collect()
}

impl Shelf {
    /// The skills that the workspace at `root` has, `trusted` as configuration found it.
    pub fn new(root: &Path, trust_store: PathBuf, trusted: &Trust, own: Vec<PathBuf>) -> Shelf {
        let refused = matches!(trusted, Trust::Refused { .. }).then(|| trusted.clone());
        Shelf { root: root.to_owned(), trust_store, refused, own }
    }

    /// How the repository stands, with these bytes as what its files hold.
    fn trust(&self, said: &[(&str, &[u8])]) -> Result<(), String> {
        let trust = match &self.refused {
            Some(refused) => refused.clone(),
            None => trust::status(&self.root, &self.trust_store, said).map_err(|error| error.to_string())?,
        };
        if trust.holds() { Ok(()) } else { Err(format!("the repository is {}", trust.describe())) }
    }

    /// The repository's.
    fn brought(&self) -> Vec<Card> {
        let found =
            IN_REPOSITORY.iter().flat_map(|dir| names(&self.root.join(dir)).into_iter().map(move |name| (dir, name)));
        let read: Vec<(String, String, Result<Vec<u8>, String>)> = found
            .map(|(dir, name)| {
                let file = format!("{dir}/{name}/{FILE}");
                let bytes = plain_bytes(&self.root.join(&file));
                (name, file, bytes)
            })
            .collect();
        let said: Vec<(&str, &[u8])> =
            read.iter().filter_map(|(_, file, bytes)| Some((file.as_str(), bytes.as_ref().ok()?.as_slice()))).collect();
        if read.is_empty() {
            return Vec::new();
        }
        let trusted = self.trust(&said);
        let card = |(name, file, bytes): (String, String, Result<Vec<u8>, String>)| {
            let about = trusted.clone().and(bytes).and_then(|bytes| described(&bytes));
            card(name, self.root.join(file), about)
        };
        read.into_iter().map(card).collect()
    }
}

impl Skills for Shelf {
    fn all(&self) -> Vec<Card> {
        let of_person = self.own.iter().flat_map(|dir| {
            names(dir).into_iter().map(|name| {
                let file = dir.join(&name).join(FILE);
                let about = bytes(&file).and_then(|bytes| described(&bytes));
                card(name, file, about)
            })
        });
        let mut cards: Vec<Card> = self.brought().into_iter().chain(of_person).collect();
        // The sort is stable: of one name the first that may be used, or else the first.
        cards.sort_by(|one, other| {
            one.name.cmp(&other.name).then(one.withheld.is_some().cmp(&other.withheld.is_some()))
        });
        cards.dedup_by(|one, other| one.name == other.name);
        cards
    }

    fn vouch(&self, card: &Card, bytes: &[u8]) -> Result<(), String> {
        match card.file.strip_prefix(&self.root).ok().and_then(Path::to_str) {
            Some(below) if IN_REPOSITORY.iter().any(|dir| Path::new(below).starts_with(dir)) => {
                self.trust(&[(below, bytes)])
            }
            _ => Ok(()),
        }
    }
}

fn card(name: String, file: PathBuf, about: Result<String, String>) -> Card {
    match about {
        Ok(description) => Card { name, description, file, withheld: None },
        Err(why) => Card { name, description: String::new(), file, withheld: Some(why) },
    }
}

/// What a skill says about itself, or why a model may not use it.
fn described(bytes: &[u8]) -> Result<String, String> {
    let written = std::str::from_utf8(bytes).map_err(|_| format!("its {FILE} is not UTF-8"))?;
    let (front, body) = front::parts(written);
    let fields = front::fields(front.unwrap_or_default())
        .map_err(|(line, why)| format!("the front matter of its {FILE} is malformed: line {line}: {why}"))?;
    // Other keys are for other programs.
    let of = |key: &str| fields.iter().find(|field| field.key == key).map(Field::text).filter(|text| !text.is_empty());
    if of("disable-model-invocation").is_some_and(|said| !said.eq_ignore_ascii_case("false")) {
        return Err("its author lets only people start it".to_owned());
    }
    let said = of("description").unwrap_or_else(|| first_line(body.trim()).to_owned());
    Ok(said.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The directories in `dir` that hold a skill, sorted.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        named.filter(|name| fs::symlink_metadata(dir.join(name).join(FILE)).is_ok()).take(MOST_IN_ONE).collect();
    names.sort();
    names
}

/// A repository's file: a link could lead to anything, and its bytes would stand before a model.
fn plain_bytes(file: &Path) -> Result<Vec<u8>, String> {
    match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_symlink() => Err(format!("its {FILE} is a link")),
        _ => bytes(file),
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("its {FILE} cannot be read: {error}");
    // Looked at first: opening a FIFO would wait for a writer.
    if !fs::metadata(file).map_err(failed)?.is_file() {
        return Err(format!("its {FILE} is no regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("its {FILE} is larger than {} KiB", MOST_BYTES >> 10));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace, a person's own skills and a store of trust.
    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Scene {
            let dir = tempfile::tempdir().expect("a directory");
            fs::create_dir_all(dir.path().join("repo")).expect("a directory");
            fs::create_dir_all(dir.path().join("own")).expect("a directory");
            Scene(dir)
        }

        fn skill(self, at: &str, text: &str) -> Scene {
            let dir = self.0.path().join(at);
            fs::create_dir_all(&dir).expect("a directory");
            fs::write(dir.join(FILE), text).expect("a file");
            self
        }

        fn root(&self) -> PathBuf {
            fs::canonicalize(self.0.path().join("repo")).expect("it is there")
        }

        fn shelf(&self) -> Shelf {
            Shelf::new(
                &self.root(),
                self.0.path().join("trust.jsonl"),
                &Trust::Nothing,
                vec![self.0.path().join("own")],
            )
        }

        fn trusted(self) -> Scene {
            trust::grant(&self.root(), &self.0.path().join("trust.jsonl")).expect("granted");
            self
        }

        fn told(&self) -> Vec<String> {
            let told = |card: Card| format!("{}: {}", card.name, card.withheld.unwrap_or(card.description));
            self.shelf().all().into_iter().map(told).collect()
        }
    }

    const RELEASE: &str = "---\nname: x\ndescription: >\n  Cuts\n  a release.\n---\nDo it.";

    #[test]
    fn a_repositorys_skills_wait_for_trust_and_lose_it_with_their_bytes() {
        let scene = Scene::new().skill("repo/.nika/skills/release", RELEASE).skill("own/mine", "Does mine.\nMore.");
        let told = scene.told();
        assert_eq!(told[0], "mine: Does mine.");
        assert!(told[1].starts_with("release: the repository is not trusted: `nika trust`"), "{told:?}");
        let scene = scene.trusted();
        assert_eq!(scene.told(), ["mine: Does mine.", "release: Cuts a release."]);
        let card = scene.shelf().all().remove(1);
        assert_eq!(scene.shelf().vouch(&card, RELEASE.as_bytes()), Ok(()));
        let other = scene.shelf().vouch(&card, b"other").expect_err("other bytes");
        assert!(other.contains(".nika/skills/release/SKILL.md"), "{other}");
        // A file beside it counts as well: the skill may have it run.
        fs::write(scene.root().join(".nika/skills/release/run.sh"), "echo").expect("a file");
        assert!(scene.told()[1].contains("run.sh"), "{:?}", scene.told());
    }

    #[test]
    fn of_one_name_the_first_that_may_be_used_counts() {
        let scene = Scene::new()
            .skill("repo/.claude/skills/a", "Of Claude.")
            .skill("repo/.nika/skills/a", "Of Nika.")
            .skill("own/a", "My own.");
        assert_eq!(scene.told(), ["a: My own."]);
        assert_eq!(scene.trusted().told(), ["a: Of Nika."]);
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let scene = Scene::new()
            .skill("own/broken", "---\nname\n---\n")
            .skill("own/colons", "---\ndescription: Use when: code was written.\n---\nx")
            .skill("own/people", "---\ndisable-model-invocation: true\n---\nx");
        fs::create_dir_all(scene.0.path().join("own/empty")).expect("a directory");
        fs::create_dir_all(scene.0.path().join("own/odd").join(FILE)).expect("a directory");
        let told = scene.told();
        assert!(told[0].starts_with("broken: the front matter of its SKILL.md is malformed"), "{told:?}");
        assert_eq!(told[1], "colons: Use when: code was written.");
        assert_eq!(told[2..], ["odd: its SKILL.md is no regular file", "people: its author lets only people start it"]);
        let secret = scene.0.path().join("secret");
        fs::write(&secret, "secret").expect("a file");
        fs::create_dir_all(scene.root().join(".nika/skills/link")).expect("a directory");
        std::os::unix::fs::symlink(&secret, scene.root().join(".nika/skills/link").join(FILE)).expect("a link");
        let told = scene.trusted().told();
        assert!(told.contains(&"link: its SKILL.md is a link".to_owned()), "{told:?}");
    }
}
