//! `nika init`: a directory to begin with. What is there already is never touched: one clash, and nothing is written.

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
    let files = templates::files(args.template, &title(&base));
    place::write(&base, &files)?;
    let shown = args.name.as_deref().map(Path::display);
    let below = |path: &str| shown.as_ref().map_or_else(|| path.to_owned(), |name| format!("{name}/{path}"));
    for file in &files {
        out::line(&format!("wrote {}", below(file.path)))?;
    }
    let enter = shown.as_ref().map(|name| format!("cd {name} && ")).unwrap_or_default();
    out::line(&format!("\nNext: {enter}{}", next(args.template)))?;
    Ok(())
}

/// What to type after it.
fn next(template: Template) -> &'static str {
    match template {
        Template::Basic => {
            "nika run workflows/hello.nika.yaml\n  \
             without a key: nika run workflows/hello.nika.yaml --provider scripted --model workflows/hello.script.yaml"
        }
        Template::Agent => {
            "nika trust && nika run workflows/hello.nika.yaml\n  \
             without a key: nika run workflows/hello.nika.yaml --provider scripted --model workflows/hello.script.yaml"
        }
        Template::Pipeline => "nika check workflows/*.yaml && nika run workflows/hello.nika.yaml",
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
    fn the_title_is_text_whatever_the_directory_is_called() {
        assert_eq!(title(Path::new("/w/no-such/<b>x_y</b>")), "b\\>");
        assert_eq!(title(Path::new("/w/no-such/a_*b*")), "a\\_\\*b\\*");
        assert_eq!(title(Path::new("/")), "Workflows");
    }
}
