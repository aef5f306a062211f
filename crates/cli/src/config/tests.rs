//! Scenes of configuration: files in a directory, a command line, and what is in force afterwards.

mod malformed;
mod manifests;
mod monotone;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nika_contract::ToolError;
use nika_guard::{Mode, RuleKind, Stance};
use nika_host::fs::Fsync;

use super::change::at_least_as_strict;
use super::keys::KEYS;
use super::*;

/// One step of a scene.
type Step = fn(World) -> World;
type Touch = fn(&World);
type Flags = fn(&mut CommandLine);

/// A machine with a home and a repository.
struct World {
    dir: tempfile::TempDir,
    line: CommandLine,
}

fn world() -> World {
    let dir = tempfile::tempdir().expect("a directory for the test");
    fs::create_dir_all(dir.path().join("repo/.git")).expect("made");
    World { dir, line: CommandLine::default() }
}

impl World {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> World {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
        self
    }

    fn managed(self, text: &str) -> World {
        self.file("etc/config.yaml", text)
    }

    fn user(self, text: &str) -> World {
        self.file("home/.config/nika/config.yaml", text)
    }

    fn project(self, text: &str) -> World {
        self.file("repo/.nika/config.yaml", text)
    }

    fn local(self, text: &str) -> World {
        self.file("repo/.nika/config.local.yaml", text)
    }

    fn line(mut self, change: impl FnOnce(&mut CommandLine)) -> World {
        change(&mut self.line);
        self
    }

    fn trusted(self) -> World {
        trust::grant(&self.path("repo"), &self.path("state/trust.jsonl")).expect("granted");
        self
    }

    fn sources(&self) -> Sources {
        Sources {
            managed: self.path("etc/config.yaml"),
            user: Some(self.path("home/.config/nika/config.yaml")),
            project_dir: self.path("repo"),
            command_line: self.line.clone(),
            home: self.path("home").to_str().map(str::to_owned),
            trust_store: self.path("state/trust.jsonl"),
            keeps_misfits: false,
            runs_hooks: true,
        }
    }

    fn load(&self) -> Effective {
        load(&self.sources()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The refusal as the person reads it.
    fn refused(&self) -> String {
        ToolError::from(load(&self.sources()).expect_err("should be refused")).to_string()
    }
}

fn row<'a>(rows: &'a [Shown], key: &str) -> &'a Shown {
    rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("no row {key} in {rows:#?}"))
}

#[test]
fn nothing_configured_is_the_defaults() {
    let found = world().load();
    assert_eq!((found.stance, found.fsync, found.defer_above), (Stance::from(Mode::Ask), Fsync::Data, 8));
    assert_eq!((found.undo_max_bytes, found.undo_max_days, found.journal_each_call), (1 << 30, 30, false));
    assert!(found.max_output_chars.is_empty() && found.policy.rules().is_empty() && found.inactive.is_empty());
    assert_eq!(found.trusted, Trust::Nothing);
    assert!(found.shown.iter().all(|row| row.at == "default"), "{:#?}", found.shown);
}

