//! What an awk program touches besides its input: files it reads and writes, commands it runs.
//!
//! A tokeniser, because only tokens tell a pattern from a division and a comparison from a redirection.
//! It knows what gawk, mawk and the original have in common; what they would read differently, and
//! every way to a command, cannot be said.

/// Streams that are named like files.
const STREAMS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/null", "-"];

/// Names that lead outside of the program, and where.
const OUTSIDE: [(&str, &str); 6] = [
    ("extension", "it loads a library with `extension`"),
    ("system", "it runs commands with `system`"),
    ("ARGV", "it may change which files are read, through `ARGV`"),
    ("ARGC", "it may change which files are read, through `ARGC`"),
    ("SYMTAB", "it changes variables by name, through `SYMTAB`"),
    ("FUNCTAB", "it calls functions by name, through `FUNCTAB`"),
];

/// Words behind which an expression begins, so that a `/` opens a pattern.
const BEFORE_EXPRESSION: [&str; 9] = ["print", "printf", "return", "in", "else", "do", "case", "delete", "exit"];

/// What a program touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files it reads with `getline <`.
    pub reads: Vec<String>,
    /// Files it writes with `print >`.
    pub writes: Vec<String>,
}

/// Why the effects of a program cannot be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// It runs a command, or reaches outside in a way of its own.
    Runs(String),
    /// It writes to a file whose name is computed.
    Writes(String),
    /// The text is not what this tokeniser knows.
    Unread(String),
}

impl Doubt {
    /// The sentence.
    pub fn why(&self) -> &str {
        match self {
            Doubt::Runs(why) | Doubt::Writes(why) | Doubt::Unread(why) => why,
        }
    }
}

