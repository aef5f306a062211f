//! The order results come in: by path, component by component, as
//! `rg --sort path` walks.

use std::cmp::Ordering;

/// Compares two paths by their components: `a/b` comes before `a.c`, though
/// `/` sorts after `.` as a byte.
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    match a[..common].iter().zip(&b[..common]).position(|(x, y)| x != y) {
        Some(i) => rank(a[i]).cmp(&rank(b[i])),
        None => a.len().cmp(&b.len()),
    }
}

fn rank(byte: u8) -> u8 {
    if byte == b'/' { 0 } else { byte }
}

#[cfg(test)]
mod tests {
    use super::path_order;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn a_directory_comes_before_its_longer_namesake() {
        let mut paths = ["a.c", "a/b", "a", "a-b", "b", "a/b/c", "a/B"];
        paths.sort_by(|x, y| path_order(x.as_bytes(), y.as_bytes()));
        assert_eq!(paths, ["a", "a/B", "a/b", "a/b/c", "a-b", "a.c", "b"]);
    }

    proptest! {
        #[test]
        fn equals_the_order_of_std_paths(a in "[ab-][ab.-]{0,2}(/[ab-][ab.-]{0,2}){0,3}", b in "[ab-][ab.-]{0,2}(/[ab-][ab.-]{0,2}){0,3}") {
            let path = |s: &str| Path::new(OsStr::from_bytes(s.as_bytes())).to_path_buf();
            prop_assert_eq!(path_order(a.as_bytes(), b.as_bytes()), path(&a).cmp(&path(&b)));
        }
    }
}
