//! Scenes: a workspace in a temporary directory, a call, what the model sees.

mod children;
mod documents;
mod files;
mod pictures;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{
    Block, CallId, Cancel, Clock, Cx, Output, Preimage, Progress, Scene, SessionState, Silent, Tool, ToolError, Undo,
};
use nika_guard::{Mode, Policy, Stance};
use nika_host::fs::{Fsync, Ledger, Seen, Settings, Workspace};
use nika_host::proc::Isolated;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Params, Read};

/// A workspace, a session, and the tool.
pub(super) struct World {
    dir: TempDir,
    pub tool: Read,
    session: SessionState,
    runtime: tokio::runtime::Runtime,
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn unix_ms(&self) -> u64 {
        0
    }
}

impl Undo for Still {
    fn keep(&self, _: &Preimage<'_>) -> Result<(), ToolError> {
        panic!("reading changes nothing")
    }
}

impl World {
    pub fn new() -> World {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (root, state) = (dir.path().join("root"), dir.path().join("state"));
        for dir in [&root, &state.join("sets")] {
            fs::create_dir_all(dir).expect("it can be made");
        }
        let settings = Settings {
            roots: vec![root],
            readable: vec![],
            home: None,
            git: None,
            own: state.clone(),
            state,
            fsync: Fsync::Off,
        };
        let files = Arc::new(Workspace::open(settings).expect("it opens"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        World { dir, tool: Read { files, parsers: None }, session: SessionState::new("test", true), runtime }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("root").join(name)
    }

    pub fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> World {
        fs::write(self.path(name), bytes).expect("it can be written");
        self
    }

    /// With parsers in children, as the program has them: this test program, run again.
    pub fn with_children(mut self) -> World {
        let args = ["--exact", children::ENTRY, "--nocapture", "--test-threads=1"];
        // A debug build on a busy machine is slow; how long is too long is tested elsewhere.
        let wall = Duration::from_secs(60);
        self.tool.parsers = Some(Isolated { wall, ..Isolated::new("/proc/self/exe", args.map(String::from).into()) });
        self
    }

    pub fn seen(&self, name: &str) -> Option<Seen> {
        let place = self.tool.files.locate(name).expect("a path");
        self.session.slot::<Ledger>().seen(&place.path)
    }

    pub fn call(&self, arguments: Value) -> Result<Output, ToolError> {
        self.call_until(arguments, &Cancel::default())
    }

    pub fn call_until(&self, arguments: Value, cancel: &Cancel) -> Result<Output, ToolError> {
        let params: Params = serde_json::from_value(arguments).expect("the arguments fit");
        let scene = Scene { session: &self.session };
        let effects = self.tool.effects(&params, &scene)?.of("read");
        let verdict = Policy::default().judge(&Stance::from(Mode::ReadOnly), &effects);
        let permit = Arc::new(verdict.permit(None).expect("reading inside is allowed"));
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        let call = CallId("c1".into());
        let cx = Cx {
            permit: &permit,
            call: &call,
            session: &self.session,
            cancel,
            progress: &progress,
            undo: &Still,
            clock: &Still,
            reply: None,
            purse: &nika_contract::Unbounded,
            beside: &nika_contract::Alone::default(),
        };
        self.runtime.block_on(self.tool.run(params, &cx))
    }

    /// The text of an answer.
    pub fn text(&self, arguments: Value) -> String {
        self.call(arguments).expect("it is answered").joined_text()
    }

    /// The refusal, with the number of its code.
    pub fn refused(&self, arguments: Value) -> (u16, String) {
        let error = self.call(arguments).expect_err("it is refused");
        (error.code.0, error.to_string())
    }

    /// The text and the one picture of an answer.
    pub fn picture(&self, arguments: Value) -> (String, &'static str, Vec<u8>) {
        let output = self.call(arguments).expect("it is answered");
        let text = output.joined_text();
        let pictures: Vec<_> = output
            .content
            .into_iter()
            .filter_map(|block| match block {
                Block::Image { mime, data } => Some((mime, data)),
                _ => None,
            })
            .collect();
        let [(mime, data)] = pictures.try_into().expect("one picture");
        (text, mime, data)
    }
}

pub(super) fn at(path: &str) -> Value {
    json!({"file_path": path})
}
