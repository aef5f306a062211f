//! A link that is removed, replaced or read as one is judged by its own name, and not by what it leads to.

use super::super::super::fact::Fact;
use super::super::testing::facts;

/// Whether each fact about `/w/repo/link` is about the entry itself; none where there is no such fact.
fn itself(line: &str) -> Option<bool> {
    let mut found = facts(line).into_iter().filter_map(|fact| match fact {
        Fact::Read(target) | Fact::Write(target) | Fact::Delete(target) if target.path.ends_with("link") => {
            Some(target.itself)
        }
        _ => None,
    });
    let first = found.next()?;
    Some(found.fold(first, |all, one| all && one))
}

#[test]
fn what_goes_is_replaced_or_shown_is_the_link() {
    for line in [
        "rm link",
        "unlink link",
        "git rm link",
        "git rm -rf link",
        "mv -T new link",
        "mv -fT new link",
        "mv --no-target-directory new link",
        "readlink link",
        "readlink -n link",
        "greadlink -v link",
    ] {
        assert_eq!(itself(line), Some(true), "{line}: {:?}", facts(line));
    }
}

#[test]
fn what_is_followed_or_gets_another_name_is_what_it_leads_to() {
    for line in [
        "rm -r link/",
        "git rm -r link/",
        "mv new link",
        "mv -T link new",
        "mv -T -t link new",
        "cp -T new link",
        "readlink -f link",
        "readlink -e link",
        "readlink link/",
        "realpath link",
        "cp -P link new",
    ] {
        assert_ne!(itself(line), Some(true), "{line}: {:?}", facts(line));
    }
}
