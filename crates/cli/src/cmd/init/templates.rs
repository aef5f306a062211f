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
const KEYS: (&str, &str) = (".env.example", include_str!("../../../templates/env.example"));

const BASIC: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/basic/hello.nika.yaml")),
    ("workflows/hello.script.yaml", include_str!("../../../templates/basic/hello.script.yaml")),
    KEYS,
    ("README.md", include_str!("../../../templates/basic/README.md")),
];
const AGENT: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/agent/hello.nika.yaml")),
    ("workflows/hello.script.yaml", include_str!("../../../templates/agent/hello.script.yaml")),
    (".mcp.json", include_str!("../../../templates/agent/mcp.json")),
    KEYS,
    ("README.md", include_str!("../../../templates/agent/README.md")),
];
const PIPELINE: &[(&str, &str)] = &[
    CONFIG,
    ("workflows/hello.nika.yaml", include_str!("../../../templates/pipeline/hello.nika.yaml")),
    KEYS,
    ("README.md", include_str!("../../../templates/pipeline/README.md")),
];

/// The files of a template; `title` is what the README calls the directory.
pub fn files(template: Template, title: &str) -> Vec<File> {
    let files = match template {
        Template::Basic => BASIC,
        Template::Agent => AGENT,
        Template::Pipeline => PIPELINE,
    };
    files.iter().map(|(path, text)| File { path, text: text.replace("%NAME%", title) }).collect()
}
