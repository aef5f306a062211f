//! Programs of awk that print numbers of lines and counts, and nothing else: `/main/ {print NR; exit}`.

use super::{Token, effects, tokens};

/// What awk counts itself. None below zero.
const COUNTS: [&str; 3] = ["NR", "FNR", "NF"];

/// Other names with a meaning that change nothing of what is printed.
const PLAIN: &str = "print exit next nextfile if else length index substr tolower toupper BEGIN END FS RS IGNORECASE";

/// Whether everything that a program prints is such a number, each in a line of its own.
pub fn only(program: &str) -> bool {
    let Ok(tokens) = tokens(program) else { return false };
    let silent = effects(&tokens).is_ok_and(|effects| effects.writes.is_empty());
    silent && acts(&tokens) && (0..tokens.len()).all(|at| fits(&tokens, at))
}

/// Whether each pattern stands before an action: without one it prints the line.
fn acts(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    let mut waits = false;
    for token in tokens {
        match token {
            Token::Sign("{") => {
                depth += 1;
                waits = false;
            }
            Token::Sign("}") => depth = depth.saturating_sub(1),
            Token::Newline | Token::Sign(";") if depth == 0 && waits => return false,
            Token::Newline | Token::Sign(";") => {}
            _ => waits |= depth == 0,
        }
    }
    !waits && depth == 0
}

/// Whether the token at a place leaves what is printed a number.
fn fits(tokens: &[Token], at: usize) -> bool {
    let Some(Token::Name(name)) = tokens.get(at) else { return true };
    let own = is_own(name);
    let next = |ahead: usize| tokens.get(at + ahead);
    let counted = |token: Option<&Token>| {
        matches!(token, Some(Token::Number))
            || matches!(token, Some(Token::Name(name)) if COUNTS.contains(&name.as_str()))
    };
    match (name.as_str(), next(1)) {
        ("print", Some(Token::Name(printed))) => {
            let sum = next(2) == Some(&Token::Sign("+")) && next(3) == Some(&Token::Number);
            (COUNTS.contains(&printed.as_str()) || is_own(printed)) && ends(next(if sum { 4 } else { 2 }))
        }
        ("print", _) => false,
        // A call, or an element of an array.
        (_, Some(Token::Sign("("))) if own => false,
        (_, Some(Token::Sign("=" | "+="))) if own => counted(next(2)) && ends(next(3)),
        ("FS" | "RS", Some(Token::Sign("="))) => true,
        (_, Some(Token::Sign("=" | "+=" | "-=" | "*=" | "%=" | "^=" | "**=" | "--"))) => false,
        // `a /= 2` is a division to the reader of tokens.
        (_, Some(Token::Sign("/"))) => false,
        (_, Some(Token::Sign("++"))) => own,
        _ if matches!(at.checked_sub(1).and_then(|at| tokens.get(at)), Some(Token::Sign("++"))) => own,
        _ if matches!(at.checked_sub(1).and_then(|at| tokens.get(at)), Some(Token::Sign("--"))) => false,
        _ => own || COUNTS.contains(&name.as_str()) || PLAIN.split(' ').any(|plain| plain == name),
    }
}

/// A variable of the program's own.
fn is_own(name: &str) -> bool {
    const TAKEN: &str = "function func getline sub gsub gensub split match patsplit asort asorti in for while do delete return \
        printf switch case default break continue strftime sprintf system close fflush typeof mkbool";
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && !TAKEN.split_whitespace().chain(PLAIN.split(' ')).any(|taken| taken == name)
}

fn ends(token: Option<&Token>) -> bool {
    matches!(token, None | Some(Token::Newline | Token::Sign(";" | "}")))
}

#[cfg(test)]
mod tests {
    use super::only;

    #[test]
    fn counts_and_numbers_of_lines_are_numbers() {
        for program in [
            "/fn main/{print NR; exit}",
            "/fn main/ {print NR}",
            "$1 == \"x\" && NR > 3 { print FNR; exit }",
            "END{print NR}",
            "END { print NF }",
            "/x{2}/ {print NR + 1}",
            "/x/{n++} END{print n}",
            "/x/{c++}\nEND{print c+0}",
            "/a/ {s=NR} /b/ {print s; exit}",
            "/}/ && !seen {print NR; seen = 1}",
            "BEGIN {FS=\":\"} $2 ~ /x/ {if (NR > 4) print NR}",
            "length($0) > 100 {print NR}",
        ] {
            assert!(only(program), "{program}");
        }
        for program in [
            "/x/",
            "NR",
            "/x/ {print}",
            "{print $1}",
            "{print NR, $1}",
            "{print NR $1}",
            "{print NR\":\"$0}",
            "{print(NR)}",
            "/x/; {print NR}",
            "/x/\n{print NR}",
            "{print NR}\n/x/",
            "{n=$1} END{print n}",
            "{n=NR $1} END{print n}",
            "{n+=$1} END{print n}",
            "(n = $1) {print n}",
            "{NR=$1} {print NR}",
            "sub(/a/, \"b\", NF) {print NF}",
            "{split($0, n)} {print n}",
            "{getline n} {print n}",
            "{for (n in a) print n}",
            "{print -NR}",
            "{print NR-5}",
            "{print n--}",
            "{n-=1} END{print n}",
            "BEGIN{ORS=\"x\"} {print NR}",
            "BEGIN{OFMT=\"x\"} {print NR}",
            "{printf NR}",
            "{print NR > \"f\"}",
            "{n /= $1} {print n}",
            "function f(n) {print n} {f($1)}",
            "{c[$1]++} END{print c[\"x\"]}",
            "BEGIN{while ((\"x\" | getline n) > 0) print n}",
        ] {
            assert!(!only(program), "{program}");
        }
    }
}