/// Reads a program.
pub fn analyse(program: &str) -> Result<Effects, Doubt> {
    effects(&tokens(program)?)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    Number,
    /// A string without its quotes; none if it has escapes, which differ between versions.
    Text(Option<String>),
    Pattern,
    Newline,
    /// An operator or a bracket.
    Sign(&'static str),
}

/// Longest first.
const SIGNS: [&str; 47] = [
    "**=", ">>", "<=", ">=", "==", "!=", "!~", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "%=", "^=", "**", "{",
    "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "|", "?", ":", "~", "$", "=", "&",
    "@", "#", "\\", ".", "'",
];

fn unread<T>(why: &str) -> Result<T, Doubt> {
    Err(Doubt::Unread(format!("the awk program cannot be read: {why}")))
}

fn tokens(program: &str) -> Result<Vec<Token>, Doubt> {
    let text: Vec<char> = program.chars().collect();
    let mut out: Vec<Token> = Vec::new();
    // What stood before each open parenthesis, to know what a closed one was about.
    let mut open: Vec<bool> = Vec::new();
    let mut condition = false;
    let mut at = 0;
    while let Some(c) = text.get(at).copied() {
        let start = at;
        at += 1;
        match c {
            ' ' | '\t' => continue,
            '\n' => out.push(Token::Newline),
            '#' => at = end_of(&text, at, |c| c != '\n'),
            '\\' => {
                if text.get(at) != Some(&'\n') {
                    return unread("a `\\` stands outside of text");
                }
                at += 1;
            }
            '"' => {
                let (word, end) = string(&text, at)?;
                out.push(Token::Text(word));
                at = end;
            }
            '/' => match slash(out.last(), out.len().checked_sub(2).and_then(|at| out.get(at)), condition) {
                Slash::Division => {
                    at += usize::from(text.get(at) == Some(&'='));
                    out.push(Token::Sign("/"));
                }
                Slash::Pattern => {
                    at = pattern(&text, at)?;
                    out.push(Token::Pattern);
                }
                Slash::Either => return unread("a `/` may divide or open a pattern"),
            },
            _ if c == '_' || c.is_ascii_alphabetic() => {
                at = end_of(&text, at, |c| c == '_' || c.is_ascii_alphanumeric());
                out.push(Token::Name(text[start..at].iter().collect()));
            }
            _ if c.is_ascii_digit() || (c == '.' && text.get(at).is_some_and(char::is_ascii_digit)) => {
                at = number(&text, start)?;
                out.push(Token::Number);
            }
            _ => {
                let rest = &text[start..text.len().min(start + 3)];
                let Some(sign) = SIGNS.iter().find(|sign| begins(rest, sign)) else {
                    return unread("it holds a character that is not of awk");
                };
                at = start + sign.len();
                match *sign {
                    "(" => {
                        open.push(matches!(out.last(), Some(Token::Name(name)) if is_condition(name)));
                    }
                    ")" => condition = open.pop().unwrap_or(false),
                    _ => {}
                }
                out.push(Token::Sign(sign));
            }
        }
    }
    Ok(out)
}

fn is_condition(name: &str) -> bool {
    matches!(name, "if" | "while" | "for" | "switch")
}

fn begins(text: &[char], sign: &str) -> bool {
    let mut text = text.iter();
    sign.chars().all(|wanted| text.next() == Some(&wanted))
}

fn end_of(text: &[char], from: usize, part: impl Fn(char) -> bool) -> usize {
    text.iter().skip(from).position(|c| !part(*c)).map_or(text.len(), |length| from + length)
}

enum Slash {
    Division,
    Pattern,
    Either,
}

fn slash(last: Option<&Token>, before: Option<&Token>, condition: bool) -> Slash {
    match last {
        None | Some(Token::Newline) => Slash::Pattern,
        Some(Token::Name(name)) if BEFORE_EXPRESSION.contains(&name.as_str()) => Slash::Pattern,
        Some(Token::Name(name)) if name == "getline" => Slash::Either,
        Some(Token::Pattern) => Slash::Either,
        Some(Token::Name(_) | Token::Number | Token::Text(_)) => Slash::Division,
        Some(Token::Sign(")")) if condition => Slash::Either,
        Some(Token::Sign(")" | "]")) => Slash::Division,
        Some(Token::Sign("++" | "--")) => match before {
            Some(Token::Name(_) | Token::Sign("]" | ")")) => Slash::Division,
            _ => Slash::Either,
        },
        Some(Token::Sign("$" | "@" | "'" | "\\" | "#" | ".")) => Slash::Either,
        Some(Token::Sign(_)) => Slash::Pattern,
    }
}

/// Where a number ends. A letter right behind it is read differently by different versions.
fn number(text: &[char], from: usize) -> Result<usize, Doubt> {
    let hex = text.get(from) == Some(&'0') && matches!(text.get(from + 1), Some('x' | 'X'));
    let mut at = if hex {
        end_of(text, from + 2, |c| c.is_ascii_hexdigit())
    } else {
        end_of(text, from, |c| c == '.' || c.is_ascii_digit())
    };
    if !hex && matches!(text.get(at), Some('e' | 'E')) {
        let signed = at + 1 + usize::from(matches!(text.get(at + 1), Some('+' | '-')));
        at = end_of(text, signed, |c| c.is_ascii_digit());
    }
    match text.get(at) {
        Some(c) if *c == '_' || c.is_alphanumeric() => unread("a letter stands right behind a number"),
        _ => Ok(at),
    }
}

/// The text behind a `"` and where it ends.
fn string(text: &[char], from: usize) -> Result<(Option<String>, usize), Doubt> {
    let (mut word, mut plain, mut at) = (String::new(), true, from);
    loop {
        match text.get(at) {
            None | Some('\n') => return unread("a string is not closed"),
            Some('"') => return Ok((plain.then_some(word), at + 1)),
            Some('\\') => {
                plain = false;
                at += 2;
            }
            Some(c) => {
                word.push(*c);
                at += 1;
            }
        }
    }
}

/// Where the pattern behind a `/` ends. A `/` inside `[…]` is its end in some versions, which then stop before they run
/// anything, for the bracket is open. Where they may differ on what is open it cannot be read.
fn pattern(text: &[char], from: usize) -> Result<usize, Doubt> {
    let mut at = from;
    let (mut inside, mut plain) = (false, true);
    while let Some(c) = text.get(at).copied() {
        at += 1;
        match c {
            '\n' => break,
            '\\' => {
                plain = false;
                at += 1;
            }
            '/' if inside && plain => {}
            '/' if inside => return unread("a `/` stands inside `[…]`; write `\\/`"),
            '/' => return Ok(at),
            '[' if inside => {
                // A class such as `[:alpha:]`; anything else may nest in one version and not in another.
                let end = end_of(text, at + 1, |c| c.is_ascii_lowercase());
                if text.get(at) != Some(&':') || text.get(end) != Some(&':') || text.get(end + 1) != Some(&']') {
                    return unread("a `[` stands inside `[…]`");
                }
                at = end + 2;
                plain = false;
            }
            '[' => {
                inside = true;
                at += usize::from(text.get(at) == Some(&'^'));
                plain &= text.get(at) != Some(&']');
                at += usize::from(text.get(at) == Some(&']'));
            }
            ']' => inside = false,
            _ => {}
        }
    }
    unread("a pattern is not closed")
}

/// How deep the walk is in parentheses and brackets, and whether it is in the list of a `print`.
#[derive(Default)]
struct Walk {
    round: usize,
    square: usize,
    /// The depth in parentheses where the `print` stands.
    print: Option<usize>,
}

fn effects(tokens: &[Token]) -> Result<Effects, Doubt> {
    let mut out = Effects::default();
    let mut walk = Walk::default();
    let mut last: Option<&Token> = None;
    let changes = tokens.iter().any(may_change);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) => {
                if let Some((_, why)) = OUTSIDE.iter().find(|(outside, _)| outside == name)
                    && !only_counts(tokens, at, changes)
                {
                    return Err(Doubt::Runs((*why).to_owned()));
                }
                match name.as_str() {
                    "print" | "printf" => walk.print = Some(walk.round),
                    "getline" => out.reads.extend(getline(&tokens[at + 1..])?),
                    _ => {}
                }
            }
            Token::Sign("(") => walk.round += 1,
            Token::Sign(")") => walk.round = walk.round.saturating_sub(1),
            Token::Sign("[") => walk.square += 1,
            Token::Sign("]") => walk.square = walk.square.saturating_sub(1),
            Token::Sign(";" | "{" | "}") => walk.print = None,
            Token::Newline if !matches!(last, Some(Token::Sign("," | "&&" | "||" | "?" | ":"))) => walk.print = None,
            Token::Sign("|") if walk.print == Some(walk.round) && is_filter(&tokens[at + 1..]) => walk.print = None,
            Token::Sign("|" | "|&") => return Err(Doubt::Runs("it runs a command through a pipe".to_owned())),
            Token::Sign("@") => {
                return Err(Doubt::Runs("it loads or calls by name, with `@`".to_owned()));
            }
            Token::Sign(">" | ">>") if walk.print == Some(walk.round) => {
                if walk.square > 0 {
                    return unread("a `>` stands in a subscript behind `print`");
                }
                out.writes.extend(target(&tokens[at + 1..])?);
                walk.print = None;
            }
            Token::Sign(">>") => return unread("a `>>` stands outside of `print`"),
            Token::Sign("&" | "#" | "\\" | "." | "'") => return unread("it holds a character that is not of awk"),
            _ => {}
        }
        last = Some(token);
    }
    Ok(out)
}

