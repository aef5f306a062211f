//! Whether a Perl program only reads its input and prints: `perl -ne 'print if /x/'`.
//!
//! Perl has too many ways to run something to list them. So this is a small language of its own, which Perl reads in
//! the same way: printing, patterns, numbers, texts, variables with small names, and some functions that do nothing but
//! count and cut. Whatever else stands in a program makes it unknown.

/// Most levels of brackets.
const DEPTH: usize = 16;

/// Functions of one value: in brackets, before a variable, or alone.
const OF_ONE: &[&str] = &[
    "length",
    "lc",
    "uc",
    "lcfirst",
    "ucfirst",
    "int",
    "abs",
    "sqrt",
    "ord",
    "chr",
    "hex",
    "oct",
    "defined",
    "chomp",
    "chop",
    "scalar",
    "exists",
    "delete",
    "quotemeta",
    "log",
    "exp",
];

/// Functions of several values, in brackets or not.
const OF_SEVERAL: &[&str] = &["print", "printf", "substr", "index", "rindex", "sprintf", "join", "reverse", "sort"];

/// Words that stand alone.
const ALONE: &[&str] = &["next", "last", "exit", "eof"];

/// Signs between two values; the longest first.
const BETWEEN: &[&str] = &[
    "<=>", "...", "**=", "||=", "&&=", "=~", "!~", "==", "!=", "<=", ">=", "&&", "||", "..", "**", "+=", "-=", "*=",
    ".=", "/=", "=>", "+", "-", "*", "/", "%", ".", "<", ">", "=", "?", ":", ",",
];

/// Words between two values.
const WORDS_BETWEEN: &[&str] = &["eq", "ne", "lt", "gt", "le", "ge", "and", "or", "cmp", "x"];

/// Words before a condition that stands behind a statement.
const MODIFIERS: &[&str] = &["if", "unless", "for", "foreach"];

/// Whether `program` does nothing but read its input and print.
pub fn only_prints(program: &str) -> bool {
    // Behind a line's end `=` begins what Perl passes over, and `__END__` and `#` end what it reads.
    let odd = |c: char| !c.is_ascii() || c.is_ascii_control() && c != '\n' && c != '\t';
    if program.contains(odd) || program.contains("\n=") || program.starts_with('=') {
        return false;
    }
    let mut reader = Reader { rest: program, depth: 0 };
    reader.statements().is_some() && reader.rest.is_empty()
}

struct Reader<'p> {
    rest: &'p str,
    depth: usize,
}

