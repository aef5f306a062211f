//! What a patch writes whose text is known: what is guarded or secret among the files that it names, and what lies
//! elsewhere. What else it writes lies where the command stands.

use super::super::judge::{Arg, Judge};
use super::super::lang::patch;
use super::places::takes_along;
use super::spec::Parsed;

/// Files of one patch that are put down; one is enough for the question.
const ASKED: usize = 64;

/// Notes what the patch writes. `files` hold it, or else standard input does; `strip` parts of its names do not count,
/// and `place` says where a name lies.
pub(super) fn writes(files: &[Arg], strip: Option<usize>, place: impl Fn(&str) -> Arg, judge: &mut Judge<'_>) {
    let is_stdin = |file: &Arg| file.exact() == Some("-");
    let mut texts: Vec<String> = files.iter().filter_map(|file| judge.text_in(file)).map(str::to_owned).collect();
    if files.is_empty() || files.iter().any(is_stdin) {
        texts.extend(judge.stdin.told().map(str::to_owned));
    }
    let mut left = ASKED;
    for name in texts.iter().flat_map(|text| patch::names(text)) {
        for name in patch::stripped(&name, strip) {
            let at = place(name);
            let path = at.exact().map(|text| judge.resolve(text)).unwrap_or_default();
            let before = judge.facts.len();
            takes_along(&at, judge);
            let asked = crate::classify(&path).secret.is_some() || judge.is_guarded(&at) || !judge.site.is_ours(&path);
            if asked {
                judge.write(&at);
            }
            left -= usize::from(judge.facts.len() > before);
            if left == 0 {
                return;
            }
        }
    }
}

/// The number behind `-p`; one that cannot be read is none.
pub(super) fn strip(parsed: &Parsed, usual: Option<usize>) -> Option<usize> {
    match parsed.value("p strip") {
        Some(count) => count.exact().and_then(|text| text.parse().ok()),
        None => usual,
    }
}
