//! Policy manifests as layers: which files there are, and what each says in the words of configuration.
//!
//! A manifest lies beside its layer's configuration and is weaker than it. Those of a repository are looked
//! for from the root upwards to the top of the repository, or of the file system where there is none; the
//! nearer is stronger. What they say is settled with everything else: trust, precedence and places are the same.

use std::path::Path;

use nika_contract::text::near_names;
use nika_guard::Layer;
use nika_guard::manifest::{self, Entry, Json, JsonKind, ManifestError, Says};

use super::ConfigError;
use super::change::Change;
use super::file::{self, File};
use super::keys::{self, Brought, Origin, Said};
use super::yaml::{Key, Kind, Node, Spot};
use crate::trust;

/// A repository's manifests, the strongest of a directory first.
pub const MANIFESTS: [&str; 4] = [".nika/policy.json", ".claw-policy.json", ".codex-policy.json", ".claw-hooks.json"];

/// The manifest beside an administrator's or a person's configuration.
pub(super) const BESIDE: &str = "policy.json";

/// The manifest beside the configuration at `config`, if there is one.
pub(super) fn beside(layer: Layer, config: &Path, home: Option<&str>) -> Result<Option<Brought>, ConfigError> {
    file::open(&config.with_file_name(BESIDE), home)?.map(|file| read(layer, &file, home)).transpose()
}

/// Files that were read, by name.
type Texts = Vec<(String, String)>;

/// Every manifest of a repository, the weakest first, and their texts.
pub(super) fn of_repository(project_dir: &Path, home: Option<&str>) -> Result<(Vec<Brought>, Texts), ConfigError> {
    let (mut layers, mut seen) = (Vec::new(), Vec::new());
    let mut up = String::new();
    let above = trust::above(project_dir)?;
    for dir in std::iter::once(project_dir).chain(above.iter().map(|dir| dir.as_path())) {
        for name in MANIFESTS {
            let shown = format!("{up}{name}");
            if let Some(file) = file::open_beneath_as(dir, name, &shown)? {
                layers.push(read(Layer::Project, &file, home)?);
                seen.push((shown, file.text));
            }
        }
        up.push_str("../");
    }
    layers.reverse();
    Ok((layers, seen))
}

/// What the manifest in `file` says.
pub(super) fn read(layer: Layer, file: &File, home: Option<&str>) -> Result<Brought, ConfigError> {
    let origin = Origin { name: &file.name, lines: true };
    let entries = manifest::parse(&file.text).map_err(|error| malformed(error, &origin))?;
    let file_itself = Said {
        key: "manifest".into(),
        change: Change::Manifest(file.name.clone()),
        at: file.name.clone(),
        column: None,
    };
    let mut said = vec![file_itself];
    for Entry { key, spot, says } in entries {
        let at = origin.line(place(spot));
        let change = match says {
            Says::Setting(key, value) => {
                let key = Key { name: key.name, spot: place(key.spot) };
                said.extend(keys::setting(&key, &node(&value), &origin, home)?);
                continue;
            }
            Says::Trusted(trusted) => Change::Trusted(trusted),
            Says::SafeEnv(name) => Change::SafeEnv(name),
            Says::Deny(rule) => {
                said.push(Said {
                    key,
                    change: Change::Rule(nika_guard::RuleKind::Deny, rule),
                    at: format!("manifest {at}"),
                    column: None,
                });
                continue;
            }
            Says::Budget(budget, amount) => Change::Budget(budget, amount),
            Says::Message(mut message) => {
                message.at.clone_from(&at);
                Change::Message(message)
            }
        };
        said.push(Said { key, change, at, column: None });
    }
    Ok(Brought { layer, said })
}

fn malformed(error: ManifestError, origin: &Origin<'_>) -> ConfigError {
    let hint = error.unknown.map(|(word, known)| {
        let near = near_names(&word, known.iter().map(|name| (*name).to_owned()), 2);
        match near.is_empty() {
            true => format!("use one of {}", known.join(", ")),
            false => format!("did you mean {}?", near.join(" or ")),
        }
    });
    ConfigError::Malformed { at: origin.column(place(error.spot)), what: error.what, hint }
}

fn place(spot: manifest::Spot) -> Spot {
    Spot { line: spot.line, column: spot.column }
}

/// A JSON value as configuration's own tree.
fn node(json: &Json) -> Node {
    let kind = match &json.kind {
        JsonKind::Null => Kind::Nothing,
        JsonKind::Bool(value) => Kind::Bool(*value),
        JsonKind::Number(text) => text.parse().map_or_else(|_| Kind::Odd(text.clone()), Kind::Whole),
        JsonKind::Text(text) => Kind::Text(text.clone()),
        JsonKind::List(items) => Kind::List(items.iter().map(node).collect()),
        JsonKind::Map(entries) => {
            let entry = |(key, value): &(manifest::JsonKey, Json)| {
                (Key { name: key.name.clone(), spot: place(key.spot) }, node(value))
            };
            Kind::Map(entries.iter().map(entry).collect())
        }
    };
    Node { kind, spot: place(json.spot) }
}
