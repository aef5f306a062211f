//! Keys of search providers that a person gave to Nika: in one file of their state, which only they can read, apart from
//! every workspace. A key is for a provider at a host and port, and goes to no other, whatever a provider of that name
//! says in some configuration.

use std::path::Path;

use nika_contract::{ToolError, code};
use nika_host::net::Address;
use nika_store::{Private, StoreError};
use nika_tools::web::search::provider::Secret;
use serde::{Deserialize, Serialize};

/// The file below the state's base.
const FILE: &str = "search-keys.json";
/// The form of the file.
const VERSION: u32 = 1;
/// The longest key: it travels in a header.
const MOST_BYTES: usize = 4 << 10;

/// Where the keys are.
pub struct SearchKeys(Private);

/// The keys that were read.
#[derive(Serialize, Deserialize)]
pub struct Keys {
    version: u32,
    keys: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    provider: String,
    /// Host and port.
    at: String,
    key: String,
}

impl SearchKeys {
    /// Those of the person whose state lies at `base`. Nothing is read for it.
    pub fn below(base: &Path) -> SearchKeys {
        SearchKeys(Private::new(&base.join(FILE)))
    }

    /// All of them.
    pub fn read(&self) -> Result<Keys, ToolError> {
        parse(self.0.read().map_err(|error| unusable(&error.to_string()))?.as_deref())
    }

    /// Keeps a key in place of an earlier one.
    pub fn keep(&self, provider: &str, address: &Address, key: &str) -> Result<(), ToolError> {
        let row = Row { provider: provider.to_owned(), at: place(address), key: fit(key)?.to_owned() };
        self.change(|keys| {
            keys.retain(|known| known.provider != row.provider);
            keys.push(row);
        })
    }

    /// Forgets the key of a provider. Whether there was one.
    pub fn forget(&self, provider: &str) -> Result<bool, ToolError> {
        let mut any = false;
        self.change(|keys| {
            let before = keys.len();
            keys.retain(|known| known.provider != provider);
            any = keys.len() != before;
        })?;
        Ok(any)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Row>)) -> Result<(), ToolError> {
        let changed = self.0.change(|bytes| {
            let mut keys = parse(bytes.as_deref()).map_err(Wrong)?;
            change(&mut keys.keys);
            let mut bytes = serde_json::to_vec_pretty(&keys).expect("keys are texts");
            bytes.push(b'\n');
            Ok::<_, Wrong>(bytes)
        });
        changed.map_err(|Wrong(error)| error)
    }
}

impl Keys {
    /// None.
    pub fn none() -> Keys {
        Keys { version: VERSION, keys: Vec::new() }
    }

    /// The key for the provider of this name at this address.
    pub fn of(&self, provider: &str, address: &Address) -> Option<Secret> {
        let at = place(address);
        let found = self.keys.iter().find(|row| row.provider == provider && row.at == at);
        found.map(|row| Secret::new(&row.key))
    }
}

/// What goes wrong on the way: with the file, or with what stands in it.
struct Wrong(ToolError);

impl From<StoreError> for Wrong {
    fn from(error: StoreError) -> Wrong {
        Wrong(unusable(&error.to_string()))
    }
}

fn place(address: &Address) -> String {
    format!("{}:{}", address.host(), address.port())
}

/// A key as it fits a header. What is wrong is said without it.
fn fit(key: &str) -> Result<&str, ToolError> {
    let key = key.trim();
    let fits = !key.is_empty() && key.len() <= MOST_BYTES && key.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(key).ok_or_else(|| {
        ToolError::new(code::BAD_ARGUMENTS, "what was read is no key: one word of printable characters is")
            .hint("write the key alone to standard input, as in `nika search login brave < key.txt`")
    })
}

fn parse(bytes: Option<&[u8]>) -> Result<Keys, ToolError> {
    let Some(bytes) = bytes else { return Ok(Keys::none()) };
    // Where it fails is said, not what stands there.
    let keys: Keys = serde_json::from_slice(bytes)
        .map_err(|error| unusable(&format!("line {}, column {}", error.line(), error.column())))?;
    if keys.version != VERSION {
        return Err(unusable(&format!("its version is {}, and this Nika knows {VERSION}", keys.version)));
    }
    Ok(keys)
}

fn unusable(why: &str) -> ToolError {
    ToolError::new(code::STATE_UNUSABLE, format!("the file of search keys cannot be used: {why}"))
        .hint(format!("remove {FILE} from Nika's state directory, and `nika search login` again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Address {
        Address::parse(text).expect("an address")
    }

    #[test]
    fn a_key_is_for_one_provider_at_one_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let keys = SearchKeys::below(&dir.path().join("state"));
        assert!(!keys.forget("brave").expect("there is none"));
        keys.keep("brave", &at("https://api.example/"), " sk-1\n").expect("it is kept");
        keys.keep("brave", &at("https://api.example/"), "sk-2").expect("it is kept in its place");
        let known = keys.read().expect("readable");
        for (name, address, there) in [
            ("brave", "https://api.example/other/path", true),
            ("brave", "http://api.example/", false),
            ("brave", "https://api.example:8443/", false),
            ("brave", "https://evil.example/", false),
            ("other", "https://api.example/", false),
        ] {
            assert_eq!(known.of(name, &at(address)).is_some(), there, "{name} {address}");
        }
        assert!(keys.forget("brave").expect("it is there"));
        assert!(keys.read().expect("readable").of("brave", &at("https://api.example/")).is_none());
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        let dir = tempfile::tempdir().expect("a directory");
        let keys = SearchKeys::below(dir.path());
        for odd in ["", " \n", "two words", "a\r\nX-Evil: b", "schlüssel", &"k".repeat(5_000)] {
            let error = keys.keep("brave", &at("https://api.example/"), odd).expect_err("it is none");
            assert!(error.code == code::BAD_ARGUMENTS && !error.to_string().contains("Evil"), "{error}");
        }
        std::fs::write(dir.path().join(FILE), "{\"keys\": [{\"key\": \"hush").expect("a file");
        std::fs::set_permissions(dir.path().join(FILE), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("mode");
        let error = keys.read().err().expect("it is torn").to_string();
        assert!(error.contains("line 1") && !error.contains("hush"), "{error}");
    }
}
