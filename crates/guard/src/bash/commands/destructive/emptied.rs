//! Directories that a tool empties before it fills them, or removes as its own. It is told their names, and goes by these
//! alone: `cargo clean --target-dir src` is `rm -r src`.

use super::super::super::fact::Category;
use super::super::temporary::TEMPORARY;
use super::Hit;
use super::acts::Pattern;
use super::words::{Line, Piece, fits_one};

/// What empties a directory, and the options that name it; without any, an operand behind the subcommand does.
const EMPTIES: &[(Pattern<'_>, &str)] = &[
    (Pattern::of("cargo clean !-n|--dry-run"), "--target-dir"),
    (Pattern::of("pytest|py.test"), "--basetemp"),
    (Pattern::of("vite|vitepress build"), "--outDir"),
    (Pattern::of("astro build"), "--outDir"),
    (Pattern::of("webpack --output-clean"), "-o --output-path"),
    (Pattern::of("tsup|tsdown --clean"), "-d --out-dir"),
    (Pattern::of("swc --delete-dir-on-start|-D"), "-d --out-dir"),
    (Pattern::of("babel --delete-dir-on-start"), "-d --out-dir"),
    (Pattern::of("ng build"), "--output-path"),
    (Pattern::of("docusaurus build"), "--out-dir"),
    (Pattern::of("vuepress build"), "-d --dest"),
    (Pattern::of("storybook build"), "-o --output-dir"),
    (Pattern::of("playwright test"), "--output"),
    (Pattern::of("typedoc !--cleanOutputDir=false"), "--out"),
    (Pattern::of("jest --clearCache"), "--cacheDirectory"),
    (Pattern::of("hugo --cleanDestinationDir"), "-d --destination"),
    (Pattern::of("jekyll build|b|serve|s"), "-d --destination"),
    (Pattern::of("mkdocs build !--dirty"), "-d --site-dir"),
    (Pattern::of("mdbook build"), "-d --dest-dir"),
    (Pattern::of("zola build --force"), "-o --output-dir"),
    (Pattern::of("pelican -d|--delete-output-directory"), "-o --output"),
    (Pattern::of("apktool d|decode -f|--force"), "-o --output"),
    (Pattern::of("venv|virtualenv --clear"), ""),
    (Pattern::of("uv venv --clear|-c"), ""),
];

/// Names that directories have which are made anew. What lies in one, or is called like one, is nobody's work.
const MADE: &str = "target*|dist*|build*|*-build|cmake-build*|out|out-*|output*|lib|*tmp*|*temp*|*cache*|*venv*|env|public|\
    site|www|book|_*|.next|.nuxt|.output|.svelte-kit|.vercel|.astro|storybook-static|*report*|*results*|coverage|htmlcov";

/// Programs of the table, for the index of checks.
pub(super) const PROGRAMS: &str = "cargo pytest py.test vite vitepress astro webpack tsup tsdown swc babel ng docusaurus vuepress \
    storybook playwright typedoc jest hugo jekyll mkdocs mdbook zola pelican apktool venv virtualenv uv";

/// A directory that is emptied and is not one of those that are made anew.
pub(super) fn emptied(line: &Line, _: Option<&str>) -> Option<Hit> {
    let (_, options) = EMPTIES.iter().find(|(pattern, _)| pattern.fits(line))?;
    let places =
        if options.is_empty() { line.operands.iter().rev().take(1).cloned().collect() } else { named(line, options) };
    let place = places.into_iter().find(|place| !is_made(place))?;
    Some((Category::Files, format!("`{}` empties `{}`", line.program, place.text)))
}

/// What these options are given.
fn named(line: &Line, options: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (at, word) in line.raw.iter().enumerate() {
        for option in options.split(' ') {
            match word.text.strip_prefix(option) {
                Some("") => found.extend(line.raw.get(at + 1).cloned()),
                Some(rest) => match rest.strip_prefix('=') {
                    Some(value) => found.push(Piece { text: value.into(), ..word.clone() }),
                    None if !option.starts_with("--") => found.push(Piece { text: rest.into(), ..word.clone() }),
                    None => {}
                },
                None => {}
            }
        }
    }
    found
}

fn is_made(place: &Piece) -> bool {
    let mut parts = place.text.split('/').filter(|part| !matches!(*part, "" | "."));
    &*place.text == TEMPORARY || place.known && parts.any(|part| fits_one(MADE, part)) && !place.text.contains("..")
}
