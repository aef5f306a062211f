//! Messages to the person, as lines of text.

use std::fmt;
use std::io::{self, Write};

use nika_contract::{Herald, Spoken, text};

/// A message with what goes with it, safe to print.
#[derive(Debug)]
pub struct Said<'a>(pub &'a Spoken);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The model's words: they must not redraw a terminal.
        f.write_str(&text::harmless(self.0.message.trim_end()))?;
        for name in &self.0.attachments {
            write!(f, "\n  with {}", text::harmless(name))?;
        }
        Ok(())
    }
}

/// The person who reads what this program complains of.
#[derive(Debug)]
pub struct OnStderr;

impl Herald for OnStderr {
    fn say(&self, _: &str, spoken: &Spoken) -> bool {
        // On stdout is the call's answer, which a program may read.
        io::stderr().write_all(format!("nika: {}\n", Said(spoken)).as_bytes()).is_ok()
    }
}
