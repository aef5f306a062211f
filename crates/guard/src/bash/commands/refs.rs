//! Names of branches and tags that git lists, and of packages that go lists.
//!
//! A name of a branch has no blank in it, no `..` and no part that begins with a dot, so as a path it lies below the working
//! directory. It may begin with a dash: who can name a branch so can change what builds and tests run.

/// How a name alone is asked for.
const SHAPES: &[&str] =
    &["%(refname:short)", "%(refname)", "%(refname:strip=2)", "%(refname:lstrip=2)", "%(refname:lstrip=3)"];

/// Options that choose or sort names, as they begin or as they are.
const CHOOSE: &[&str] =
    &["--sort=", "--contains=", "--no-contains=", "--merged=", "--no-merged=", "--points-at=", "--count="];
const CHOSEN: &[&str] = &[
    "-l",
    "--list",
    "--merged",
    "--no-merged",
    "--contains",
    "--no-contains",
    "-i",
    "--ignore-case",
    "-a",
    "--all",
    "-r",
    "--remotes",
];

/// Whether git prints names of branches and tags, one a line, and nothing else.
pub(super) fn lists(words: &[&str]) -> bool {
    let Some((sub, rest)) = words.split_first() else { return false };
    let shape = |word: &&str| word.strip_prefix("--format=").is_some_and(|shape| SHAPES.contains(&shape));
    let shaped = rest.iter().any(shape);
    let known = |word: &&str| {
        shape(word)
            || CHOSEN.contains(word)
            || CHOOSE.iter().any(|start| word.starts_with(start))
            || !word.starts_with('-')
    };
    rest.iter().all(known)
        && match *sub {
            // Without an option it makes a tag of the name that stands there.
            "tag" => rest.first().is_none_or(|word| word.starts_with('-')),
            "branch" | "for-each-ref" => shaped,
            _ => false,
        }
}

/// Whether `go list` prints import paths of what lies here: none begins with a dash or has a part that leads up.
pub(super) fn packages(words: &[&str]) -> bool {
    let here = |word: &&str| {
        word.strip_prefix("./").is_some_and(|rest| {
            let plain = |part: &str| part == "..." || !part.starts_with('.');
            rest.split('/').all(plain) && rest.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
        })
    };
    matches!(words, ["list", places @ ..] if !places.is_empty() && places.iter().all(here))
}