#[test]
fn an_administrators_word_that_others_may_write_is_refused() {
    let set = |world: &World, name: &str, mode: u32| {
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    let fine = || {
        let world = world().managed("mode: read-only").file("etc/policy.json", "{}");
        set(&world, "etc", 0o755);
        set(&world, "etc/config.yaml", 0o644);
        set(&world, "etc/policy.json", 0o640);
        world
    };
    assert_eq!(fine().load().stance, Stance::from(Mode::ReadOnly));
    for (name, mode) in [("etc/config.yaml", 0o666), ("etc/policy.json", 0o602), ("etc", 0o777)] {
        let world = fine();
        set(&world, name, mode);
        let (refused, path) = (world.refused(), world.path(name).display().to_string());
        assert!(refused.starts_with("NIKA-902") && refused.contains(&format!("chmod o-w {path}")), "{refused}");
        set(&world, name, mode & !0o002);
        world.load();
    }
    // Whoever may write the directory could have taken the file away; where others may only add to it, they could not.
    let world = fine();
    fs::remove_file(world.path("etc/config.yaml")).expect("removed");
    set(&world, "etc", 0o777);
    assert!(world.refused().contains("chmod o-w"), "{}", world.refused());
    set(&world, "etc", 0o1777);
    world.load();
    // A link is looked at where it leads, too.
    let world = fine().file("shared/real.yaml", "mode: read-only");
    fs::remove_file(world.path("etc/config.yaml")).expect("removed");
    std::os::unix::fs::symlink(world.path("shared/real.yaml"), world.path("etc/config.yaml")).expect("a link");
    world.load();
    set(&world, "shared", 0o777);
    assert!(world.refused().contains("chmod o-w"), "{}", world.refused());
    // A person's own file is theirs to keep.
    let world = self::world().user("mode: read-only");
    set(&world, "home/.config/nika/config.yaml", 0o666);
    world.load();
}

#[test]
fn the_defaults_shown_are_the_defaults_in_force() {
    let mut text = String::new();
    for (name, default) in KEYS.iter().filter_map(|row| row.default.map(|value| (row.name, value))) {
        if name == "output.max_chars" {
            continue; // Shown for the person; each tool has a limit of its own while nobody sets one.
        }
        match name.split_once('.') {
            None => text.push_str(&format!("{name}: {default}\n")),
            Some((section, key)) if text.contains(&format!("{section}:\n")) => {
                text = text.replace(&format!("{section}:\n"), &format!("{section}:\n  {key}: {default}\n"));
            }
            Some((section, key)) => text.push_str(&format!("{section}:\n  {key}: {default}\n")),
        }
    }
    let (set, unset) = (world().user(&text).load(), Effective::default());
    assert_eq!((set.stance, set.fsync, set.journal_each_call), (unset.stance, unset.fsync, unset.journal_each_call));
    assert_eq!(
        (set.defer_above, set.undo_max_bytes, set.undo_max_days),
        (8, unset.undo_max_bytes, unset.undo_max_days)
    );
    let values = |rows: &[Shown]| rows.iter().map(|row| (row.key.clone(), row.value.clone())).collect::<Vec<_>>();
    assert_eq!(values(&set.shown), values(&world().load().shown));
}

/// Weakest first; each is written below the ones before it, and must win.
#[test]
fn the_stronger_layer_wins_and_says_where() {
    let steps: [(&str, Step, &str); 5] = [
        ("1", |world| world.managed("tools: {defer_above: 1}"), "etc/config.yaml:1"),
        ("2", |world| world.user("\ntools:\n  defer_above: 2\n"), "~/.config/nika/config.yaml:3"),
        ("3", |world| world.project("tools:\n  defer_above: 3\n"), ".nika/config.yaml:2"),
        ("4", |world| world.local("tools:\n  list: all\n  defer_above: 4\n"), ".nika/config.local.yaml:3"),
        ("5", |world| world.line(|line| line.set.push("tools.defer_above=5".into())), "--set tools.defer_above"),
    ];
    let mut scene = world();
    for (value, write, at) in steps {
        scene = write(scene);
        let found = scene.load();
        let row = row(&found.shown, "tools.defer_above");
        assert_eq!(row.value, value);
        assert!(row.at.ends_with(at), "{} for {at}", row.at);
        assert_eq!(found.defer_above.to_string(), value);
    }
}

#[test]
fn every_key_reaches_its_field() {
    let found = world()
        .user(
            "mode: WorkspaceWrite\nfiles: {fsync: full}\njournal: {fsync: each-call}\n\
             output: {max_chars: 5000, tools: {read: 200000, grep: 1000}}\n\
             tools: {list: [read, grep], defer_above: 0, dialect: claw-agent}\nundo: {max_bytes: 512MiB, max_days: 7}\n",
        )
        .load();
    assert_eq!(found.stance, Stance::from(Mode::Workspace));
    assert_eq!((found.fsync, found.journal_each_call), (Fsync::Full, true));
    let limits = [("*".to_owned(), 5000), ("read".to_owned(), 200_000), ("grep".to_owned(), 1000)];
    assert_eq!(found.max_output_chars, limits);
    assert_eq!((found.list.as_deref(), found.dialect.as_deref()), (Some("read,grep"), Some("claw-agent")));
    assert_eq!((found.defer_above, found.undo_max_bytes, found.undo_max_days), (0, 512 << 20, 7));
    assert_eq!(row(&found.shown, "output.tools.read").value, "200000");
    assert_eq!(row(&found.shown, "undo.max_bytes").value, "512MiB");
}

#[test]
fn words_for_sizes_and_switches() {
    for (text, want) in [("true", Fsync::Data), ("false", Fsync::Off), ("off", Fsync::Off), ("full", Fsync::Full)] {
        assert_eq!(world().user(&format!("files: {{fsync: {text}}}")).load().fsync, want, "{text}");
    }
    for (text, bytes) in [("2GB", 2_000_000_000), ("1 MiB", 1 << 20), ("1048576", 1 << 20), ("3TiB", 3 << 40)] {
        assert_eq!(world().user(&format!("undo: {{max_bytes: {text}}}")).load().undo_max_bytes, bytes, "{text}");
    }
}

#[test]
fn rules_of_all_layers_hold_and_know_their_line() {
    let found = world()
        .managed("permissions:\n  deny:\n    - net(*)\n")
        .user("permissions:\n  allow: [\"write(src/**)\",\n          \"read(~/notes/**)\"]\n")
        .project(
            "permissions:\n  ask: [write(docs/**)]\n  allow: [exec(make*)]\n  deny:\n    # why\n    - rule: exec(git push*)\n      match: [git push origin]\n      not_match: [git status]\n",
        )
        .line(|line| line.deny.push("tool(bash)".into()))
        .load();
    let rules: Vec<String> =
        found.policy.rules().iter().map(|rule| format!("{} {} {}", rule.kind, rule.rule, rule.at)).collect();
    let etc = found.policy.rules()[0].at.clone();
    assert!(etc.ends_with("etc/config.yaml:3"), "{etc}");
    assert_eq!(
        rules[1..],
        [
            "allow write(src/**) ~/.config/nika/config.yaml:2",
            "allow read(~/notes/**) ~/.config/nika/config.yaml:3",
            "ask write(docs/**) .nika/config.yaml:2",
            "deny exec(git push*) .nika/config.yaml:6",
            "deny tool(bash) --deny",
        ]
    );
    let held = row(&found.inactive, "permissions.allow");
    assert_eq!((held.value.as_str(), held.at.as_str()), ("exec(make*)", ".nika/config.yaml:3"));
    assert!(held.why.as_deref().is_some_and(|why| why.contains("nika trust")), "{held:?}");
    assert_eq!(found.trusted, Trust::Unasked);
}

#[test]
fn flags_are_stances() {
    let workspace_asking = Stance { ask_writes: true, ..Stance::from(Mode::Workspace) };
    let daring = Stance { unsafe_commands: true, ..Stance::from(Mode::AcceptAll) };
    let cases: [(Flags, Option<Stance>); 11] = [
        (|line| line.allow_write = true, Some(Stance::from(Mode::AcceptEdits))),
        (|line| line.allow_shell = true, Some(workspace_asking)),
        (|line| (line.allow_shell, line.allow_write) = (true, true), Some(Stance::from(Mode::Workspace))),
        (|line| line.yolo = true, Some(Stance::from(Mode::AcceptAll))),
        (|line| line.unsafe_ = true, Some(daring)),
        (|line| (line.mode, line.unsafe_) = (Some(Mode::AcceptAll), true), Some(daring)),
        (|line| line.mode = Some(Mode::Deny), Some(Stance::from(Mode::Deny))),
        (|line| (line.mode, line.allow_write) = (Some(Mode::AcceptEdits), true), Some(Stance::from(Mode::AcceptEdits))),
        (|line| (line.mode, line.allow_write) = (Some(Mode::ReadOnly), true), None),
        (|line| (line.mode, line.allow_shell) = (Some(Mode::Workspace), true), None),
        (|line| (line.mode, line.set) = (Some(Mode::Deny), vec!["mode=ask".into()]), None),
    ];
    for (index, (change, want)) in cases.into_iter().enumerate() {
        // Flags win over a repository that tightens, and over one that is trusted to loosen.
        let scene = world().project("mode: deny").line(change);
        match want {
            Some(want) => assert_eq!(scene.load().stance, want, "case {index}"),
            None => assert!(scene.refused().starts_with("NIKA-100 "), "case {index}"),
        }
    }
    let found = world().line(|line| line.allow_shell = true).load();
    let row = row(&found.shown, "mode");
    assert_eq!((row.value.as_str(), row.at.as_str()), ("workspace +ask-writes", "--allow-shell"));
}

#[test]
fn an_untrusted_repository_tightens_every_mode_and_loosens_none() {
    for (strict, base) in Mode::ALL.into_iter().enumerate() {
        for (wanted, brought) in Mode::ALL.into_iter().enumerate() {
            let scene = world().user(&format!("mode: {base}")).project(&format!("mode: {brought}"));
            let found = scene.load();
            // The columns of the table happen to be a chain, which this test states on its own.
            let want = if wanted <= strict { brought } else { base };
            assert_eq!(found.stance, Stance::from(want), "{base} with {brought}");
            assert!(at_least_as_strict(&found.stance, &Stance::from(base)));
            assert_eq!(found.inactive.len(), usize::from(want != brought), "{base} with {brought}");
            assert_eq!(scene.trusted().load().stance, Stance::from(brought), "{base} with trusted {brought}");
        }
    }
}

#[test]
fn what_is_compared_is_cells_not_columns() {
    let asking = Stance { ask_writes: true, ..Stance::from(Mode::Workspace) };
    let edits = Stance::from(Mode::AcceptEdits);
    assert!(!at_least_as_strict(&asking, &edits) && !at_least_as_strict(&edits, &asking));
    assert!(at_least_as_strict(&asking, &Stance::from(Mode::Workspace)));
}

#[test]
fn an_untrusted_repository_may_not_take_safety_away() {
    let brings = "files: {fsync: off}\njournal: {fsync: off}\nundo: {max_bytes: 1MiB, max_days: 1}\nshell: {preview: off}\n\
                  output: {max_chars: 9000}\ntools: {list: all, dialect: claude}\ntrusted: true\n";
    let scene = world().user("journal: {fsync: each-call}").project(brings);
    let found = scene.load();
    assert_eq!((found.fsync, found.journal_each_call), (Fsync::Data, true));
    assert_eq!((found.undo_max_bytes, found.undo_max_days), (UNDO_MAX_BYTES, UNDO_MAX_DAYS));
    assert_eq!(found.max_output_chars, [("*".to_owned(), 9000)]);
    assert_eq!((found.list.as_deref(), found.dialect.as_deref()), (Some("all"), Some("claude")));
    let held: Vec<&str> = found.inactive.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(held, ["files.fsync", "journal.fsync", "undo.max_bytes", "undo.max_days", "shell.preview", "trusted"]);
    assert!(found.shell_preview);
    let found = scene.trusted().load();
    assert_eq!((found.fsync, found.journal_each_call, found.undo_max_days), (Fsync::Off, false, 1));
    assert!(!found.shell_preview);
    assert_eq!(found.inactive.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["trusted"]);
    let found = world().project("files: {fsync: full}\njournal: {fsync: each-call}").load();
    assert_eq!((found.fsync, found.journal_each_call), (Fsync::Full, true));
}

#[test]
fn an_untrusted_repository_only_tightens_what_an_answer_may_hold() {
    let brings = "output: {max_chars: 10000000, tools: {grep: 40000, glob: 5000, Bash: 20000}}";
    let bounds = |scene: &World| {
        let found = scene.load();
        let held: Vec<String> = found.inactive.iter().map(|row| row.key.clone()).collect();
        (found.max_output_chars, held)
    };
    let tight = [("glob".to_owned(), 5000), ("bash".to_owned(), 20_000)];
    let scene = world().project(brings);
    assert_eq!(bounds(&scene), (tight.to_vec(), vec!["output.max_chars".into(), "output.tools.grep".into()]));
    // A person's own bound is the one that counts, of all tools or of one.
    let own = world().user("output: {max_chars: 50000, tools: {glob: 2000}}").project(brings);
    let own_bounds = [("*", 50_000), ("glob", 2000), ("grep", 40_000), ("bash", 20_000)];
    let own_bounds: Vec<_> = own_bounds.iter().map(|(name, chars)| ((*name).to_owned(), *chars)).collect();
    assert_eq!(bounds(&own), (own_bounds, vec!["output.max_chars".into(), "output.tools.glob".into()]));
    let (all, held) = bounds(&scene.trusted());
    assert!(held.is_empty() && all.contains(&("*".to_owned(), 10_000_000)), "{all:?}");
}

#[test]
fn a_rule_on_the_command_line_names_a_tool_that_there_is() {
    let flags: [fn(&mut CommandLine) -> &mut Vec<String>; 3] =
        [|line| &mut line.deny, |line| &mut line.ask, |line| &mut line.allow];
    for (slip, like) in [("tool(gerp)", "is it grep"), ("tool(bogus)", "no tool is called 'bogus'")] {
        for flag in flags {
            let scene = world().line(|line| flag(line).push(slip.into()));
            let refused = load(&scene.sources()).expect_err("no tool has this name").to_string();
            assert!(refused.starts_with("NIKA-903 --") && refused.contains(like), "{refused}");
        }
    }
    // Those that are to come, those of servers, patterns and every dialect's are names.
    let known = ["tool(lsp)", "tool(WorkerCreate)", "tool(nika_grep)", "tool(Grep)", "tool(mcp__s__t)", "tool(web*)"];
    let scene = world().line(|line| line.deny.extend(known.map(str::to_owned)));
    assert!(load(&scene.sources()).is_ok());
}

#[test]
fn an_explicit_untrusted_wins_from_anywhere() {
    let places: [(Step, &str); 5] = [
        (|world| world.managed("trusted: false"), "etc/config.yaml:1"),
        (|world| world.user("trusted: false"), "~/.config/nika/config.yaml:1"),
        (|world| world.project("mode: accept-all\ntrusted: false"), ".nika/config.yaml:2"),
        (|world| world.local("trusted: false"), ".nika/config.local.yaml:1"),
        (|world| world.line(|line| line.set.push("trusted=false".into())), "--set trusted"),
    ];
    for (write, place) in places {
        let found = write(world().project("mode: accept-all")).trusted().load();
        assert_eq!(found.stance, Stance::from(Mode::Ask), "{place}");
        assert!(matches!(&found.trusted, Trust::Refused { at } if at.ends_with(place)), "{:?}", found.trusted);
    }
    let found = world().user("trusted: true").project("mode: accept-all").load();
    assert_eq!((found.stance, found.trusted), (Stance::from(Mode::Ask), Trust::Unasked));
}

#[test]
fn trust_lets_a_repositorys_rules_in_until_a_byte_changes() {
    let scene = world().project("permissions: {allow: [write(src/**)]}").trusted();
    let found = scene.load();
    assert_eq!(found.trusted, Trust::Trusted);
    assert!(found.policy.rules().iter().any(|rule| rule.kind == RuleKind::Allow));
    let scene = scene.project("permissions: {allow: [write(src/**) ]}");
    let found = scene.load();
    assert_eq!(found.trusted, Trust::Changed { files: vec![".nika/config.yaml".into()] });
    assert!(found.policy.rules().is_empty());
}

#[test]
fn what_is_shown_as_json() {
    let found = world().user("mode: read-only").project("permissions: {allow: [net(*)], deny: [exec(rm*)]}").load();
    let json = found.to_json();
    assert_eq!((&json["mode"], &json["trust"]["state"]), (&"read-only".into(), &"unasked".into()));
    assert_eq!(json["values"][0]["at"], "~/.config/nika/config.yaml:1");
    assert_eq!(json["inactive"][0]["value"], "net(*)");
}

#[test]
fn the_schema_names_every_key() {
    let schema = schema();
    for row in KEYS {
        let field = match row.name.split_once('.') {
            None => &schema["properties"][row.name],
            Some((section, name)) => &schema["properties"][section]["properties"][name],
        };
        assert!(field["description"].is_string(), "{}: {field}", row.name);
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["tools"]["properties"]["defer_above"]["default"], 8);
}

fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("linked");
}

