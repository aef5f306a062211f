//! The files of each template, as data. They are files of this repository, so that they are read and tested as such.

use crate::args::Template;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Below the directory.
    pub path: &'static str,
    /// All of it.
    pub text: String,
}

const CONFIG: (&str, &str) = (".nika/config.yaml", include_str!("../../../templates/config.yaml"));
/// The one file that a directory may have already.
pub const README: &str = "README.md";
/// What editors complete a workflow by. It lies beside the configuration, so that they need no network for it.
const SCHEMA: &str = ".nika/workflow.schema.json";
const KEYS: (&str, &str) = (".env.example", include_str!("../../../templates/env.example"));

const BASIC: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/basic/hello.nika.yaml")),
    ("workflows/hello.script.yaml", include_str!("../../../templates/basic/hello.script.yaml")),
    KEYS,
    (README, include_str!("../../../templates/basic/README.md")),
];
const AGENT: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/agent/hello.nika.yaml")),
    ("workflows/hello.script.yaml", include_str!("../../../templates/agent/hello.script.yaml")),
    (".mcp.json", include_str!("../../../templates/agent/mcp.json")),
    KEYS,
    (README, include_str!("../../../templates/agent/README.md")),
];
const PIPELINE: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/pipeline/hello.nika.yaml")),
    KEYS,
    (README, include_str!("../../../templates/pipeline/README.md")),
];

/// The files of a template; `title` is what the README calls the directory.
pub fn files(template: Template, title: &str) -> Vec<File> {
    let files = match template {
        Template::Basic => BASIC,
        Template::Agent => AGENT,
        Template::Pipeline => PIPELINE,
    };
    let mut files: Vec<File> =
        files.iter().map(|(path, text)| File { path, text: text.replace("%NAME%", title) }).collect();
    files.insert(2, File { path: SCHEMA, text: format!("{:#}\n", nika_flow::schema::schema()) });
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_workflow_names_the_schema_by_its_place_beside_it() {
        for template in [Template::Basic, Template::Agent, Template::Pipeline] {
            let files = files(template, "x");
            let workflow = files.iter().find(|file| file.path.ends_with(".nika.yaml")).expect("there is one");
            let line = workflow.text.lines().next().unwrap_or_default();
            let named = line.strip_prefix("# yaml-language-server: $schema=").expect(line);
            // Editors read it from the workflow's directory, which lies in the root.
            let path = Path::new(named).strip_prefix("..").expect("it lies above");
            assert!(files.iter().any(|file| Path::new(file.path) == path), "{template:?}: {named}");
        }
    }
}
