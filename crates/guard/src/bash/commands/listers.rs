//! Where commands that list files are told to look. They print a place as they were given it, so of one that lies elsewhere the
//! names do, too.

use std::path::Path;

use super::super::judge::{Arg, Site};
use super::{filters, places, spec};

/// Whether a lister with these words may print a name that lies in none of the places that are ours.
pub(super) fn look_elsewhere(name: &str, argv: &[Arg], site: &Site) -> bool {
    let ours = |text: &str| !text.split('/').any(|part| part == "..") && site.is_ours(Path::new(text));
    let elsewhere = |arg: &Arg| filters::text(arg).is_none_or(|text| places::leads_away(text) && !ours(text));
    looked_in(name, argv).iter().any(elsewhere)
}

/// The words of a lister that may be places.
fn looked_in(name: &str, argv: &[Arg]) -> Vec<Arg> {
    let words = argv.get(1..).unwrap_or_default();
    let begins = |arg: &Arg, with: &[char]| filters::text(arg).is_some_and(|text| text.starts_with(with));
    let searches = match name {
        "git" => words.first().and_then(Arg::exact) == Some("grep"),
        _ => matches!(name, "rg" | "grep" | "egrep" | "fgrep"),
    };
    match super::find(name).filter(|_| searches) {
        // A pattern is no place.
        Some(spec) => {
            let parsed = spec::parse(spec, argv);
            let patterns = usize::from(!parsed.has("e regexp f file files"));
            parsed.operands.get(patterns..).unwrap_or_default().to_vec()
        }
        None if name == "find" => {
            const LINKS: &[&str] = &["-H", "-L", "-P"];
            let follows = |arg: &&Arg| arg.exact().is_some_and(|text| LINKS.contains(&text) || text.starts_with("-O"));
            let starts = words.iter().skip_while(follows);
            starts.take_while(|arg| !begins(arg, &['-', '(', '!'])).cloned().collect()
        }
        None => words.iter().filter(|arg| !begins(arg, &['-'])).cloned().collect(),
    }
}