/// The file behind `>`. None for a stream.
fn target(rest: &[Token]) -> Result<Option<String>, Doubt> {
    match (rest.first(), rest.get(1)) {
        (Some(Token::Text(Some(name))), None | Some(Token::Newline | Token::Sign(";" | "}"))) => Ok(file(name)?),
        _ => Err(Doubt::Writes("it writes to a file whose name is computed".to_owned())),
    }
}

/// Whether what `print` feeds is a command in full, and one that only sorts, counts or cuts lines.
fn is_filter(rest: &[Token]) -> bool {
    const FILTERS: [&str; 5] = ["sort", "uniq", "wc", "head", "tail"];
    let (Some(Token::Text(Some(command))), None | Some(Token::Newline | Token::Sign(";" | "}"))) =
        (rest.first(), rest.get(1))
    else {
        return false;
    };
    let mut words = command.split(' ');
    let harmless = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|b| b"nrufhbdgkclw0123456789.,".contains(&b)))
    };
    words.next().is_some_and(|name| FILTERS.contains(&name)) && words.all(harmless)
}

/// Whether it may change a variable that it is given, without a sign of assignment.
fn may_change(token: &Token) -> bool {
    const CHANGES: [&str; 10] =
        ["sub", "gsub", "getline", "in", "split", "delete", "match", "patsplit", "asort", "asorti"];
    matches!(token, Token::Name(name) if CHANGES.contains(&name.as_str()))
}

