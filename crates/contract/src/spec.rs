//! What is fixed about a tool: its name, its place, its flags and its examples.

/// The part of the surface a tool belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Files.
    File,
    /// Search and discovery.
    Search,
    /// Commands.
    Shell,
    /// The conversation: questions, messages, plan mode, skills.
    Talk,
    /// Notes and durable work: to-do list, plan, tasks.
    Work,
    /// Agents that work for the caller.
    Agent,
    /// Pages, searches and requests to other machines.
    Web,
    /// Other people's MCP servers.
    Mcp,
    /// Workflows of the repository.
    Flow,
    /// Test fixtures; never part of a shipped surface.
    Test,
}

impl Group {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Group::File => "file",
            Group::Search => "search",
            Group::Shell => "shell",
            Group::Talk => "talk",
            Group::Work => "work",
            Group::Agent => "agent",
            Group::Web => "web",
            Group::Mcp => "mcp",
            Group::Flow => "flow",
            Group::Test => "test",
        }
    }
}

/// A worked call. Each one runs as a test, and the reference pages show it.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What it shows.
    pub title: &'static str,
    /// Files that exist before, as (path, content).
    pub files: &'static [(&'static str, &'static str)],
    /// Calls made before it, as (tool, arguments as JSON).
    pub before: &'static [(&'static str, &'static str)],
    /// The arguments, as JSON.
    pub arguments: &'static str,
    /// A piece of the answer's text.
    pub answer: &'static str,
}

/// What is fixed about a tool. Built in a `const` by the methods below.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The canonical name.
    pub name: &'static str,
    /// A person's name for it: *Read file*.
    pub title: &'static str,
    /// The part of the surface.
    pub group: Group,
    /// Whether its schema is in the first list.
    pub eager: bool,
    /// Whether it never changes anything.
    pub read_only: bool,
    /// Whether it may remove what was there (undo can still bring it back).
    pub destructive: bool,
    /// Whether doing it twice is the same as once.
    pub idempotent: bool,
    /// Whether it reaches beyond this machine.
    pub open_world: bool,
    /// Whether its schema has `additionalProperties: true`.
    pub open_arguments: bool,
    /// Whether its answer is the text: data beside it is for programs, and no MCP client is sent it.
    pub text: bool,
    /// The journal's event for it.
    pub event: Option<&'static str>,
    /// The most characters of text in an answer; the rest is spilled to a file.
    pub max_output_chars: usize,
    /// Words people use for what it does.
    pub terms: &'static [&'static str],
    /// Worked calls.
    pub examples: &'static [Example],
}

/// Characters of text in an answer, unless a tool says otherwise: about 8,000 tokens.
pub const MAX_OUTPUT_CHARS: usize = 30_000;

impl Spec {
    /// A deferred tool that may change things.
    pub const fn new(name: &'static str, title: &'static str, group: Group) -> Spec {
        Spec {
            name,
            title,
            group,
            eager: false,
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
            open_arguments: false,
            text: false,
            event: None,
            max_output_chars: MAX_OUTPUT_CHARS,
            terms: &[],
            examples: &[],
        }
    }

    /// In the first list.
    pub const fn eager(mut self) -> Spec {
        self.eager = true;
        self
    }

    /// Never changes anything.
    pub const fn read_only(mut self) -> Spec {
        self.read_only = true;
        self.idempotent = true;
        self
    }

    /// May remove what was there.
    pub const fn destructive(mut self) -> Spec {
        self.destructive = true;
        self
    }

    /// Its answer is the text, and data beside it only count or repeat: workflows, hooks and `nika call` have them.
    /// Most MCP clients show a model either data or text and never both, so over MCP there is the text alone.
    pub const fn text(mut self) -> Spec {
        self.text = true;
        self
    }

    /// Twice is the same as once.
    pub const fn idempotent(mut self) -> Spec {
        self.idempotent = true;
        self
    }

    /// Reaches beyond this machine.
    pub const fn open_world(mut self) -> Spec {
        self.open_world = true;
        self
    }

    /// Takes whatever arguments its caller agreed on: its schema has `additionalProperties: true`.
    pub const fn open_arguments(mut self) -> Spec {
        self.open_arguments = true;
        self
    }

    /// The journal's event for it.
    pub const fn event(mut self, event: &'static str) -> Spec {
        self.event = Some(event);
        self
    }

    /// A budget of its own.
    pub const fn max_output_chars(mut self, chars: usize) -> Spec {
        self.max_output_chars = chars;
        self
    }

    /// Words people use for what it does.
    pub const fn terms(mut self, terms: &'static [&'static str]) -> Spec {
        self.terms = terms;
        self
    }

    /// Worked calls.
    pub const fn examples(mut self, examples: &'static [Example]) -> Spec {
        self.examples = examples;
        self
    }
}
