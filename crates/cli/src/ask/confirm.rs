//! One question about something that is shown, before anything begins: yes, always where that is offered, or no.

use std::io::{self, BufRead};

use crate::failure::Failure;
use crate::out;
use crate::world::World;

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmed {
    /// This once.
    Yes,
    /// Where the question offers it.
    Always,
    /// Anything else; also where nobody is there.
    No,
}

/// Puts `question`, which ends with what may be typed, to the person at the terminal.
pub fn confirmed(world: &World, question: &str) -> Result<Confirmed, Failure> {
    if !world.has_person {
        return Ok(Confirmed::No);
    }
    out::complain(question);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(read(&answer))
}

fn read(answer: &str) -> Confirmed {
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Confirmed::Yes,
        "a" | "always" => Confirmed::Always,
        _ => Confirmed::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_one() {
        for (typed, wanted) in [
            ("y\n", Confirmed::Yes),
            (" YES \n", Confirmed::Yes),
            ("a\n", Confirmed::Always),
            ("\n", Confirmed::No),
            ("", Confirmed::No),
            ("yes but\n", Confirmed::No),
            ("n\n", Confirmed::No),
        ] {
            assert_eq!(read(typed), wanted, "{typed:?}");
        }
    }
}