/// Whether the name at a place is only asked for what is there: `length(ARGV)`, and `ARGC` and `ARGV[1]` where nothing in
/// the whole program `changes` them.
fn only_counts(tokens: &[Token], at: usize, changes: bool) -> bool {
    const BEHIND: [&str; 11] = [")", ",", ";", "}", "-", "+", ">", "<", "==", "<=", "!="];
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(Token::Name(name)), Some(Token::Sign(")"))) if name == "ARGV" => {
            matches!((before(2), before(1)), (Some(Token::Name(length)), Some(Token::Sign("("))) if length == "length")
        }
        (Some(Token::Name(name)), next) => {
            let one = matches!(
                (next, tokens.get(at + 2), tokens.get(at + 3)),
                (Some(Token::Sign("[")), Some(Token::Number), Some(Token::Sign("]")))
            );
            let behind = match name.as_str() {
                "ARGC" => next,
                "ARGV" if one => tokens.get(at + 4),
                _ => return false,
            };
            let fine = match behind {
                None | Some(Token::Newline) => true,
                Some(Token::Sign(sign)) => BEHIND.contains(sign),
                Some(_) => false,
            };
            fine && !matches!(before(1), Some(Token::Sign("++" | "--"))) && !changes
        }
        _ => false,
    }
}

/// What stands behind `getline`: nothing, a variable, and `< "file"`.
fn getline(rest: &[Token]) -> Result<Option<String>, Doubt> {
    let mut at = 0;
    if let Some(Token::Name(name)) = rest.first() {
        if OUTSIDE.iter().any(|(outside, _)| outside == name) {
            return Err(Doubt::Runs(format!("it reads into `{name}`")));
        }
        at = 1;
        if rest.get(at) == Some(&Token::Sign("[")) {
            let simple = matches!(rest.get(2), Some(Token::Name(_) | Token::Number | Token::Text(_)));
            if !simple {
                return unread("what `getline` reads into is computed");
            }
            at = if rest.get(3) == Some(&Token::Sign("++")) { 5 } else { 4 };
            if rest.get(at - 1) != Some(&Token::Sign("]")) {
                return unread("what `getline` reads into is computed");
            }
        }
    }
    let ends = |token: Option<&Token>| {
        matches!(
            token,
            None | Some(Token::Newline | Token::Sign(")" | ";" | "}" | ">" | ">=" | "==" | "!=" | "&&" | "||"))
        )
    };
    match (rest.get(at), rest.get(at + 1)) {
        (Some(Token::Sign("<")), Some(Token::Text(Some(name)))) if ends(rest.get(at + 2)) => Ok(file(name)?),
        (Some(Token::Sign("<")), _) => {
            Err(Doubt::Unread("it reads a file whose name is computed, with `getline`".to_owned()))
        }
        (token, _) if ends(token) => Ok(None),
        _ => unread("what stands behind `getline` is not known"),
    }
}

