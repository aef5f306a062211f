//! `nika init`: a directory to begin with. What is there already is never touched: one clash, and nothing is written. A
//! README is none where somebody begins in the directory that holds it: theirs stays, and ours is left out.

mod place;
mod templates;

use std::path::{Path, PathBuf};

use nika_contract::text::harmless;
use nika_contract::{ToolError, code};

use crate::args::{self, Template};
use crate::failure::Failure;
use crate::out;
use crate::world::World;

pub fn run(args: &args::Init) -> Result<(), Failure> {
    let cwd = World::look().cwd()?;
    let base = args.name.as_ref().map_or_else(|| Ok(cwd.clone()), |name| named(&cwd, name))?;
    let mut files = templates::files(args.template, &title(&base));
    // A repository that is there has a README of its own, and is where most begin.
    let theirs = if args.name.is_none() { place::readme(&base) } else { None };
    if theirs.is_some() {
        files.retain(|file| file.path != templates::README);
    }
    place::write(&base, &files)?;
    let shown = args.name.as_deref().map(Path::display);
    let below = |path: &str| shown.as_ref().map_or_else(|| path.to_owned(), |name| format!("{name}/{path}"));
    for file in &files {
        out::line(&format!("wrote {}", below(file.path)))?;
    }
    if let Some(theirs) = theirs {
        out::line(&format!("left {} as it is", harmless(&theirs)))?;
    }
    let enter = args.name.as_deref().map(|name| format!("  cd {}\n", shell_word(&name.to_string_lossy())));
    out::line(&format!("\nNext:\n{}{}", enter.unwrap_or_default(), next(args.template)))?;
    Ok(())
}

/// What to type after it, a line each; the tests type it, too.
fn next(template: Template) -> &'static str {
    match template {
        Template::Basic => {
            "  nika check --strict workflows/*.yaml\n  \
               nika run workflows/hello.nika.yaml\n\
             Without a key:\n  \
               nika run workflows/hello.nika.yaml --provider scripted"
        }
        Template::Agent => {
            // Nothing here starts what `.mcp.json` names before a person has said so; a check has no need to.
            "  nika check --strict workflows/*.yaml\n  \
               nika trust\n  \
               nika run workflows/hello.nika.yaml\n\
             Without a key:\n  \
               nika run workflows/hello.nika.yaml --provider scripted"
        }
        Template::Pipeline => "  nika check --strict workflows/*.yaml\n  nika run workflows/hello.nika.yaml",
    }
}

/// A path as a shell reads one word.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if text.chars().all(plain) && !text.starts_with('-') {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The directory that is named, or why it cannot be one.
fn named(cwd: &Path, name: &Path) -> Result<PathBuf, Failure> {
    let text = name.to_string_lossy();
    let refused = |why: &str| -> Failure {
        ToolError::new(code::BAD_ARGUMENTS, format!("`{}` cannot be the name of a directory: {why}", harmless(&text)))
            .hint("name one that does not exist yet, such as `nika init demo`, or leave the name out")
            .into()
    };
    if text.trim().is_empty() {
        return Err(refused("it is empty"));
    }
    if text.chars().any(char::is_control) || harmless(&text) != text {
        return Err(refused("it holds characters that cannot be seen"));
    }
    Ok(cwd.join(name))
}

/// What the README calls it: the directory's own name, as Markdown shows it.
fn title(base: &Path) -> String {
    let name = base
        .canonicalize()
        .ok()
        .as_deref()
        .and_then(Path::file_name)
        .or_else(|| base.file_name())
        .map_or_else(|| "Workflows".to_owned(), |name| harmless(&name.to_string_lossy()).into_owned());
    name.chars().fold(String::new(), |mut title, c| {
        if "\\`*_[]<>#|&".contains(c) {
            title.push('\\');
        }
        title.push(if c.is_control() { ' ' } else { c });
        title
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_directory_of_its_own() {
        let cwd = Path::new("/w");
        for good in ["demo", "a b", "über", "../x", "a/b", "日本"] {
            assert_eq!(named(cwd, Path::new(good)).expect(good), cwd.join(good));
        }
        for bad in ["", "  ", "a\nb", "a\u{202e}b", "\u{1b}[31m"] {
            assert!(named(cwd, Path::new(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_path_is_one_word_to_a_shell() {
        for (path, word) in [("demo", "demo"), ("a b", "'a b'"), ("a/b", "a/b"), ("it's", "'it'\\''s'"), ("$x", "'$x'")]
        {
            assert_eq!(shell_word(path), word);
        }
    }

    #[test]
    fn the_title_is_text_whatever_the_directory_is_called() {
        assert_eq!(title(Path::new("/w/no-such/<b>x_y</b>")), "b\\>");
        assert_eq!(title(Path::new("/w/no-such/a_*b*")), "a\\_\\*b\\*");
        assert_eq!(title(Path::new("/")), "Workflows");
    }
}
