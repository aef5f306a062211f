//! Words of a command that are secrets only because of the program they stand behind: what is the password of one is the
//! port of another.

use super::keys::{self, Strength};
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
    /// `NAME X`, where the name is a secret's.
    Named,
}

use Takes::{Apart, Behind, Joined, Named};

/// A program, the word of its command line from which on this holds (`""`: from the beginning), and what it takes.
type Program = (&'static str, &'static str, &'static [Takes]);

const P: &[Takes] = &[Apart(b'p'), Joined(b'p')];
const BIG_P: &[Takes] = &[Apart(b'P'), Joined(b'P')];
const W: &[Takes] = &[Apart(b'w'), Joined(b'w')];
const JOINED_P: &[Takes] = &[Joined(b'p')];
const BIG_U: &[Takes] = &[Behind(b'U', b'%')];

/// A program that takes nothing ends what the one before it takes.
const PROGRAMS: &[Program] = &[
    ("7z", "", JOINED_P),
    ("7za", "", JOINED_P),
    ("7zz", "", JOINED_P),
    ("aws", "set", &[Named]),
    ("az", "login", P),
    ("bcp", "", BIG_P),
    ("buildah", "login", P),
    ("cf", "login", P),
    ("curl", "", &[Behind(b'u', b':'), Behind(b'U', b':')]),
    ("docker", "login", P),
    ("git", "config", &[Named]),
    ("helm", "login", P),
    ("ldapadd", "", W),
    ("ldapdelete", "", W),
    ("ldapmodify", "", W),
    ("ldappasswd", "", W),
    ("ldapsearch", "", W),
    ("ldapwhoami", "", W),
    ("lftp", "", &[Behind(b'u', b',')]),
    ("mariadb", "", JOINED_P),
    ("mariadb-admin", "", JOINED_P),
    ("mariadb-dump", "", JOINED_P),
    ("mongo", "", P),
    ("mongodump", "", P),
    ("mongoexport", "", P),
    ("mongoimport", "", P),
    ("mongorestore", "", P),
    ("mongosh", "", P),
    ("mysql", "", JOINED_P),
    ("mysqladmin", "", JOINED_P),
    ("mysqlcheck", "", JOINED_P),
    ("mysqldump", "", JOINED_P),
    ("mysqlimport", "", JOINED_P),
    ("mysqlsh", "", JOINED_P),
    ("mysqlshow", "", JOINED_P),
    ("nerdctl", "login", P),
    ("npm", "set", &[Named]),
    ("oc", "login", P),
    ("pnpm", "set", &[Named]),
    ("podman", "login", P),
    ("redis-cli", "", &[Apart(b'a')]),
    ("rpcclient", "", BIG_U),
    ("rsync", "", &[]),
    ("skopeo", "login", P),
    ("smbclient", "", BIG_U),
    ("scp", "", &[]),
    ("sftp", "", &[]),
    ("sqlcmd", "", BIG_P),
    // What `sshpass` runs has a port of the same letter.
    ("ssh", "", &[]),
    ("sshpass", "", P),
    ("unzip", "", BIG_P),
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
        if let Some(program) = PROGRAMS[rows].iter().find(|program| is_word_of(program.0)) {
            *self = Command { program: Some(program), reached: program.1.is_empty() };
            return None;
        }
        let program = self.program?;
        if !self.reached {
            self.reached = is_word_of(program.1);
            return None;
        }
        if program.2.contains(&Named) { named(bytes, at) } else { None }
    }

    /// Another command begins behind the sign at `at`, or none. A sign without a blank behind it may stand in quotes.
    pub(super) fn sign(&mut self, bytes: &[u8], at: usize) {
        if self.program.is_none() {
            return;
        }
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let ends = match bytes[at] {
            b'\n' => at.checked_sub(1).is_none_or(|before| bytes[before] != b'\\'),
            b'\\' => next == b'n',
            sign => next.is_ascii_whitespace() || next == sign,
        };
        if ends {
            self.program = None;
        }
    }

    /// The secret of the option at `at`, a dash.
    pub(super) fn option(&self, bytes: &[u8], at: usize) -> Option<Secret> {
        let (_, _, takes) = self.program.filter(|_| self.reached)?;
        let letter = *bytes.get(at + 1)?;
        let next = *bytes.get(at + 2)?;
        let is_blank = matches!(next, b' ' | b'\t');
        takes.iter().find_map(|takes| {
            let (from, sign) = match *takes {
                Apart(own) if own == letter && is_blank => (at + 3, None),
                Joined(own) if own == letter && !is_blank => (at + 2, None),
                Behind(own, sign) if own == letter => (at + 2 + usize::from(is_blank), Some(sign)),
                _ => return None,
            };
            let mut value = word_at(bytes, from)?;
            if let Some(sign) = sign {
                value.start += bytes[value.clone()].iter().position(|&b| b == sign)? + 1;
            }
            let text = &bytes[value.clone()];
            let is_secret = !is_placeholder(text) && text[0] != b'-';
            is_secret.then_some(Secret { range: value, kind: "password" })
        })
    }

    /// Whether `-u` says for whom something runs, and not who asks.
    pub(super) fn runs_as(&self) -> bool {
        self.program.is_some_and(|program| matches!(program.0, "docker" | "podman" | "nerdctl")) && !self.reached
    }
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
