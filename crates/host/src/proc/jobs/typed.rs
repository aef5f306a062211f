//! How much the line holds that is being typed into a terminal.
//!
//! While a terminal puts lines together for its program it takes [`LONGEST_LINE`] bytes of each, and drops what is beyond
//! without a word. It tells nobody how much a line holds that has no end yet (TIOCINQ counts ended lines only), so that is
//! counted here, over calls, as the kernel counts: by the terminal's settings at the time of typing, and never less than
//! it holds. A program that throws its input away, or changes the settings to and fro between two calls, leaves this
//! count too high; the key that takes a line back sets it right.

use std::os::fd::AsFd;

use rustix::termios::{InputModes, LocalModes, SpecialCodeIndex, Termios, tcgetattr};

/// The longest line, without its end.
pub(super) const LONGEST_LINE: usize = 4095;

/// The line that is being typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Line {
    held: usize,
    /// Whether the next key stands for itself, whatever it does else.
    quoted: bool,
}

impl Line {
    /// How many bytes it holds.
    pub(super) fn held(self) -> usize {
        self.held
    }

    /// The line after these keys; none where one would be dropped.
    pub(super) fn after(mut self, bytes: &[u8], keys: &Keys) -> Option<Line> {
        for byte in bytes {
            let key = keys.0[usize::from(*byte)];
            let quoted = std::mem::take(&mut self.quoted);
            match key {
                Key::Twice => self.held += 2,
                Key::Stands => self.held += 1,
                _ if quoted => self.held += 1,
                Key::Ends => self.held = 0,
                // A character, of which a line that is not empty has one byte at least; or a word.
                Key::Erases => self.held = self.held.saturating_sub(1),
                Key::Quotes => self.quoted = true,
                Key::Nothing => {}
            }
            if self.held > LONGEST_LINE {
                return None;
            }
        }
        Some(self)
    }
}

/// What a byte does to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// It is added.
    Stands,
    /// It is added, and a mark before it.
    Twice,
    /// It ends the line, or throws it away.
    Ends,
    Erases,
    Quotes,
    /// It is not part of any line.
    Nothing,
}

/// What each byte does.
#[derive(Debug)]
pub(super) struct Keys([Key; 256]);

impl Keys {
    /// Those of a terminal; none while it puts no lines together.
    pub(super) fn of(terminal: &impl AsFd) -> Option<Keys> {
        let set = tcgetattr(terminal).ok()?;
        set.local_modes.contains(LocalModes::ICANON).then(|| Keys::by(&set))
    }