impl<'p> Reader<'p> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
    }

    /// Takes this text, behind blanks.
    fn eat(&mut self, text: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The word that stands here.
    fn peek_word(&mut self) -> &'p str {
        self.blanks();
        let len = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.rest.get(..len).unwrap_or_default();
        if word.starts_with(|c: char| c.is_ascii_digit()) { "" } else { word }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        // Before `=>` a word is a text, and behind `::` or `'` part of a name.
        let found = self.peek_word() == word;
        if found {
            self.rest = self.rest.get(word.len()..).unwrap_or_default();
        }
        found && !self.rest.starts_with([':', '\''])
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    fn statements(&mut self) -> Option<()> {
        loop {
            while self.eat(";") {}
            if self.rest.is_empty() || self.rest.starts_with('}') {
                return Some(());
            }
            let closed = self.statement()?;
            self.blanks();
            if !closed && !self.rest.is_empty() && !self.rest.starts_with(['}', ';']) {
                return None;
            }
        }
    }

    /// Whether it ended in a block.
    fn statement(&mut self) -> Option<bool> {
        match self.peek_word() {
            "END" | "BEGIN" => {
                let word = self.peek_word();
                self.eat_word(word).then(|| self.block())??;
                Some(true)
            }
            word @ ("if" | "unless") => {
                self.eat_word(word).then(|| self.condition())??;
                self.block()?;
                while self.peek_word() == "elsif" {
                    self.eat_word("elsif").then(|| self.condition())??;
                    self.block()?;
                }
                if self.peek_word() == "else" {
                    self.eat_word("else").then(|| self.block())??;
                }
                Some(true)
            }
            word @ ("for" | "foreach") => {
                self.eat_word(word).then_some(())?;
                if self.peek_word() == "my" {
                    self.eat_word("my").then_some(())?;
                }
                self.blanks();
                if self.rest.starts_with('$') {
                    self.scalar()?;
                }
                self.eat("(").then_some(())?;
                self.deeper(Self::list)?;
                self.eat(")").then(|| self.block())??;
                Some(true)
            }
            _ => {
                self.deeper(Self::list)?;
                let word = self.peek_word();
                if MODIFIERS.contains(&word) {
                    self.eat_word(word).then_some(())?;
                    self.deeper(Self::list)?;
                }
                Some(false)
            }
        }
    }

    fn condition(&mut self) -> Option<()> {
        self.eat("(").then_some(())?;
        self.deeper(Self::list)?;
        self.eat(")").then_some(())
    }

    fn block(&mut self) -> Option<()> {
        self.eat("{").then_some(())?;
        self.deeper(Self::statements)?;
        self.eat("}").then_some(())
    }

    /// Whether nothing more of a statement stands here.
    fn ends(&mut self) -> bool {
        let word = self.peek_word();
        self.rest.is_empty() || self.rest.starts_with([';', '}', ')', ']']) || MODIFIERS.contains(&word)
    }

    /// Values with signs between them. Behind a variable Perl guesses whether a sign begins another value (`print $x /2/`);
    /// not where blanks stand on both sides of it, or before it none.
    fn list(&mut self) -> Option<()> {
        loop {
            self.value()?;
            // Behind a variable: it is counted.
            while self.rest.starts_with("++") || self.rest.starts_with("--") {
                self.rest = self.rest.get(2..)?;
            }
            let blank = self.rest.starts_with([' ', '\t', '\n']);
            if self.ends() {
                return Some(());
            }
            let word = self.peek_word();
            if WORDS_BETWEEN.contains(&word) {
                self.eat_word(word).then_some(())?;
                continue;
            }
            // It asks whether the value is defined.
            let sign =
                BETWEEN.iter().find(|sign| self.rest.starts_with(**sign)).filter(|_| !self.rest.starts_with("//"))?;
            self.rest = self.rest.get(sign.len()..)?;
            if blank && !matches!(*sign, "," | "=>") && !self.rest.starts_with([' ', '\t', '\n']) {
                return None;
            }
            match *sign {
                // A comma may stand at the end.
                "," if self.ends() => return Some(()),
                // A text behind it would be a pattern.
                "=~" | "!~" => {
                    let word = self.peek_word();
                    (self.rest.starts_with('/') || matches!(word, "m" | "s" | "tr" | "y")).then_some(())?;
                }
                _ => {}
            }
        }
    }

    fn value(&mut self) -> Option<()> {
        self.blanks();
        let first = self.rest.chars().next()?;
        let behind = self.rest.get(1..).unwrap_or_default();
        match first {
            '!' => {
                self.rest = behind;
                self.deeper(Self::value)
            }
            // `-e` asks about a file.
            '-' | '+' if behind.starts_with(|c: char| c.is_ascii_digit() || "$(".contains(c)) => {
                self.rest = behind;
                self.deeper(Self::value)
            }
            '0'..='9' => self.number(),
            '"' => {
                self.rest = behind;
                let text = self.until('"')?;
                is_plain(text, false).then_some(())
            }
            '\'' => {
                self.rest = behind;
                let text = self.until('\'')?;
                (!runs(text)).then_some(())
            }
            '/' => {
                self.rest = behind;
                self.pattern('/')
            }
            '$' => self.scalar(),
            '@' => self.array(),
            '(' => {
                self.rest = behind;
                if !self.eat(")") {
                    self.deeper(Self::list)?;
                    self.eat(")").then_some(())?;
                }
                // One of a list: `(split /:/)[0]`.
                if self.rest.starts_with('[') { self.deeper(Self::subscript) } else { Some(()) }
            }
            _ => self.word(),
        }
    }

    /// Only as it is read whatever stands behind it: `1.` and `0x` would take a sign for a part of the number.
    fn number(&mut self) -> Option<()> {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        self.rest = self.rest.get(digits(self.rest)..)?;
        if let Some(behind) = self.rest.strip_prefix('.').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.rest = behind.get(digits(behind)..)?;
        }
        let more = self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (!more && (!self.rest.starts_with('.') || self.rest.starts_with(".."))).then_some(())
    }

    /// `[…]`
    fn subscript(&mut self) -> Option<()> {
        self.eat("[").then_some(())?;
        self.list()?;
        self.eat("]").then_some(())
    }

    /// The name of a variable, behind its sign: one that a program makes for itself.
    fn own_name(&mut self) -> Option<&'p str> {
        let len = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let name = self.rest.get(..len)?;
        self.rest = self.rest.get(len..)?;
        (is_own(name) && !self.rest.starts_with("::") && !self.rest.starts_with('\'')).then_some(name)
    }

    /// `$x`, `$_`, `$.`, `$1`, `$F[0]`, `$seen{$_}`.
    fn scalar(&mut self) -> Option<()> {
        let behind = self.rest.strip_prefix('$')?;
        if let Some(rest) = behind.strip_prefix(['.', '&', ',', '/', '\\', ';']) {
            self.rest = rest;
            return (!rest.starts_with(['[', '{'])).then_some(());
        }
        if let Some(array) = behind.strip_prefix('#') {
            self.rest = array;
            let name = self.own_name()?;
            return (name != "ARGV" && !self.rest.starts_with(['[', '{'])).then_some(());
        }
        self.rest = behind;
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.number_name();
            return (!self.rest.starts_with(['[', '{'])).then_some(());
        }
        if self.own_name()? == "ARGV" {
            return (!self.rest.starts_with(['[', '{', '-'])).then_some(());
        }
        loop {
            if self.rest.starts_with("->") {
                return None;
            }
            if self.rest.starts_with('[') {
                self.deeper(Self::subscript)?;
            } else if let Some(rest) = self.rest.strip_prefix('{') {
                self.rest = rest;
                // A word in braces is a text.
                let word = self.peek_word();
                let behind = self.rest.get(word.len()..).unwrap_or_default();
                if !word.is_empty() && behind.starts_with('}') {
                    self.rest = behind;
                } else {
                    self.deeper(Self::list)?;
                }
                self.eat("}").then_some(())?;
            } else {
                return Some(());
            }
        }
    }

    /// The digits of `$1`.
    fn number_name(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    /// `@F`, `@F[1,2]`
    fn array(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix('@')?;
        // What the list of files is given is opened, or run.
        if self.own_name()? == "ARGV" {
            return None;
        }
        match self.rest.chars().next() {
            Some('[') => self.deeper(Self::subscript),
            Some('{') => None,
            _ => Some(()),
        }
    }

    /// Text through its end, which a backslash keeps from being one.
    fn until(&mut self, end: char) -> Option<&'p str> {
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == end => {
                    let text = self.rest.get(..at)?;
                    self.rest = self.rest.get(at + c.len_utf8()..)?;
                    return Some(text);
                }
                _ => {}
            }
        }
        None
    }

    /// A pattern behind its first mark, and its letters.
    fn pattern(&mut self, mark: char) -> Option<()> {
        let text = self.until(mark)?;
        (is_plain(text, true) && self.flags("gimsxoa")).then_some(())
    }

    fn flags(&mut self, known: &str) -> bool {
        let len = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (flags, rest) = self.rest.split_at(len);
        self.rest = rest;
        flags.chars().all(|flag| known.contains(flag))
    }

    /// What begins with a letter.
    fn word(&mut self) -> Option<()> {
        let word = self.peek_word();
        let behind = self.rest.get(word.len()..).unwrap_or_default();
        let mark = behind.chars().next().filter(|mark| "/|,!".contains(*mark));
        // Before a comma that fattens, and behind none, `s` and `m` are what they are.
        if let (Some(mark), false) = (mark, behind.starts_with("=>")) {
            let inner = behind.get(1..).unwrap_or_default();
            match word {
                "m" => {
                    self.rest = inner;
                    return self.pattern(mark);
                }
                "s" => {
                    self.rest = inner;
                    let pattern = self.until(mark)?;
                    let into = self.until(mark)?;
                    let fine = is_plain(pattern, true) && is_plain(into, false);
                    return (fine && self.flags("gimsxoar")).then_some(());
                }
                "tr" | "y" => {
                    self.rest = inner;
                    self.until(mark)?;
                    self.until(mark)?;
                    return self.flags("cdsr").then_some(());
                }
                _ => {}
            }
        }
        self.eat_word(word).then_some(())?;
        match word {
            "not" => self.deeper(Self::value),
            "my" => {
                self.blanks();
                match self.rest.chars().next()? {
                    '$' => self.scalar(),
                    '@' => self.array(),
                    '(' => self.deeper(Self::value),
                    _ => None,
                }
            }
            "keys" | "values" => {
                let bracket = self.eat("(");
                self.eat("%").then_some(())?;
                self.own_name()?;
                (!bracket || self.eat(")")).then_some(())
            }
            "split" => {
                let bracket = self.eat("(");
                if !self.ends() {
                    self.deeper(Self::list)?;
                }
                (!bracket || self.eat(")")).then_some(())
            }
            // Behind them a sign would begin a pattern.
            _ if ALONE.contains(&word) => {
                if word == "eof" {
                    self.rest = self.rest.strip_prefix("()").unwrap_or(self.rest);
                }
                self.ends().then_some(())
            }
            _ if OF_ONE.contains(&word) => {
                self.blanks();
                match self.rest.chars().next() {
                    Some('(') => self.deeper(Self::value),
                    Some('$') => self.scalar(),
                    Some('@') => self.array(),
                    _ => (self.ends() || self.rest.starts_with([',', '=', '!'])).then_some(()),
                }
            }
            _ if OF_SEVERAL.contains(&word) => {
                if matches!(word, "print" | "printf") && matches!(self.peek_word(), "STDERR" | "STDOUT") {
                    let handle = self.peek_word();
                    self.eat_word(handle).then_some(())?;
                }
                // `print {…}` and `sort {…}` run what is in the braces.
                if self.ends() { (!self.rest.starts_with(']')).then_some(()) } else { self.deeper(Self::list) }
            }
            _ => None,
        }
    }
}

