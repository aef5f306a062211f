//! Where git keeps what a person has told it for all repositories.

use std::path::{Path, PathBuf};

/// Of one person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Personal {
    home: Option<PathBuf>,
    /// The directory of all programs' configuration.
    config: Option<PathBuf>,
    /// The file that stands for both of the usual ones.
    global: Option<PathBuf>,
}

impl Personal {
    /// Of who has `home`, where no variable says otherwise.
    pub fn at_home(home: Option<&Path>) -> Personal {
        let config = home.map(|home| home.join(".config"));
        Personal { home: home.map(Path::to_owned), config, global: None }
    }

    /// As the variables of an environment say.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Personal {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let plain = Personal::at_home(path("HOME").as_deref());
        Personal { config: path("XDG_CONFIG_HOME").or(plain.config), global: path("GIT_CONFIG_GLOBAL"), ..plain }
    }

    /// The same; directories by their resolved paths, as `settle` gives them.
    pub(crate) fn settled(self, settle: impl Fn(PathBuf) -> PathBuf) -> Personal {
        Personal { home: self.home.map(&settle), config: self.config.map(&settle), ..self }
    }

    /// What `~/` means in a configuration.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The files that git reads, in its order.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.global {
            Some(global) => vec![global.clone()],
            None => self.usual().collect(),
        }
    }

    /// The same, and those that git would read if the variable were not set: not every program is started from the same shell.
    pub fn all_files(&self) -> impl Iterator<Item = PathBuf> {
        self.usual().chain(self.global.clone())
    }

    fn usual(&self) -> impl Iterator<Item = PathBuf> {
        let config = self.config.iter().map(|dir| dir.join("git/config"));
        config.chain(self.home.iter().map(|home| home.join(".gitconfig")))
    }

    /// The ignore file, where no configuration names another.
    pub(crate) fn ignore_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|dir| dir.join("git/ignore"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(variables: &[(&str, &str)]) -> Vec<String> {
        let of = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Personal::of(of).files().iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn variables_say_where_the_files_lie() {
        assert_eq!(files(&[]), Vec::<String>::new());
        assert_eq!(files(&[("HOME", "/h")]), ["/h/.config/git/config", "/h/.gitconfig"]);
        let moved = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")];
        assert_eq!(files(&moved), ["/x/git/config", "/h/.gitconfig"]);
        assert_eq!(files(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "")]), files(&[("HOME", "/h")]));
        assert_eq!(files(&[("HOME", "/h"), ("GIT_CONFIG_GLOBAL", "/g")]), ["/g"]);
    }
}