/// A literal file name. None for a stream.
fn file(name: &str) -> Result<Option<String>, Doubt> {
    match name {
        _ if STREAMS.contains(&name) => Ok(None),
        _ if name.starts_with("/inet") => Err(Doubt::Runs("it opens a network connection".to_owned())),
        "" => unread("a file has no name"),
        _ => Ok(Some(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_computes_touches_nothing() {
        let programs = [
            "",
            "1",
            "{print $1}",
            "{print $1, $NF}",
            "NR<=n",
            "NR>5",
            "NR>=10 && NR<=20",
            "NR==1||/x|y/",
            "/foo/",
            "!/foo/ && $3 ~ /^a\\/b$/",
            "/[[:space:]]>[^]]|system(/",
            "$1 > 5 {print $2}",
            "$1 > 5 {print $2 \" > \" $3}",
            "{print ($1 > 5)}",
            "{print (a > b) ? \"x\" : \"y\"}",
            "{s+=$1} END {print s/NR}",
            "{s+=$1} END {printf \"%.2f\\n\", s / NR; print \"|\"}",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
            "!seen[$0]++",
            "{gsub(/a|b/, \"x\"); print}",
            "{n=split($0, p, /[,;]/); print p[n]/2}",
            "{c[$1]++} END {for (k in c) print c[k], k | \"sort -rn\"}",
            "{print $1 | \"sort -k2,2nr\"; n++}",
            "function f(x) { return x / 2 }\n{ print f($1) / 3 }",
            "length > 80",
            "length($0)/2 > 10 {print FILENAME\":\"FNR}",
            "{print length/2}",
            "# system(\"x\") | getline\n{print}",
            "{print} # > file",
            "{x = $1 / 2; y = $2 / 3; print x > \"/dev/stderr\"}",
            "NR==FNR{a[$1];next} $1 in a",
            "{print a, \\\n b}",
            "{print a,\n b; if (c > d) print e}",
            "{if ($1 > 3) print; else print $2}",
            "{ print $1\n}\n$2 > 3",
            "{ getline; print }",
            "{ while ((getline line) > 0) n++ }",
            "{ while ((getline line < \"-\") > 0) print line }",
            "BEGIN { while (getline > 0) n++; print n }",
            "/start/,/end/",
            "{print substr($0, index($0,$3))}",
            "{ x = 1e-5; y = .5; z = 0x1F }",
            "END{print NR}",
            "{$1=\"\"; print $0}",
            "{ print > \"/dev/null\" }",
            "{a[NR]=$0} END{for(i=NR;i>0;i--)print a[i]}",
            "BEGIN{print ENVIRON[\"HOME\"]}",
            "{print $(NF-1)/$NF}",
            "{i++; print i/2, a[i]++ / 2}",
            "{printf(\"%s\\n\", $1 > 2)}",
            "{sub(/[/]$/, \"\"); print}",
            "{gsub(/[^a-z/_]+/, \"_\"); print}",
            "BEGIN{print ARGV[1], ARGC}",
            "BEGIN{for (i = 1; i < ARGC; i++) n = ARGV[2] - 1}",
        ];
        for program in programs {
            assert_eq!(analyse(program), Ok(Effects::default()), "{program}");
        }
    }

    #[test]
    fn files_are_named() {
        let writes = [
            "{print > \"out\"}",
            "{print $1, $2 > \"out\"}",
            "{print $1 >> \"out\"}",
            "{printf \"%s\", $1 > \"out\"}",
            "{print (1)(2) > \"out\"; close(\"out\")}",
            "{print(1) > \"out\"\n}",
            "{if (x > 2) print x > \"out\"}",
            "{print a,\n b > \"out\"}",
            "{x = 4 / 2; print > \"out\" ; y = 1 / 2}",
            "/a\\/b/ {print > \"out\"}",
            "$1 / 2 > 3 {print > \"out\"} # /",
            "{print a ? b : c > \"out\"}",
            "{print /x/ > \"out\"}",
            "{print\\\n> \"out\"}",
        ];
        for program in writes {
            let want = Effects { reads: vec![], writes: vec!["out".to_owned()] };
            assert_eq!(analyse(program), Ok(want), "{program}");
        }
        let reads = [
            "BEGIN { while ((getline line < \"in\") > 0) print line }",
            "BEGIN { getline < \"in\" }",
            "BEGIN { getline x[1] < \"in\"; print x[1] }",
            "BEGIN { while ((getline a[n++] < \"in\") > 0) ; }",
        ];
        for program in reads {
            let want = Effects { reads: vec!["in".to_owned()], writes: vec![] };
            assert_eq!(analyse(program), Ok(want), "{program}");
        }
    }

    #[test]
    fn commands_and_computed_files_cannot_be_said() {
        let runs = [
            "{system(\"id\")}",
            "BEGIN{system (\"id\")}",
            "{print | \"sh\"}",
            "{print $1 |\"sh\"}",
            "BEGIN{\"id\" | getline; print}",
            "BEGIN{while((\"id\"|getline l)>0)print l}",
            "BEGIN{\"id\" |& getline x}",
            "{print |& \"sh\"}",
            "{print |& \"sort\"}",
            "{print | \"sort -o x\"}",
            "{print | \"sort -ox\"}",
            "{print | \"sort --output=x\"}",
            "{print | \"sort\" x}",
            "{print | \"sort;id\"}",
            "{print | \"./sort\"}",
            "BEGIN{\"sort\" | getline}",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "{f=\"system\"; @f(\"id\")}",
            "BEGIN{awk::system(\"id\")}",
            "BEGIN{ARGV[1]=\"/etc/passwd\"}",
            "BEGIN{ARGC=5}",
            "BEGIN{getline ARGV[1]}",
            "BEGIN{delete ARGV[1]}",
            "BEGIN{ARGV[1]++}",
            "BEGIN{--ARGV[1]}",
            "BEGIN{sub(/a/, \"b\", ARGV[1])}",
            "BEGIN{ARGV[1] += 1}",
            "BEGIN{print ARGV[i]}",
            "function f(a) { a[1] = 2 }\nBEGIN{f(ARGV, 1)}",
            "BEGIN{print SYMTAB[1]}",
            "BEGIN{split(\"a\", ARGV)}",
            "/[]/]system(\"id\")#/",
            "/[\\]/]system(\"id\")#/",
            "BEGIN{SYMTAB[\"x\"]=1}",
            "BEGIN{x = 1 / 2; system(\"id\") / 2}",
            "BEGIN{x = y /2; system(\"id\"); z = 3/ 1}",
            "/a/{b = c / d; system(\"id\")} # /",
            "# a\nBEGIN{system(\"id\")}",
            "BEGIN{x=\"a\\\"\"; system(\"id\"); y=\"\"}",
            "/[/]/system(\"id\")",
            "{}$1system(\"id\")",
            "{x=1e5system(\"id\")}",
            "{x=0x1fsystem(\"id\")}",
            "BEGIN{getline < \"/inet/tcp/0/203.0.113.9/80\"}",
            "BEGIN{print > \"/inet/udp/0/203.0.113.9/53\"}",
        ];
        for program in runs {
            assert!(analyse(program).is_err(), "{program}");
        }
        let doubts = [
            "{print > $1}",
            "{print > $1\".txt\"}",
            "{print > \"a\" $1}",
            "{print > (\"a\")}",
            "{print > \"a\\x\"}",
            "{print > f; x = \"/dev/stdout\"}",
            "BEGIN{getline < f}",
            "BEGIN{getline x < \"a\" b}",
            "{if (x) /re/ system(1)}",
            "{x = $/a/}",
            "{print \"a}",
            "/a",
            "{print a[x > \"f\"]}",
            "{print §}",
            "'{print}'",
        ];
        for program in doubts {
            assert!(analyse(program).is_err(), "{program}");
        }
    }
}
