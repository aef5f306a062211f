//! What the tests over sets of commands share: where the commands stand, their rows, and what each mode asks about.

use std::path::PathBuf;
use std::sync::Arc;

use nika_guard::bash::{Analysis, Site, Target};
use nika_guard::repository::{Assumed, Repositories};
use nika_guard::{ExecKind, classify};

/// A work tree on paper.
pub fn site() -> Site {
    let root = PathBuf::from("/w/repo");
    let repositories: Arc<dyn Repositories> = Arc::new(Assumed(vec![root.clone()]));
    let site = Site::on_paper(vec![root.clone()], root, PathBuf::from("/home/dev"));
    Site { repositories: Some(repositories), ..site }
}

/// The value of a string field in one line of JSON.
pub fn field(line: &str, name: &str) -> String {
    let Some((_, rest)) = line.split_once(&format!("\"{name}\": \"")) else { return String::new() };
    let mut out = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some('f') => out.push('\u{c}'),
                Some('u') => {
                    let code: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&code, 16).expect("four digits");
                    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    out
}

pub fn inside(target: &Target) -> bool {
    target.path.starts_with("/w/repo") && classify(&target.path).secret.is_none()
}

/// What read-only mode does not ask about.
pub fn allowed_read_only(analysis: &Analysis) -> bool {
    let touched = analysis.touched();
    analysis.kind == ExecKind::ReadOnly
        && touched.writes.is_empty()
        && touched.deletes.is_empty()
        && touched.hosts.is_empty()
        && touched.reads.iter().all(inside)
}

/// What workspace mode does not ask about.
pub fn allowed_in_workspace(analysis: &Analysis) -> bool {
    let touched = analysis.touched();
    let guarded = |target: &Target| classify(&target.path).asked().is_some();
    analysis.kind <= ExecKind::WritesInside
        && touched.hosts.is_empty()
        && touched.reads.iter().all(inside)
        && touched.writes.iter().chain(&touched.deletes).all(|target| inside(target) && !guarded(target))
}
