//! The arguments of a chore, taken one by one. Parsed by hand: the argument parser belongs to the product's `cli`.

use anyhow::{Context, bail};

/// What is left of the command line. Each `take` removes what it returns; `finish` refuses leftovers.
#[derive(Debug)]
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn from_command_line() -> Self {
        Args(std::env::args().skip(1).collect())
    }

    /// The next word that is not an option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let at = self.0.iter().position(|arg| !arg.starts_with("--"))?;
        Some(self.0.remove(at))
    }

    /// Whether `--name` was given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        match self.0.iter().position(|arg| arg == name) {
            Some(at) => {
                self.0.remove(at);
                true
            }
            None => false,
        }
    }

    /// The value of `--name VALUE` or `--name=VALUE`.
    pub(crate) fn value(&mut self, name: &str) -> anyhow::Result<Option<String>> {
        let joined = format!("{name}=");
        let Some(at) = self.0.iter().position(|arg| arg == name || arg.starts_with(&joined)) else {
            return Ok(None);
        };
        let found = self.0.remove(at);
        if let Some(value) = found.strip_prefix(&joined) {
            return Ok(Some(value.to_owned()));
        }
        if at == self.0.len() {
            bail!("{name} needs a value");
        }
        Ok(Some(self.0.remove(at)))
    }

    /// A whole number, with a default.
    pub(crate) fn number(&mut self, name: &str, default: u64) -> anyhow::Result<u64> {
        match self.value(name)? {
            Some(text) => text.parse().with_context(|| format!("{name} takes a whole number, not '{text}'")),
            None => Ok(default),
        }
    }

    /// Everything not yet taken, for a program that runs this one again.
    pub(crate) fn rest(&self) -> &[String] {
        &self.0
    }

    /// Refuses what nobody took.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some(extra) => bail!("'{extra}' is not understood here"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Args {
        Args(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn options_may_stand_anywhere_and_leftovers_are_refused() {
        let mut given = args(&["mcp", "--server=nika serve", "--quick", "--dir", "/tmp/x"]);
        assert_eq!(given.value("--server").unwrap().as_deref(), Some("nika serve"));
        assert_eq!(given.value("--dir").unwrap().as_deref(), Some("/tmp/x"));
        assert!(given.flag("--quick"));
        assert_eq!(given.word().as_deref(), Some("mcp"));
        given.finish().unwrap();

        assert!(args(&["--odd"]).finish().is_err());
        assert!(args(&["--dir"]).value("--dir").is_err());
    }
}
