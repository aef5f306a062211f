//! The completeness record, as a line for the model and as data.

use nika_contract::text;
use nika_host::fs::Workspace;
use nika_search::{Record, Widening};
use schemars::JsonSchema;
use serde::Serialize;

/// How a tool speaks of what it looks at.
#[derive(Debug)]
pub struct Manner {
    /// What it counts, and what was done to one and to many.
    pub looked: [&'static str; 2],
    /// What is added where something cut it.
    pub so_far: &'static str,
    /// What keeps some of them back, and what would not.
    pub withheld: &'static str,
    /// Its names for the parameters that widen it.
    pub widening: Widening,
}

const FILES: [&str; 2] = ["file searched", "files searched"];
const WITHHELD: &str = "withheld (secrets, or by rules; read asks about a secret)";
/// Where only names are shown: those of secrets are among them.
const NAMES_WITHHELD: &str = "withheld (by rules, or Nika's own state)";

/// `grep`'s.
pub const GREP: Manner = Manner {
    looked: FILES,
    so_far: " so far",
    withheld: WITHHELD,
    widening: Widening {
        limit: "head_limit",
        timeout: Some("timeout_ms"),
        depth: None,
        no_ignore: Some("no_ignore"),
        hidden: Some("hidden"),
    },
};

/// `glob`'s, which has no parameter for its time.
pub const GLOB: Manner = Manner {
    looked: FILES,
    so_far: " so far",
    withheld: NAMES_WITHHELD,
    widening: Widening {
        limit: "limit",
        timeout: None,
        depth: None,
        no_ignore: Some("no_ignore"),
        hidden: Some("hidden"),
    },
};

/// `list_dir`'s, which leaves out only what rules keep back.
pub const LIST: Manner = Manner {
    looked: ["entry", "entries"],
    so_far: "",
    withheld: NAMES_WITHHELD,
    widening: Widening { limit: "limit", timeout: None, depth: None, no_ignore: None, hidden: None },
};

/// What a search looked at and what it left out. *No matches* means nothing without it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Completeness {
    /// Whether everything in scope was searched to its end.
    pub complete: bool,
    /// Files looked at; of a listing, entries.
    pub scanned: u64,
    /// Entries that ignore files left out; a directory counts once.
    pub ignored: u64,
    /// The rules that left out most: `.gitignore:3 target/` with the number of entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored_by: Vec<IgnoredBy>,
    /// Hidden entries left out.
    pub hidden: u64,
    /// Files in which the search stopped at a NUL byte.
    pub binary: u64,
    /// Files without a match that are not UTF-8, where the pattern has letters beyond ASCII.
    pub other_encodings: u64,
    /// What could not be opened or read: the first few, as `path: reason`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// Links, which are not followed.
    pub links: u64,
    /// Those that the glob leads through, where what it names may be; `path` looks behind one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked_links: Vec<String>,
    /// Secrets and what rules keep back; never opened.
    pub withheld: u64,
    /// The other roots, where `path` was left out: it names one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_roots: Vec<String>,
    /// What ended it early: `limit`, `timeout`, `memory`, `depth`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut_by: Vec<&'static str>,
    /// Parameters that would widen it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub widen_with: Vec<String>,
}

/// A rule of an ignore file, and what it left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IgnoredBy {
    /// `.gitignore:3 target/`.
    pub rule: String,
    /// Entries.
    pub entries: u64,
}

impl Completeness {
    pub fn of(record: &Record, manner: &Manner) -> Completeness {
        let cuts = [
            ("limit", record.cut.limit),
            ("timeout", record.cut.timeout),
            ("memory", record.cut.bytes),
            ("depth", record.cut.depth > 0),
        ];
        Completeness {
            complete: record.complete(),
            scanned: record.scanned,
            ignored: record.ignored.entries,
            ignored_by: record
                .ignored
                .rules
                .iter()
                .take(3)
                .map(|rule| IgnoredBy {
                    rule: format!("{}:{} {}", rule.file.display(), rule.line, rule.pattern),
                    entries: rule.entries,
                })
                .collect(),
            hidden: record.hidden,
            binary: record.binary.total,
            other_encodings: record.other_bytes,
            unreadable: record.unreadable.first.iter().map(|u| format!("{}: {}", u.path.display(), u.error)).collect(),
            links: record.links,
            asked_links: Vec::new(),
            withheld: record.withheld,
            other_roots: Vec::new(),
            cut_by: cuts.into_iter().filter(|(_, cut)| *cut).map(|(name, _)| name).collect(),
            widen_with: record.widen(&manner.widening).into_iter().map(|widen| widen.parameter.to_owned()).collect(),
        }
    }