const LOCAL_MODEL: &str = "agent: {provider: mine, model: small, max_turns: 9, max_depth: 1}\n\
    providers: {mine: {address: \"http://127.0.0.1:9/v1/\", context_tokens: 8000, prices: {input: 0.5, output: 2}}}\n";

#[test]
fn a_model_of_ones_own_is_configured() {
    let models = world().user(LOCAL_MODEL).load().models;
    let said = &models.configured;
    assert_eq!((said.provider.as_deref(), said.model.as_deref()), (Some("mine"), Some("small")));
    assert_eq!((models.max_turns, models.max_depth, models.max_agents), (Some(9), 1, 8));
    let mine = &said.providers["mine"];
    assert_eq!(mine.address.as_deref(), Some("http://127.0.0.1:9/v1/"));
    let prices = mine.prices.of("any").expect("prices");
    assert_eq!(
        (prices.input, prices.output, prices.cache_read),
        (0.5, 2.0, 0.5),
        "a cache costs what the input costs where nothing is said"
    );
}

#[test]
fn what_a_nearer_layer_says_of_a_provider_leaves_the_rest_as_it_is() {
    let user = "providers: {anthropic: {address: \"http://proxy:9/\", prices: {input: 3, output: 15}, effort: low}}\n";
    let now = world().user(user).line(|line| line.set.push("providers.anthropic.effort=high".into())).load();
    let row = &now.models.configured.providers["anthropic"];
    assert_eq!(row.address.as_deref(), Some("http://proxy:9/"), "requests go where they went");
    assert_eq!(row.prices.of("claude-sonnet-4-6").map(|prices| prices.output), Some(15.0));
    assert_eq!(row.effort, nika_agent::provider::Effort::named("high"));
    let shown = |key: &str| now.shown.iter().find(|row| row.key == key).map(|row| row.value.clone());
    assert_eq!(shown("providers.anthropic.address").as_deref(), Some("http://proxy:9/"));
    assert_eq!(shown("providers.anthropic.effort").as_deref(), Some("high"));
    assert_eq!(shown("providers.anthropic.prices").as_deref(), Some("{input: 3, output: 15}"));
}

