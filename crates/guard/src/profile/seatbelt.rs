//! The text of a macOS Seatbelt profile, from the same data.
//!
//! Seatbelt's last matching rule wins, so the order is: everything denied, what may be done, what is carved out of
//! it. It matches names, so an absent guarded name needs nothing to stand in for it.

use std::fmt::Write as _;
use std::path::Path;

use super::{Access, Profile};

/// What any program needs to start, and nothing that reaches another process.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow file-write-data file-ioctl (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/dtracehelper\"))
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
(allow ipc-posix-sem)
(allow pseudo-tty)
";

/// The profile as `sandbox-exec -p` takes it; `proxy_port` is where the proxy listens when hosts are allowed.
/// `None` for an unconfined profile, and for a path that is no text.
pub fn seatbelt(profile: &Profile, tmp: &Path, proxy_port: Option<u16>) -> Option<String> {
    let mut out = BASE.to_owned();
    let mut rule = |verdict: &str, what: &str, paths: &mut dyn Iterator<Item = &Path>| -> Option<()> {
        for path in paths {
            writeln!(out, "({verdict} {what} (subpath {}))", quoted(path)?).ok()?;
        }
        Some(())
    };
    match profile.access {
        Access::Unconfined => return None,
        Access::ReadOnly => {}
        Access::Workspace => rule("allow", "file-write*", &mut profile.roots.iter().map(|root| root.as_path()))?,
    }
    rule("allow", "file-write*", &mut std::iter::once(tmp))?;
    let guarded = profile.protected.iter().chain(&profile.absent);
    rule("deny", "file-write*", &mut guarded.map(|path| path.as_path()))?;
    // A parent that is renamed would take what is protected with it.
    let mut parents: Vec<&Path> = Vec::new();
    for path in profile.protected.iter().chain(&profile.absent) {
        let above = path.ancestors().skip(1);
        parents.extend(above.take_while(|above| profile.roots.iter().any(|root| above.starts_with(root))));
    }
    parents.sort();
    parents.dedup();
    let hidden = profile.secrets.iter().chain(&profile.masked);
    rule("deny", "file-read* file-write*", &mut hidden.map(|path| path.as_path()))?;
    for parent in parents {
        writeln!(out, "(deny file-write-unlink (literal {}))", quoted(parent)?).ok()?;
    }
    if let Some(port) = proxy_port.filter(|_| !profile.hosts.is_empty()) {
        writeln!(out, "(allow network-outbound (remote ip \"localhost:{port}\"))").ok()?;
    }
    Some(out)
}

/// A path as a Seatbelt string. Control characters could end the line, so a path with one has no text.
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control))?;
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl FnOnce(&mut Profile)) -> Option<String> {
        let mut profile = Profile::new(Access::Workspace, "/w", "/Users/dev");
        profile.protected = vec!["/w/.git/hooks".into()];
        profile.absent = vec!["/w/.envrc".into()];
        profile.secrets = vec!["/Users/dev/.ssh".into()];
        change(&mut profile);
        seatbelt(&profile, Path::new("/private/tmp/nika-1"), Some(4128))
    }

    /// Where `line` stands, so that orders can be compared.
    fn at(text: &str, line: &str) -> usize {
        text.lines().position(|other| other == line).unwrap_or_else(|| panic!("no {line} in\n{text}"))
    }

    #[test]
    fn what_is_carved_out_comes_after_what_is_allowed() {
        let text = text(|_| {}).unwrap();
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        let allowed = at(&text, r#"(allow file-write* (subpath "/w"))"#);
        assert!(allowed < at(&text, r#"(deny file-write* (subpath "/w/.git/hooks"))"#));
        assert!(allowed < at(&text, r#"(deny file-write* (subpath "/w/.envrc"))"#));
        assert!(allowed < at(&text, r#"(deny file-write-unlink (literal "/w/.git"))"#));
        assert!(
            at(&text, "(allow file-read*)") < at(&text, r#"(deny file-read* file-write* (subpath "/Users/dev/.ssh"))"#)
        );
        assert!(!text.contains("network"));
    }

    #[test]
    fn reading_only_writes_in_its_own_tmp_alone() {
        let text = text(|profile| profile.access = Access::ReadOnly).unwrap();
        let writes: Vec<_> = text.lines().filter(|line| line.starts_with("(allow file-write*")).collect();
        assert_eq!(writes, [r#"(allow file-write* (subpath "/private/tmp/nika-1"))"#]);
    }

    #[test]
    fn allowed_hosts_open_the_proxy_and_nothing_else() {
        let text = text(|profile| profile.hosts = vec!["example.com".into()]).unwrap();
        let network: Vec<_> = text.lines().filter(|line| line.contains("network")).collect();
        assert_eq!(network, [r#"(allow network-outbound (remote ip "localhost:4128"))"#]);
    }

    #[test]
    fn names_cannot_write_rules() {
        let quoted = text(|profile| profile.roots = vec![r#"/w")(allow default)"\"#.into()]).unwrap();
        assert!(quoted.contains(r#"(allow file-write* (subpath "/w\")(allow default)\"\\"))"#), "{quoted}");
        assert_eq!(text(|profile| profile.roots = vec!["/w\n(allow default)".into()]), None);
        assert_eq!(text(|profile| profile.access = Access::Unconfined), None);
    }
}
