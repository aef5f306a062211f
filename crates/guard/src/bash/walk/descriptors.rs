//! Which numbers inputs come under. The name of an output (`/dev/stderr`) opens the file of its descriptor again, for writing:
//! a file that is only read must not come there by a copy, whenever in the script that is made.

use std::collections::BTreeSet;

use super::super::script::{Fd, Redirect, RedirectOp};

/// Outputs, and what a substitution is called here: their names are sinks.
const OUTPUTS: [u32; 3] = [1, 2, 63];
/// `{name}<` gets one from here on.
const FIRST_NAMED: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Descriptors {
    /// Opened to be read, or copied from what may be.
    inputs: BTreeSet<u32>,
    /// A variable has the number of one.
    is_named: bool,
    /// What outputs are copies of.
    outputs_of: BTreeSet<u32>,
}

impl Descriptors {
    /// Notes a redirection, a copy of `from` where it is one; whether an input comes under the number of an output with it.
    pub(super) fn note(&mut self, redirect: &Redirect, from: Option<u32>) -> bool {
        let to = number(redirect);
        match (from, to) {
            (Some(1 | 2), _) => false,
            (Some(from), Some(to)) if OUTPUTS.contains(&to) => {
                self.outputs_of.insert(from);
                self.is_input(from)
            }
            // Of what the script begins with there is nothing to note.
            (_, Some(..=2)) => false,
            (_, to) => {
                // What is opened to be written, too, counts as written.
                let is_opened = from.is_some() || redirect.op == RedirectOp::Read;
                self.is_named |= is_opened && to.is_none();
                self.inputs.extend(to.filter(|_| is_opened));
                self.outputs_of.iter().any(|from| self.is_input(*from))
            }
        }
    }

    fn is_input(&self, number: u32) -> bool {
        number == 0 || self.inputs.contains(&number) || self.is_named && number >= FIRST_NAMED
    }
}

/// Where a redirection puts what it opens or copies; `None` where a variable says.
fn number(redirect: &Redirect) -> Option<u32> {
    use RedirectOp::{DupIn, Here, HereString, HereStrip, Read, ReadWrite};
    match (&redirect.fd, redirect.op) {
        (Fd::Number(number), _) => number.parse().ok(),
        (Fd::Named(_), _) => None,
        (Fd::Default, Read | ReadWrite | DupIn | Here | HereStrip | HereString) => Some(0),
        (Fd::Default, _) => Some(1),
    }
}