    /// The same of a search whose glob leads through these links.
    pub fn behind_links(mut self, links: Vec<String>) -> Completeness {
        self.asked_links = links;
        if !self.asked_links.is_empty() {
            self.widen_with.push("path".to_owned());
        }
        self
    }

    /// The same of a search that began in the first root, as nothing else was said.
    pub fn in_first_root(mut self, files: &Workspace, path: Option<&str>) -> Completeness {
        if path.is_none() {
            self.other_roots = files.roots().skip(1).map(|root| root.display().to_string()).collect();
        }
        if !self.other_roots.is_empty() {
            self.complete = false;
            if !self.widen_with.iter().any(|parameter| parameter == "path") {
                self.widen_with.push("path".to_owned());
            }
        }
        self
    }

    /// The first of what could not be read, with why.
    fn named_unreadable(&self, total: u64) -> String {
        let named: Vec<&str> = self.unreadable.iter().take(3).map(String::as_str).collect();
        let more = if total > named.len() as u64 { ", …" } else { "" };
        format!("{}{more}", text::name_in_line(&named.join(", ")))
    }

    /// The links that the glob leads through, and what would look behind the first.
    fn named_links(&self, total: u64) -> String {
        let word = if total == 1 { "link" } else { "links" };
        let first = self.asked_links.first().map_or("", String::as_str);
        format!("{word} that the glob leads through, not followed (path: {first} looks there)")
    }

    /// One line: what was looked at, what was not, and what would widen it. Links are told of where nothing was `found`:
    /// one of them may have been meant.
    pub fn line(&self, record: &Record, manner: &Manner, found: bool) -> String {
        let looked = manner.looked[usize::from(self.scanned != 1)];
        let so_far = if self.cut_by.is_empty() { "" } else { manner.so_far };
        let mut parts = vec![format!("{} {looked}{so_far}", self.scanned)];
        let ignored = ["entry ignored (no_ignore: true looks there)", "entries ignored (no_ignore: true looks there)"];
        let unreadable = format!("unreadable ({})", self.named_unreadable(record.unreadable.total));
        let asked = self.named_links(record.asked_links.total);
        let links = ["link, not followed (path looks there)", "links, not followed (path looks there)"];
        let others = self.links - record.asked_links.total.min(self.links);
        let counts = [
            (self.binary, "stopped at a NUL byte (binary)"),
            (self.other_encodings, "not UTF-8, searched by their bytes alone (read shows them)"),
            (record.unreadable.total, unreadable.as_str()),
            (record.asked_links.total, asked.as_str()),
            (if found { 0 } else { others }, links[usize::from(others != 1)]),
            (self.withheld, manner.withheld),
            (self.ignored, ignored[usize::from(self.ignored != 1)]),
            (self.hidden, "hidden (hidden: true looks there)"),
        ];
        parts.extend(counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
        if let Some(most) = self.ignored_by.first() {
            parts.push(format!("most by {}", text::name_in_line(&most.rule)));
        }
        let more_time = match manner.widening.timeout {
            Some(parameter) => format!("cut by time (raise `{parameter}` or narrow `path`)"),
            None => "cut by time (narrow `path`)".to_owned(),
        };
        let cuts = [
            (record.cut.limit, format!("cut by the limit (raise `{}` or use `offset`)", manner.widening.limit)),
            (record.cut.timeout, more_time),
            (record.cut.bytes, "cut by memory (narrow the search)".to_owned()),
        ];
        parts.extend(cuts.into_iter().filter(|(cut, _)| *cut).map(|(_, what)| what));
        if !self.other_roots.is_empty() {
            let roots = text::name_in_line(&self.other_roots.join(", ")).into_owned();
            parts.push(format!("not in the other roots (path looks there): {roots}"));
        }
        let word = if self.complete { "complete" } else { "NOT complete" };
        format!("[{word}: {}]", parts.join("; "))
    }
}
