//! Other ways to write a command, for rules that deny or ask: whoever writes `exec(git push*)` means `git -C . push`, too.

/// The same command in the words of a rule: by its program's bare name, `git-push` as `git push`, and without what stands
/// before its subcommand. As which option takes the next word is not known here, each such word is tried as both.
pub fn readings(argv: &[String]) -> Vec<Vec<String>> {
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut head = vec![name.to_owned()];
    if let Some(subcommand) = name.strip_prefix("git-").filter(|rest| !rest.is_empty()) {
        head = vec!["git".to_owned(), subcommand.to_owned()];
    }
    let from = |at: usize| head.iter().chain(words.iter().skip(at)).cloned().collect();
    let mut all: Vec<Vec<String>> = vec![from(0)];
    if head.len() > 1 {
        return all;
    }
    let is_option = |word: &String| word.starts_with(['-', '+']);
    let takes_next = |word: &String| word.starts_with('-') && !word.contains('=');
    let mut before: Option<&String> = None;
    for (at, word) in words.iter().enumerate() {
        if !is_option(word) {
            if at > 0 {
                all.push(from(at));
            }
            if !before.is_some_and(takes_next) {
                break;
            }
        }
        before = Some(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_behind_its_options() {
        let any = |text: &str, wanted: &str| {
            let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
            readings(&argv).iter().any(|words| words.join(" ") == wanted)
        };
        for (text, wanted) in [
            ("/usr/bin/git push", "git push"),
            ("git -C . push origin", "git push origin"),
            ("git -C . --no-pager push", "git push"),
            ("git --no-pager -C . -c a=b push -f", "git push -f"),
            ("git --git-dir=x -P push", "git push"),
            ("/usr/lib/git-core/git-push origin", "git push origin"),
            ("kubectl -n prod delete pod x", "kubectl delete pod x"),
            ("cargo +nightly --offline publish", "cargo publish"),
            ("npm --silent publish", "npm publish"),
        ] {
            assert!(any(text, wanted), "{text}");
        }
        for (text, other) in
            [("git log push", "git push"), ("git commit -m push", "git push"), ("echo a rm", "echo rm")]
        {
            assert!(!any(text, other), "{text}");
        }
        assert!(readings(&[]).is_empty());
    }
}
