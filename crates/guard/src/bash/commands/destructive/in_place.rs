//! Filters that edit a file in place and print nothing back, so that it is empty.

use super::super::super::fact::Category;
use super::Hit;
use super::words::Line;

/// `sed -i d FILE`: every line goes, or all that it holds, or nothing is printed back.
pub(super) fn sed(line: &Line, _: Option<&str>) -> Option<Hit> {
    const ALL: &[&str] = &[
        "d",
        "1,$d",
        "1,$ d",
        "0~1d",
        "1~1d",
        "/./d",
        "/^/d",
        "/$/d",
        "/.*/d",
        "/^.*$/d",
        "Q",
        "1Q",
        "q",
        "1q",
        "s/.*//",
        "s/^.*//",
        "s/^.*$//",
        "s/.*$//",
        "s/.*//g",
        "s/^.*$//g",
    ];
    /// Commands that put something out.
    const SAY: &[char] = &['p', 'P', '=', 'i', 'a', 'c', 'l', 'w', 'W'];
    let in_place = line.flags.iter().any(|flag| flag.name == "-i" || flag.name.starts_with("--in-place"));
    let all = |text: &str| ALL.contains(&text.trim());
    let program = line.values("-e --expression").next().or(line.operands.first()).filter(|piece| piece.known);
    let silent = line.any("-n --quiet --silent") && program.is_some_and(|piece| !piece.text.contains(SAY));
    (in_place && (silent || line.raw.iter().any(|word| word.known && all(&word.text))))
        .then(|| (Category::Files, "`sed -i` leaves nothing of a file".to_owned()))
}

/// `perl -i -ne '' FILE`: what is read is not printed back, or nothing of it.
pub(super) fn perl(line: &Line, _: Option<&str>) -> Option<Hit> {
    /// What prints, and what may run code that does.
    const SAY: &[&str] = &["print", "say", "write", "eval", "do ", "require", "use "];
    const ALL: &[&str] = &[
        "$_=\"\"",
        "$_=''",
        "$_=q()",
        "$_=undef",
        "undef$_",
        "undef($_)",
        "s/.*//s",
        "s/^.*//s",
        "s/.*\\n//",
        "s/^.*\\n//",
    ];
    let (mut letters, mut code) = (String::new(), Vec::new());
    let mut words = line.raw.iter();
    // What stands behind a script or a file is theirs.
    while let Some(bundle) = words.next().and_then(|word| word.text.strip_prefix('-')) {
        // A module may print, and a copy is kept of what `-i.bak` edits.
        if bundle.starts_with(['M', 'm']) || bundle.split_once('i').is_some_and(|(_, end)| end.starts_with(['.', '~']))
        {
            return None;
        }
        letters.extend(bundle.chars().take_while(char::is_ascii_alphanumeric));
        if bundle.ends_with(['e', 'E']) {
            code.push(words.next().filter(|code| code.known)?.text.as_ref());
        }
    }
    let silent = letters.contains('n') && !code.iter().any(|code| SAY.iter().any(|word| code.contains(word)));
    let bare = |code: &str| code.split_whitespace().collect::<String>();
    let all = || matches!(code.as_slice(), [code] if ALL.contains(&bare(code).trim_end_matches(';')));
    let nothing = if letters.contains('p') { all() } else { silent };
    (letters.contains('i') && !code.is_empty() && nothing)
        .then(|| (Category::Files, "`perl -i` leaves nothing of a file".to_owned()))
}

/// `gawk -i inplace 0 FILE`: nothing of what is read is printed back.
pub(super) fn awk(line: &Line, _: Option<&str>) -> Option<Hit> {
    let in_place = line.values("-i --include").any(|piece| &*piece.text == "inplace");
    let is_kept = line.raw.iter().any(|word| word.text.contains("inplace::suffix"));
    let elsewhere = line.any("-f --file -e --source -E --exec");
    let program = line.operands.first().filter(|piece| piece.known && !elsewhere)?;
    (in_place && !is_kept && never_prints(&program.text))
        .then(|| (Category::Files, "`gawk -i inplace` leaves nothing of a file".to_owned()))
}

/// Whether no rule of the program prints: a pattern without an action does, unless it never holds.
fn never_prints(program: &str) -> bool {
    const NEVER: &[&str] = &["", "0", "\"\"", "!1", "NR==0", "NR<1", "NR<=0", "NF<0"];
    let (mut depth, mut outside) = (0_usize, String::new());
    for letter in program.trim().chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return false,
            '}' => depth -= 1,
            letter if depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    let all_act = program.trim_end().ends_with('}') && !outside.contains([';', '\n']);
    let bare: String = program.split_whitespace().collect();
    depth == 0 && !program.contains("print") && (all_act || NEVER.contains(&bare.as_str()))
}
