//! Words of a command that are secrets only because of the program they stand behind: what is the password of one is the
//! port of another.

use std::ops::Range;

use super::keys::{self, Strength};
use super::piped;
use super::rows::Rows;
use super::secrets::{Secret, is_placeholder, is_word, run, word_at};

/// How a program takes a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-p X`
    Apart(u8),
    /// `-pX`
    Joined(u8),
    /// `-U NAME%X` and `-UNAME%X`, here with `%`.
    Behind(u8, u8),
    /// `--password X`, `--password=X`, and with one dash, here with `password`.
    Long(&'static str),
    /// `NAME X`, where the name is a secret's.
    Named,
    /// `-x NAME X`, where the name is a secret's; the letter may stand among others.
    NamedBehind(u8),
    /// `NAME/X` and `NAME/X@HOST`, a word of its own.
    Slashed,
    /// The word behind the one from which on the row holds.
    Next,
    /// `-b FILE NAME X`; with `n` among the letters, no file.
    Batch,
    /// `password X`, also in the lines that go on with it.
    Netrc,
    /// What it prints into a program that reads a password ([`piped`]).
    Piped,
}

use Takes::{Apart, Batch, Behind, Joined, Long, Named, NamedBehind, Netrc, Next, Piped, Slashed};

/// A program, the word of its command line from which on this holds (`""`: from the beginning), and what it takes.
type Program = (&'static str, &'static str, &'static [Takes]);

const P: &[Takes] = &[Apart(b'p'), Joined(b'p')];
const BIG_P: &[Takes] = &[Apart(b'P'), Joined(b'P')];
const W: &[Takes] = &[Apart(b'w'), Joined(b'w')];
const JOINED_P: &[Takes] = &[Joined(b'p')];
const BIG_U: &[Takes] = &[Behind(b'U', b'%')];
const RAR: &[Takes] = &[Joined(b'p'), Long("hp")];
const SNMP: &[Takes] = &[Apart(b'A'), Apart(b'X'), Apart(b'c')];
const PDF: &[Takes] = &[Long("upw"), Long("opw")];

/// A program that takes nothing ends what the one before it takes.
const PROGRAMS: &[Program] = &[
    ("7z", "", JOINED_P),
    ("7za", "", JOINED_P),
    ("7zz", "", JOINED_P),
    ("aws", "set", &[Named]),
    ("az", "login", P),
    ("bcp", "", BIG_P),
    ("buildah", "login", P),
    ("bw", "login", P),
    ("cargo", "login", &[Next]),
    ("cf", "login", P),
    ("cqlsh", "", P),
    ("curl", "", &[Behind(b'u', b':'), Behind(b'U', b':'), Behind(b'b', b'=')]),
    ("docker", "login", P),
    ("echo", "", &[Piped]),
    ("expdp", "", &[Slashed]),
    ("gh", "set", &[Apart(b'b'), Long("body")]),
    ("git", "config", &[Named]),
    ("helm", "login", P),
    ("htpasswd", "", &[Batch]),
    ("impdp", "", &[Slashed]),
    ("influx", "", &[Long("password")]),
    ("ipmitool", "", BIG_P),
    ("jarsigner", "", &[Long("storepass"), Long("keypass")]),
    ("keytool", "", &[Long("storepass"), Long("keypass")]),
    ("ldapadd", "", W),
    ("ldapdelete", "", W),
    ("ldapmodify", "", W),
    ("ldappasswd", "", W),
    ("ldapsearch", "", W),
    ("ldapwhoami", "", W),
    ("lftp", "", &[Behind(b'u', b',')]),
    ("machine", "login", &[Netrc]),
    ("mariadb", "", JOINED_P),
    ("mariadb-admin", "", JOINED_P),
    ("mariadb-dump", "", JOINED_P),
    ("mongo", "", P),
    ("mongodump", "", P),
    ("mongoexport", "", P),
    ("mongoimport", "", P),
    ("mongorestore", "", P),
    ("mongosh", "", P),
    ("mosquitto_pub", "", BIG_P),
    ("mosquitto_sub", "", BIG_P),
    ("mysql", "", JOINED_P),
    ("mysqladmin", "", JOINED_P),
    ("mysqlcheck", "", JOINED_P),
    ("mysqldump", "", JOINED_P),
    ("mysqlimport", "", JOINED_P),
    ("mysqlsh", "", JOINED_P),
    ("mysqlshow", "", JOINED_P),
    ("nerdctl", "login", P),
    ("nmcli", "", &[Named]),
    ("npm", "set", &[Named]),
    ("oc", "login", P),
    ("openssl", "", &[Apart(b'k'), Apart(b'K'), Long("hmac")]),
    ("pdftoppm", "", PDF),
    ("pdftotext", "", PDF),
    ("pnpm", "set", &[Named]),
    ("podman", "login", P),
    ("printf", "", &[Piped]),
    ("rar", "", RAR),
    ("redis-cli", "", &[Apart(b'a')]),
    ("rpcclient", "", BIG_U),
    ("rsync", "", &[]),
    ("scp", "", &[]),
    ("set", "", &[NamedBehind(b'x')]),
    ("sftp", "", &[]),
    ("skopeo", "login", P),
    ("smbclient", "", BIG_U),
    ("snmpget", "", SNMP),
    ("snmpwalk", "", SNMP),
    ("sqlcmd", "", BIG_P),
    ("sqlldr", "", &[Slashed]),
    ("sqlplus", "", &[Slashed]),
    // What `sshpass` runs has a port of the same letter.
    ("ssh", "", &[]),
    ("ssh-keygen", "", &[Apart(b'N'), Apart(b'P')]),
    ("sshpass", "", P),
    ("twine", "upload", P),
    ("unrar", "", RAR),
    ("unzip", "", BIG_P),
    ("vault", "login", &[Next]),
    ("yarn", "set", &[Named]),
    ("zip", "", BIG_P),
];

/// The rows of [`PROGRAMS`] by their beginnings.
static ROWS: Rows = {
    let mut rows = Rows::NONE;
    let mut at = 0;
    while at < PROGRAMS.len() {
        rows = rows.with(PROGRAMS[at].0, at);
        at += 1;
    }
    rows
};

/// Bytes of a setting's name that are looked at: it may stand behind an address.
const MAX_SETTING_BYTES: usize = 200;

/// Behind which program a text is being read.
#[derive(Debug, Default)]
pub(super) struct Command {
    program: Option<&'static Program>,
    /// Whether the word came from which on the row holds.
    reached: bool,
}

impl Command {
    /// Takes notice of the word that begins at `at`; answers with a secret where the word names one.
    pub(super) fn word(&mut self, bytes: &[u8], at: usize) -> Option<Secret> {
        let rows = ROWS.of(bytes, at);
        if rows.is_empty() && self.program.is_none() {
            return None;
        }
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        if is_word(before) || matches!(before, b'-' | b'.') {
            return None;
        }
        let rest = &bytes[at..];
        let is_word_of =
            |word: &str| rest.starts_with(word.as_bytes()) && matches!(rest.get(word.len()), Some(b' ' | b'\t'));
        // Before the programs: `set` is one of them, and a word of others.
        if let Some((_, from_here, takes)) = self.program.filter(|_| !self.reached)
            && is_word_of(from_here)
        {
            self.reached = true;
            let next = if takes.contains(&Next) { word_behind(bytes, at + from_here.len()) } else { None };
            return next.and_then(|word| password(bytes, word));
        }
        if let Some(program) = PROGRAMS[rows].iter().find(|program| is_word_of(program.0)) {
            *self = Command { program: Some(program), reached: program.1.is_empty() };
            return if program.2 == [Piped] { piped::printed(bytes, at + program.0.len()) } else { None };
        }
        let (_, _, takes) = self.program.filter(|_| self.reached)?;
        takes.iter().find_map(|takes| match takes {
            Netrc if is_word_of("password") => password(bytes, word_behind(bytes, at + "password".len())?),
            Named => named(bytes, at),
            Slashed if before.is_ascii_whitespace() || matches!(before, b'"' | b'\'') => slashed(bytes, at),
            _ => None,
        })
    }

    /// Another command begins behind the sign at `at`, or none. A sign without a blank behind it may stand in quotes.
    pub(super) fn sign(&mut self, bytes: &[u8], at: usize) {
        if self.program.is_none() {
            return;
        }
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let ends = match bytes[at] {
            b'\n' => at.checked_sub(1).is_none_or(|before| bytes[before] != b'\\') && !self.goes_on(&bytes[at + 1..]),
            b'\\' => next == b'n' && !self.goes_on(&bytes[at + 2..]),
            sign => next.is_ascii_whitespace() || next == sign,
        };
        if ends {
            self.program = None;
        }
    }

    /// Whether the next line belongs to what the program's name began.
    fn goes_on(&self, line: &[u8]) -> bool {
        let line = &line[run(line, |b| matches!(b, b' ' | b'\t'))..];
        self.program.is_some_and(|program| program.2 == [Netrc])
            && [&b"login "[..], b"account ", b"password "].iter().any(|word| line.starts_with(word))
    }

    /// The secret of the option at `at`, a dash.
    pub(super) fn option(&self, bytes: &[u8], at: usize) -> Option<Secret> {
        let (_, _, takes) = self.program.filter(|_| self.reached)?;
        takes.iter().find_map(|takes| takes.of_option(bytes, at))
    }

    /// Whether `-u` says for whom something runs, and not who asks.
    pub(super) fn runs_as(&self) -> bool {
        self.program.is_some_and(|program| matches!(program.0, "docker" | "podman" | "nerdctl")) && !self.reached
    }
}

impl Takes {
    /// The secret of the option at `at`, a dash.
    fn of_option(self, bytes: &[u8], at: usize) -> Option<Secret> {
        let letter = *bytes.get(at + 1)?;
        let next = *bytes.get(at + 2)?;
        let is_blank = matches!(next, b' ' | b'\t');
        let value = match self {
            Apart(own) if own == letter && is_blank => word_at(bytes, at + 3)?,
            Joined(own) if own == letter && !is_blank => word_at(bytes, at + 2)?,
            Behind(own, sign) if own == letter => {
                let value = word_at(bytes, at + 2 + usize::from(is_blank))?;
                value.start + bytes[value.clone()].iter().position(|&b| b == sign)? + 1..value.end
            }
            Long(name) => {
                let from = at + run(&bytes[at..], |b| b == b'-') + name.len();
                let is_name = bytes[..from.min(bytes.len())].ends_with(name.as_bytes());
                // RAR's `-hp` is joined to its value as its `-p` is.
                let is_joined = name.len() == 2;
                match bytes.get(from)? {
                    b' ' | b'=' if is_name => word_at(bytes, from + 1)?,
                    _ if is_name && is_joined => word_at(bytes, from)?,
                    _ => return None,
                }
            }
            NamedBehind(own) => {
                let letters = letters(bytes, at);
                let name_at = at + 1 + letters.len() + 1;
                return if letters.contains(&own) && name_at < bytes.len() { named(bytes, name_at) } else { None };
            }
            Batch => {
                let letters = letters(bytes, at).to_vec();
                let skipped = letters.contains(&b'b').then(|| if letters.contains(&b'n') { 1 } else { 2 })?;
                let name =
                    (0..skipped).try_fold(at + 1 + letters.len(), |end, _| Some(word_behind(bytes, end)?.end))?;
                word_behind(bytes, name)?
            }
            _ => return None,
        };
        password(bytes, value)
    }
}

fn password(bytes: &[u8], value: Range<usize>) -> Option<Secret> {
    let text = &bytes[value.clone()];
    let is_secret = !is_placeholder(text) && text[0] != b'-';
    is_secret.then_some(Secret { range: value, kind: "password" })
}

/// The letters of the options at `at`, a dash.
fn letters(bytes: &[u8], at: usize) -> &[u8] {
    &bytes[at + 1..][..run(&bytes[at + 1..], |b| b.is_ascii_alphabetic())]
}

/// The word behind the one that ends at `end`, or behind its closing quote.
pub(super) fn word_behind(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let from = end + run(&bytes[end..], |b| matches!(b, b' ' | b'\t' | b'"' | b'\''));
    let from = if from > end && matches!(bytes[from - 1], b'"' | b'\'') { from - 1 } else { from };
    if from == end { None } else { word_at(bytes, from) }
}

/// `NAME/VALUE@HOST`
fn slashed(bytes: &[u8], at: usize) -> Option<Secret> {
    let word = word_at(bytes, at)?;
    let text = &bytes[word.clone()];
    let from = text.iter().position(|&b| b == b'/')? + 1;
    let end = text[from..].iter().position(|&b| b == b'@').map_or(text.len(), |sign| from + sign);
    password(bytes, word.start + from..word.start + end)
}

/// `NAME VALUE`
fn named(bytes: &[u8], at: usize) -> Option<Secret> {
    let within = &bytes[at..][..MAX_SETTING_BYTES.min(bytes.len() - at)];
    let setting = &within[..run(within, |b| is_word(b) || b"-./:@".contains(&b))];
    let name = setting.rsplit(|&b| b == b':').next()?;
    if keys::strength(std::str::from_utf8(name).ok()?) != Some(Strength::Strong) {
        return None;
    }
    let end = at + setting.len();
    if !matches!(bytes.get(end), Some(b' ' | b'\t')) {
        return None;
    }
    let value = word_at(bytes, end + 1)?;
    let text = &bytes[value.clone()];
    let is_secret = text.len() >= 4 && !is_placeholder(text) && text[0] != b'-';
    is_secret.then_some(Secret { range: value, kind: "key" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_stand_together_by_their_first_byte() {
        let firsts: Vec<u8> = PROGRAMS.iter().map(|program| program.0.as_bytes()[0]).collect();
        assert!(firsts.is_sorted());
    }
}