#[test]
fn each_model_has_a_price_of_its_own_and_a_nearer_layer_leaves_the_others() {
    let user = "providers:\n  openai:\n    prices:\n      gpt-5: {input: 1.25, output: 10, cache_read: 0.125}\n      \
                gpt-5-*: {input: 2, output: 20}\n      \"*\": {input: 99, output: 99}\n";
    let nearer = "providers.openai.prices={gpt-5-*: {input: 3, output: 30}, input: {input: 7, output: 7}}";
    let now = world().user(user).line(|line| line.set.push(nearer.into())).load();
    let list = &now.models.configured.providers["openai"].prices;
    let of = |model: &str| list.of(model).map(|prices| (prices.input, prices.cache_read, prices.output));
    assert_eq!(of("gpt-5"), Some((1.25, 0.125, 10.0)));
    assert_eq!(of("gpt-5-mini"), Some((3.0, 3.0, 30.0)));
    assert_eq!(of("input"), Some((7.0, 7.0, 7.0)), "a model may be called so");
    assert_eq!(of("o9"), Some((99.0, 99.0, 99.0)));
    let shown = |key: &str| now.shown.iter().find(|row| row.key == key).map(|row| row.value.clone());
    assert_eq!(shown("providers.openai.prices.gpt-5-*").as_deref(), Some("{input: 3, output: 30}"));
}