/// A name that nothing but the program itself gives a meaning to, and those of the input.
fn is_own(name: &str) -> bool {
    let small = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    small || matches!(name, "_" | "F" | "ARGV")
}

/// Whether a pattern of this text may run code: `(?{…})`, `(??{…})`, `(*{…})`.
fn runs(text: &str) -> bool {
    ["?{", "?p{", "*{", "(??", "(*"].iter().any(|code| text.contains(code))
}

/// Whether a text in which variables are put has nothing in it that is evaluated; a pattern, or the text of one.
fn is_plain(text: &str, pattern: bool) -> bool {
    if runs(text) {
        return false;
    }
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '@', '`']) {
        let sign = rest.get(at..).and_then(|rest| rest.chars().next());
        rest = rest.get(at + 1..).unwrap_or_default();
        match sign {
            Some('\\') => {
                // `\N{…}` and `\p{…}` look for what they name in modules.
                if rest.starts_with(['N', 'p', 'P']) {
                    return false;
                }
                let mut chars = rest.chars();
                chars.next();
                rest = chars.as_str();
            }
            Some('$') if pattern && (rest.is_empty() || rest.starts_with([')', '|'])) => {}
            Some(sign @ ('$' | '@')) => {
                if let Some(behind) = rest.strip_prefix(['.', '&', ',']).filter(|_| sign == '$' && !pattern) {
                    rest = behind;
                    if rest.starts_with(['[', '{', '-']) {
                        return false;
                    }
                    continue;
                }
                let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = rest.get(..len).unwrap_or_default();
                let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                if !(number && sign == '$' || is_own(name)) {
                    return false;
                }
                rest = rest.get(len..).unwrap_or_default();
                if rest.starts_with("::") || rest.starts_with("->") || rest.starts_with('\'') {
                    return false;
                }
                if rest.starts_with(['[', '{']) {
                    let (open, close) = rest.split_at(1);
                    let end = if open == "[" { ']' } else { '}' };
                    let Some((key, behind)) = close.split_once(end) else { return false };
                    // A number, a variable, or a word, which in brackets would be a function.
                    let bare = key.strip_prefix('-').unwrap_or(key);
                    let word = end == '}' && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    let number = bare.bytes().all(|byte| byte.is_ascii_digit());
                    let plain = !bare.is_empty() && (word || number) || key.strip_prefix('$').is_some_and(is_own);
                    if !plain || name == "ARGV" || behind.starts_with(['[', '{']) || behind.starts_with("->") {
                        return false;
                    }
                    rest = behind;
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::only_prints;

    #[test]
    fn printing_counting_and_cutting_are_read() {
        for program in [
            "print",
            "print;",
            "print if /a|b/i",
            "print \"$.:$_\" if $. > 5 and $. < 10",
            "next unless /x/; print $1 if /(\\d+)$/; last if $n++ > 3",
            "if (/a/) { $a++ } elsif (/b/) { $b++ } else { next } END { print \"$a $b\\n\" }",
            "foreach my $k (reverse sort keys %h) { print \"$k\\n\" }",
            "my ($a, $b) = split /\\t/; print $a if $b == 1",
            "printf \"%-10s %d\\n\", $F[0], $F[1] * 2",
            "$_ = lc; s/a/$1/g; print",
            "print substr($_, 0, 10), \"\\n\"",
            "print $x ? \"a\" : \"b\"",
            "print if length > 80 and !/http/",
            "$h{$F[0]} += $F[1]; END { print \"$_ $h{$_}\\n\" for sort keys %h }",
        ] {
            let read = only_prints(program);
            // `length > 80` can be read in two ways.
            assert_eq!(read, !program.contains("length >"), "{program}");
        }
    }

    #[test]
    fn a_program_is_read_to_its_end_and_no_deeper_than_allowed() {
        for program in [
            "print (",
            "print {",
            "print \"a",
            "s/a/b",
            "print }",
            "}",
            "print )",
            "{",
            "if (",
            "\u{e9}",
            "=pod",
            "1\n=cut",
        ] {
            assert!(!only_prints(program), "{program}");
        }
        for deep in ["(", "!", "print ", "if (1) {", "$h{$", "$x[", "-("] {
            assert!(!only_prints(&deep.repeat(20_000)), "{deep}");
        }
    }
}