    fn by(set: &Termios) -> Keys {
        use SpecialCodeIndex as Code;
        let (input, local) = (set.input_modes, set.local_modes);
        let extended = local.contains(LocalModes::IEXTEN);
        let signals = local.contains(LocalModes::ISIG);
        let flows = input.contains(InputModes::IXON);
        // A signal throws the line away, unless it is told not to.
        let signal = if local.contains(LocalModes::NOFLSH) { Key::Nothing } else { Key::Ends };
        // What stands further down is asked first by the kernel, so it is set last.
        let rows = [
            (extended, Code::VEOL2, Key::Ends),
            (true, Code::VEOL, Key::Ends),
            (true, Code::VEOF, Key::Ends),
            (extended && local.contains(LocalModes::ECHO), Code::VREPRINT, Key::Nothing),
            (extended, Code::VLNEXT, Key::Quotes),
            (extended, Code::VWERASE, Key::Erases),
            (true, Code::VKILL, Key::Ends),
            (true, Code::VERASE, Key::Erases),
            (signals, Code::VSUSP, signal),
            (signals, Code::VQUIT, signal),
            (signals, Code::VINTR, signal),
            (flows, Code::VSTOP, Key::Nothing),
            (flows, Code::VSTART, Key::Nothing),
        ];
        let mut keys = [Key::Stands; 256];
        if input.contains(InputModes::PARMRK) {
            keys[0xff] = Key::Twice;
        }
        keys[usize::from(b'\n')] = Key::Ends;
        for (does, code, key) in rows {
            // Zero is no key: it is how a key is switched off.
            let byte = set.special_codes[code];
            if does && byte != 0 {
                keys[usize::from(byte)] = key;
            }
        }
        if input.contains(InputModes::INLCR) {
            keys[usize::from(b'\n')] = Key::Stands;
        }
        if input.contains(InputModes::IGNCR) {
            keys[usize::from(b'\r')] = Key::Nothing;
        } else if input.contains(InputModes::ICRNL) {
            keys[usize::from(b'\r')] = Key::Ends;
        }
        if input.contains(InputModes::ISTRIP) {
            keys.copy_within(..128, 128);
        }
        Keys(keys)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use rustix::termios::{OptionalActions, tcsetattr};

    use super::super::terminal::{self, Terminal};
    use super::*;

    fn after(pieces: &[&[u8]]) -> Option<usize> {
        let terminal = terminal::open(3, 20).expect("a terminal");
        let keys = Keys::of(&terminal.ours).expect("it puts lines together");
        let mut line = Line::default();
        for piece in pieces {
            line = line.after(piece, &keys)?;
        }
        Some(line.held())
    }

    #[test]
    fn what_is_typed_adds_up_until_the_line_ends() {
        let (most, half) = ([b'x'; LONGEST_LINE], [b'x'; 4000]);
        for (pieces, held) in [
            (&[&half[..]][..], Some(4000)),
            (&[&half[..], b"\r", &half[..]][..], Some(4000)),
            (&[&half[..], b"\n"][..], Some(0)),
            (&[&most[..]][..], Some(LONGEST_LINE)),
            (&[&most[..], b"\r", &most[..]][..], Some(LONGEST_LINE)),
            (&[&most[..], b"x"][..], None),
            (&[&half[..], &half[..], b"\r"][..], None),
            // Ctrl-D hands it on, Ctrl-U and Ctrl-C throw it away.
            (&[&half[..], b"\x04", &half[..]][..], Some(4000)),
            (&[&half[..], b"\x15", &half[..]][..], Some(4000)),
            (&[&half[..], b"\x03", &half[..]][..], Some(4000)),
            // What is taken back may have been longer than a byte, and is counted as one.
            (&[&b"xyz\x7f\x7f"[..]][..], Some(1)),
            (&[&b"a word\x17"[..]][..], Some(5)),
            (&[&b"\x7f\x7fx"[..]][..], Some(1)),
            // Ctrl-V: what follows stands for itself, in the next call, too.
            (&[&half[..], b"\x16", b"\r", b"\x15"][..], Some(0)),
            (&[&half[..], b"\x16\r\x16\x15"][..], Some(4002)),
            // Flow control is no input.
            (&[&b"a\x13\x11b"[..]][..], Some(2)),
        ] {
            let shown: Vec<String> = pieces.iter().map(|piece| format!("{} bytes", piece.len())).collect();
            assert_eq!(after(pieces), held, "{shown:?}");
        }
    }

    fn with(change: impl Fn(&mut Termios)) -> (Terminal, Option<Keys>) {
        let terminal = terminal::open(3, 20).expect("a terminal");
        let mut set = tcgetattr(&terminal.theirs).expect("its settings");
        change(&mut set);
        tcsetattr(&terminal.theirs, OptionalActions::Now, &set).expect("they are set");
        let keys = Keys::of(&terminal.ours);
        (terminal, keys)
    }

    #[test]
    fn keys_are_those_of_the_settings() {
        assert!(with(Termios::make_raw).1.is_none(), "nothing is put together");
        let held = |change: &dyn Fn(&mut Termios), bytes: &[u8]| {
            let keys = with(change).1.expect("it puts lines together");
            Line::default().after(bytes, &keys).map(Line::held)
        };
        let off = |set: &mut Termios| set.special_codes[SpecialCodeIndex::VKILL] = 0;
        assert_eq!(held(&off, b"abc\x15\0"), Some(5), "a key that is switched off stands for itself");
        let other = |set: &mut Termios| set.special_codes[SpecialCodeIndex::VEOL] = b';';
        assert_eq!(held(&other, b"abc;d"), Some(1));
        let plain = |set: &mut Termios| set.local_modes -= LocalModes::ISIG | LocalModes::IEXTEN;
        assert_eq!(held(&plain, b"abc\x03\x16\x17"), Some(6));
        let kept = |set: &mut Termios| set.local_modes |= LocalModes::NOFLSH;
        assert_eq!(held(&kept, b"abc\x03"), Some(3));
        let returns = |set: &mut Termios| set.input_modes -= InputModes::ICRNL;
        assert_eq!(held(&returns, b"abc\rd"), Some(5));
        let ignored = |set: &mut Termios| set.input_modes |= InputModes::IGNCR;
        assert_eq!(held(&ignored, b"abc\rd"), Some(4));
        let marked = |set: &mut Termios| set.input_modes |= InputModes::PARMRK;
        assert_eq!(held(&marked, b"a\xff"), Some(3));
    }

    /// What a program would read of the last line but one.
    fn last_line(theirs: &OwnedFd) -> Vec<u8> {
        rustix::io::ioctl_fionbio(theirs, true).expect("it does not block");
        let (begun, mut last, mut piece) = (Instant::now(), Vec::new(), [0; 8192]);
        loop {
            assert!(begun.elapsed() < Duration::from_secs(20), "its end never came");
            match rustix::io::read(theirs, &mut piece) {
                Ok(read) if &piece[..read] == b"end\n" => return last,
                Ok(read) => last = piece[..read].to_vec(),
                Err(_) => std::thread::yield_now(),
            }
        }
    }

    /// Keys that do something, and text that is longer than its characters.
    fn typed() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => "[a-z \u{e9}\u{4e2d}]{1,300}".prop_map(String::into_bytes),
            1 => proptest::sample::select(&b"\r\n\x04\x15\x17\x7f\x12\x03\x1c\x1a\x11\x13"[..]).prop_map(|key| vec![key]),
            1 => proptest::sample::select(&b"\r\n\x04\x15\x17\x7f\x03\x16"[..]).prop_map(|key| vec![0x16, key]),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_was_counted_as_a_line_is_read_as_one(typed in typed(), by_characters in any::<bool>()) {
            let (terminal, keys) = with(|set| set.input_modes.set(InputModes::IUTF8, by_characters));
            let keys = keys.expect("it puts lines together");
            // As much as leaves room for one more.
            let (mut line, mut taken) = (Line::default(), 0);
            while let Some(next) = typed.get(taken).and_then(|key| line.after(&[*key], &keys))
                && next.held() < LONGEST_LINE
            {
                (line, taken) = (next, taken + 1);
            }
            let line = line.after(b"z", &keys).expect("there is room");
            for part in [&typed[..taken], b"z\n", b"end\n"] {
                rustix::io::write(&terminal.ours, part).expect("it is typed");
            }
            let read = last_line(&terminal.theirs);
            prop_assert!(read.ends_with(b"z\n"), "the last key is gone");
            prop_assert!(read.len() <= line.held() + 1, "{} were read, {} counted", read.len() - 1, line.held());
        }
    }
}