#[test]
fn an_untrusted_repository_chooses_no_model_and_no_address() {
    let now = world().project(LOCAL_MODEL).load();
    assert_eq!((now.models.configured.provider, now.models.configured.providers.len()), (None, 0));
    assert!(
        row(&now.inactive, "providers.mine.address")
            .why
            .as_deref()
            .is_some_and(|why| why.contains("reads the conversation"))
    );
    // It may narrow: a bound below the one in force.
    assert_eq!(now.models.max_depth, 1);
    let wide = world().project("agent: {max_depth: 5}\n").load();
    assert_eq!(wide.models.max_depth, 2);
}

#[test]
fn a_provider_that_cannot_be_read_is_named_with_its_place() {
    for (text, wanted) in [
        ("providers: {mine: {adapter: smoke}}\n", "one of anthropic"),
        ("providers: {mine: {address: \"ftp://x/\"}}\n", "begins with http://"),
        ("providers: {mine: {address: \"http://x/\", keys: a}}\n", "unknown key `keys`"),
        ("providers: {mine: {address: \"http://x/\", prices: {input: 1}}}\n", "prices with input and output"),
        ("providers: {mine: {prices: {big: {input: 1}}}}\n", "prices with input and output"),
        ("providers: {mine: {prices: {input: 1, ouput: 1}}}\n", "did you mean output"),
        ("providers: {mine: {prices: {input: 1, output: -1}}}\n", "US dollars for a million tokens"),
        ("providers: {mine: {prices: {b*g: {input: 1, output: 1}}}}\n", "end with one `*`"),
        ("providers: {mine: {prices: dear}}\n", "by the names of models"),
        ("agent: {max_turns: 0}\n", "a whole number from 1 to 10000"),
        ("agent: {model: \"two words\"}\n", "a model's name"),
    ] {
        let refused = world().user(text).refused();
        assert!(refused.contains(wanted) && refused.contains("config.yaml:1:"), "{text}: {refused}");
    }
}
