//! Compound commands and `[[ … ]]`.

use super::*;

impl<'t> Parser<'t> {
    pub(super) fn if_command(&mut self, start: usize) -> Read<Command> {
        self.at += 2;
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.body(End::Words(&["then"]))?;
            self.at += 4;
            let body = self.body(End::Words(&["elif", "else", "fi"]))?;
            arms.push((condition, body));
            match self.keyword() {
                Some("elif") => self.at += 4,
                Some("else") => {
                    self.at += 4;
                    otherwise = Some(self.body(End::Words(&["fi"]))?);
                    self.at += 2;
                    break;
                }
                _ => {
                    self.at += 2;
                    break;
                }
            }
        }
        self.finish(start, Kind::If { arms, otherwise })
    }

    pub(super) fn do_group(&mut self) -> Read<Script> {
        self.expect_word("do")?;
        let body = self.body(End::Words(&["done"]))?;
        self.at += 4;
        Ok(body)
    }

    pub(super) fn for_command(&mut self, start: usize, select: bool) -> Read<Command> {
        self.at += if select { 6 } else { 3 };
        self.skip_blanks();
        if !select && self.looking_at("((") {
            self.only_bash("`for ((`");
            self.at += 2;
            let mut parts: [Vec<Part>; 3] = Default::default();
            for (index, slot) in parts.iter_mut().enumerate() {
                *slot = self.arith(if index < 2 { ArithEnd::Semicolon } else { ArithEnd::Parens }, false)?;
            }
            self.skip_blanks();
            if self.peek() == Some(b';') {
                self.at += 1;
            }
            let body = self.do_group()?;
            return self.finish(start, Kind::ArithFor { parts, body });
        }
        let Some(name) = self.keyword().filter(|word| is_name(word)).map(str::to_owned) else {
            return self.trouble("a loop has no plain variable");
        };
        self.at += name.len();
        self.skip_newlines()?;
        let mut words = None;
        if self.keyword() == Some("in") {
            self.at += 2;
            let mut list = Vec::new();
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(b'\n') => {
                        self.newline()?;
                        break;
                    }
                    Some(b';') if self.peek_at(1) != Some(b';') => {
                        self.at += 1;
                        break;
                    }
                    _ => list.push(self.word()?),
                }
            }
            words = Some(list);
        } else if self.peek() == Some(b';') && self.peek_at(1) != Some(b';') {
            self.at += 1;
        }
        let body = self.do_group()?;
        self.finish(start, Kind::For { select, name, words, body })
    }

    pub(super) fn case_command(&mut self, start: usize) -> Read<Command> {
        self.at += 4;
        self.skip_blanks();
        let word = self.word()?;
        self.expect_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.keyword() == Some("esac") {
                self.at += 4;
                break;
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
                self.skip_blanks();
            }
            let mut patterns = vec![self.word()?];
            loop {
                self.skip_blanks();
                if self.peek() == Some(b'|') {
                    self.at += 1;
                    self.skip_blanks();
                    patterns.push(self.word()?);
                } else if self.eat(")") {
                    break;
                } else {
                    return self.trouble("a pattern of `case` is not ended by `)`");
                }
            }
            let body = self.deeper(|this| this.list(End::Case))?;
            let end = if self.eat(";;&") {
                ";;&"
            } else if self.eat(";;") {
                ";;"
            } else if self.eat(";&") {
                ";&"
            } else {
                ";;"
            };
            if end != ";;" {
                self.only_bash("`;&`");
            }
            arms.push(Arm { patterns, body, end });
        }
        self.finish(start, Kind::Case { word, arms })
    }

    /// `name ( ) body`.
    pub(super) fn function_behind(&mut self, start: usize, words: &[Word]) -> Read<Command> {
        self.at += 1;
        self.skip_blanks();
        if !self.eat(")") {
            return self.trouble("`(` stands where it cannot");
        }
        let name = match words {
            [Word { parts, .. }] => match parts.as_slice() {
                [Part::Plain(name)] => name.clone(),
                _ => return self.trouble("a function has no plain name"),
            },
            _ => return self.trouble("a function has no plain name"),
        };
        self.skip_newlines()?;
        let body = self.deeper(Self::command)?;
        if matches!(body.kind, Kind::Simple { .. }) {
            return self.trouble("a function has no body");
        }
        Ok(Command {
            kind: Kind::Function { name, body: Box::new(body) },
            redirects: Vec::new(),
            span: self.span(start),
        })
    }

    pub(super) fn skip_test_blanks(&mut self) -> Read<()> {
        self.skip_newlines()
    }

    pub(super) fn test_or(&mut self) -> Read<Test> {
        let mut left = self.test_and()?;
        loop {
            self.skip_test_blanks()?;
            if !self.eat("||") {
                return Ok(left);
            }
            left = Test::Or(Box::new(left), Box::new(self.deeper(Self::test_and)?));
        }
    }

    pub(super) fn test_and(&mut self) -> Read<Test> {
        let mut left = self.test_not()?;
        loop {
            self.skip_test_blanks()?;
            if !self.eat("&&") {
                return Ok(left);
            }
            left = Test::And(Box::new(left), Box::new(self.deeper(Self::test_not)?));
        }
    }

    pub(super) fn test_not(&mut self) -> Read<Test> {
        self.skip_test_blanks()?;
        if self.keyword() == Some("!") {
            self.at += 1;
            return Ok(Test::Not(Box::new(self.deeper(Self::test_not)?)));
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let inner = self.deeper(Self::test_or)?;
            self.skip_test_blanks()?;
            if !self.eat(")") {
                return self.trouble("`)` is missing here");
            }
            return Ok(Test::Paren(Box::new(inner)));
        }
        if self.keyword() == Some("]]") {
            return self.trouble("`[[` has nothing to test");
        }
        let unary = self.keyword().filter(|word| {
            word.len() == 2 && word.starts_with('-') && "abcdefghknoprstuvwxzGLNORS".contains(&word[1..])
        });
        if let Some(op) = unary {
            let before = self.at;
            self.at += 2;
            self.skip_test_blanks()?;
            let binary = self.keyword().is_some_and(is_test_operator) || matches!(self.peek(), Some(b'<' | b'>'));
            if self.keyword() != Some("]]") && !binary && !matches!(self.peek(), Some(b'&' | b'|' | b')')) {
                return Ok(Test::Unary(op.to_owned(), self.word()?));
            }
            self.at = before;
        }
        let left = self.word()?;
        self.skip_blanks();
        let op = match self.peek() {
            Some(b'<') => "<".to_owned(),
            Some(b'>') => ">".to_owned(),
            _ => match self.keyword().filter(|word| is_test_operator(word)) {
                Some(op) => op.to_owned(),
                None => return Ok(Test::Word(left)),
            },
        };
        self.at += op.len();
        self.skip_blanks();
        let right = if op == "=~" { self.regex_word()? } else { self.word()? };
        Ok(Test::Binary(op, left, right))
    }
}
