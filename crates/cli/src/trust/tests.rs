//! Scenes of trust: what a repository brings, who it is, and who pretends to be it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;

/// One step of a scene.
type Step = fn(World) -> World;
type Touch = fn(&World);

struct World {
    dir: tempfile::TempDir,
}

/// A repository with a configuration.
fn world() -> World {
    let world = World { dir: tempfile::tempdir().expect("a directory for the test") };
    world.file("repo/.git/HEAD", "ref: refs/heads/main\n").file("repo/.nika/config.yaml", "mode: workspace\n")
}

impl World {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(self, name: &str, text: &str) -> World {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
        self
    }

    /// A linked worktree as `git worktree add` leaves it, with the same configuration.
    fn worktree(self, name: &str) -> World {
        let (repo, tree) = (self.path("repo"), self.path(name));
        self.file(&format!("repo/.git/worktrees/{name}/gitdir"), &format!("{}\n", tree.join(".git").display()))
            .file(&format!("repo/.git/worktrees/{name}/commondir"), "../..\n")
            .file(&format!("{name}/.git"), &format!("gitdir: {}/.git/worktrees/{name}\n", repo.display()))
            .file(&format!("{name}/.nika/config.yaml"), "mode: workspace\n")
    }

    fn store(&self) -> PathBuf {
        self.path("state/nika/trust.jsonl")
    }

    fn status(&self, place: &str) -> Trust {
        status(&self.path(place), &self.store(), &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn grant(self, place: &str) -> World {
        grant(&self.path(place), &self.store()).unwrap_or_else(|error| panic!("{error}"));
        self
    }
}

fn changed(files: &[&str]) -> Trust {
    Trust::Changed { files: files.iter().map(|name| (*name).to_owned()).collect() }
}

#[test]
fn asked_granted_taken_back() {
    let world = world();
    assert_eq!(world.status("repo"), Trust::Unasked);
    let world = world.grant("repo");
    assert_eq!(world.status("repo"), Trust::Trusted);
    assert_eq!(revoke(&world.path("repo"), &world.store()), Ok(true));
    assert_eq!(revoke(&world.path("repo"), &world.store()), Ok(false));
    assert_eq!(world.status("repo"), Trust::Unasked);
    assert_eq!(world.file("bare/src/main.rs", "").status("bare"), Trust::Nothing);
}

#[test]
fn any_change_asks_again() {
    let steps: [(Touch, &str); 6] = [
        (
            |world| fs::write(world.path("repo/.nika/config.yaml"), "mode: accept-all\n").expect("written"),
            ".nika/config.yaml",
        ),
        (
            |world| fs::write(world.path("repo/.nika/config.local.yaml"), "").expect("written"),
            ".nika/config.local.yaml",
        ),
        (|world| fs::write(world.path("repo/.mcp.json"), "{}").expect("written"), ".mcp.json"),
        (|world| fs::write(world.path("repo/.claw-hooks.json"), "{}").expect("written"), ".claw-hooks.json"),
        (
            |world| {
                fs::create_dir_all(world.path("repo/.nika/agents/deep")).expect("made");
                fs::write(world.path("repo/.nika/agents/deep/a.md"), "x").expect("written");
            },
            ".nika/agents/deep/a.md",
        ),
        (|world| fs::remove_file(world.path("repo/.nika/policy.yaml")).expect("removed"), ".nika/policy.yaml"),
    ];
    for (change, name) in steps {
        let world = world().file("repo/.nika/policy.yaml", "").grant("repo");
        change(&world);
        assert_eq!(world.status("repo"), changed(&[name]));
        assert_eq!(world.grant("repo").status("repo"), Trust::Trusted, "{name}");
    }
}

#[test]
fn the_code_of_a_repository_is_not_what_trust_is_about() {
    let world =
        world().grant("repo").file("repo/src/main.rs", "x").file("repo/README.md", "x").file("repo/AGENTS.md", "x");
    assert_eq!(world.status("repo"), Trust::Trusted);
}

#[test]
fn names_and_bytes_cannot_be_shifted_into_each_other() {
    let split = |files: &[(&str, &str)]| {
        let mut brought = Brought::default();
        files.iter().for_each(|(name, text)| brought.replace(name, text.as_bytes()));
        brought.digest()
    };
    assert_ne!(split(&[("a", "b"), ("c", "d")]), split(&[("ab", ""), ("c", "d")]));
    assert_ne!(split(&[("a", "bc")]), split(&[("a", "b"), ("c", "")]));
    assert_eq!(split(&[("a", "1"), ("b", "2")]), split(&[("b", "2"), ("a", "1")]));
}

#[test]
fn a_worktree_is_its_repository_while_it_brings_the_same() {
    let world = world().worktree("branch").grant("repo");
    assert_eq!(world.status("branch"), Trust::Trusted);
    let world = world.file("branch/.nika/config.yaml", "mode: accept-all\n");
    assert_eq!((world.status("branch"), world.status("repo")), (Trust::Unasked, Trust::Trusted));
    let world = world.grant("branch");
    assert_eq!((world.status("branch"), world.status("repo")), (Trust::Trusted, Trust::Trusted));
    revoke(&world.path("branch"), &world.store()).expect("taken back");
    assert_eq!((world.status("branch"), world.status("repo")), (Trust::Unasked, Trust::Unasked));
}

#[test]
fn a_worktree_with_relative_links_is_found_too() {
    let world = world()
        .worktree("branch")
        .file("branch/.git", "gitdir: ../repo/.git/worktrees/branch\n")
        .file("repo/.git/worktrees/branch/gitdir", "../../../../branch/.git\n")
        .grant("repo");
    assert_eq!(world.status("branch"), Trust::Trusted);
}

/// A directory with the same configuration bytes and other code, pretending to be the trusted repository.
#[test]
fn a_pretender_inherits_nothing() {
    let pretenders: &[(&str, Step)] = &[
        ("names the repository itself", |world| {
            let git = world.path("repo/.git").display().to_string();
            world.file("evil/.git", &format!("gitdir: {git}\n"))
        }),
        ("names another's worktree entry", |world| {
            let entry = world.path("repo/.git/worktrees/branch").display().to_string();
            world.file("evil/.git", &format!("gitdir: {entry}\n"))
        }),
        ("brings its own entry that names the repository", |world| {
            let (git, back) = (world.path("repo/.git"), world.path("evil/.git"));
            world
                .file("evil/g/commondir", &format!("{}\n", git.display()))
                .file("evil/g/gitdir", &format!("{}\n", back.display()))
                .file("evil/.git", "gitdir: g\n")
        }),
        ("brings an entry below a directory of the right name", |world| {
            let (git, back) = (world.path("repo/.git"), world.path("evil/.git"));
            world
                .file("evil/worktrees/x/commondir", &format!("{}\n", git.display()))
                .file("evil/worktrees/x/gitdir", &format!("{}\n", back.display()))
                .file("evil/.git", "gitdir: worktrees/x\n")
        }),
        ("has a `.git` directory with a commondir", |world| {
            let git = world.path("repo/.git").display().to_string();
            world.file("evil/.git/commondir", &format!("{git}\n")).file("evil/.git/HEAD", "ref: refs/heads/main\n")
        }),
        ("links its `.git` to the repository's", |world| {
            fs::create_dir_all(world.path("evil")).expect("made");
            symlink(world.path("repo/.git"), world.path("evil/.git")).expect("linked");
            world
        }),
        ("links its `.git` to a worktree's file", |world| {
            fs::create_dir_all(world.path("evil")).expect("made");
            symlink(world.path("branch/.git"), world.path("evil/.git")).expect("linked");
            world
        }),
        ("has no repository", |world| world),
    ];
    for (what, pretend) in pretenders {
        let world = world().worktree("branch").grant("repo");
        assert_eq!(world.status("branch"), Trust::Trusted);
        let world = pretend(world).file("evil/.nika/config.yaml", "mode: workspace\n");
        assert_eq!(world.status("evil"), Trust::Unasked, "{what}");
        // By its own directory it can be trusted all the same.
        assert_eq!(world.grant("evil").status("evil"), Trust::Trusted, "{what}");
    }
}

#[test]
fn a_nested_repository_is_another_one() {
    let world = world()
        .file("repo/vendor/dep/.git/HEAD", "x")
        .file("repo/vendor/dep/.nika/config.yaml", "mode: workspace\n")
        .file("repo/pkg/.nika/config.yaml", "mode: workspace\n")
        .grant("repo");
    assert_eq!(world.status("repo/vendor/dep"), Trust::Unasked);
    // A directory of the same repository, opened as a root of its own, brings files of its own.
    assert_eq!(world.status("repo/pkg"), Trust::Unasked);
    let world = world.grant("repo/vendor/dep").grant("repo/pkg");
    assert_eq!(world.status("repo/pkg"), Trust::Trusted);
    assert_eq!(world.status("repo"), Trust::Trusted);
}

#[test]
fn a_repository_made_anew_around_the_files_is_another_one() {
    let world = world().file("plain/.nika/config.yaml", "mode: workspace\n").grant("plain");
    assert_eq!(world.status("plain"), Trust::Trusted);
    assert_eq!(world.file("plain/.git/HEAD", "x").status("plain"), Trust::Unasked);
}

#[test]
fn what_cannot_be_bound_cannot_be_trusted() {
    let cases: [(Touch, &str); 4] = [
        (
            |world| {
                fs::create_dir_all(world.path("skills")).expect("made");
                symlink(world.path("skills"), world.path("repo/.nika/skills")).expect("linked");
            },
            "leads to no regular file",
        ),
        (|world| symlink("nowhere", world.path("repo/.nika/x")).expect("linked"), "cannot be read"),
        (
            |world| {
                let mode = rustix::fs::Mode::RUSR;
                let fifo = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, world.path("repo/.nika/f"), fifo, mode, 0).expect("a FIFO");
            },
            "leads to no regular file",
        ),
        (
            |world| {
                fs::rename(world.path("repo/.nika"), world.path("repo/real")).expect("moved");
                symlink("real", world.path("repo/.nika")).expect("linked");
            },
            ".nika is a link",
        ),
    ];
    for (make, word) in cases {
        let world = world().grant("repo");
        make(&world);
        assert!(matches!(world.status("repo"), Trust::Changed { .. }), "{word}");
        let error = grant(&world.path("repo"), &world.store()).expect_err("cannot be bound");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_link_to_a_file_is_bound_by_its_target_and_its_bytes() {
    let world = world().file("shared/a.md", "one");
    symlink("../../shared/a.md", world.path("repo/.nika/a.md")).expect("linked");
    let world = world.grant("repo");
    assert_eq!(world.status("repo"), Trust::Trusted);
    let world = world.file("shared/a.md", "two");
    assert_eq!(world.status("repo"), changed(&[".nika/a.md"]));
}

/// What was read for use is what trust must hold for, whatever lies in the file a moment later.
#[test]
fn bytes_already_read_are_the_ones_judged() {
    let world = world().grant("repo");
    let said: [(&str, &[u8]); 1] = [(".nika/config.yaml", b"mode: accept-all\n")];
    let found = status(&world.path("repo"), &world.store(), &said).expect("read");
    assert_eq!(found, changed(&[".nika/config.yaml"]));
}

#[test]
fn the_store_is_private_and_never_half_believed() {
    let world = world().grant("repo");
    let store = world.store();
    assert_eq!(fs::metadata(&store).expect("there").mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(store.parent().expect("a parent")).expect("there").mode() & 0o777, 0o700);
    let good = fs::read_to_string(&store).expect("read");
    let refused = |world: &World| status(&world.path("repo"), &world.store(), &[]).expect_err("refused").to_string();

    for bad in ["{", "{}", "[]", "{\"trusted\": true}"] {
        fs::write(&store, format!("{good}{bad}\n")).expect("written");
        let said = refused(&world);
        assert!(said.contains("trust.jsonl:2:") && said.contains("no trust record"), "{bad}: {said}");
    }
    fs::write(&store, &good).expect("written");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o666)).expect("opened to all");
    assert!(refused(&world).contains("written by others"));
    fs::remove_file(&store).expect("removed");
    symlink(world.path("elsewhere"), &store).expect("linked");
    assert!(refused(&world).contains("is a link"));
}

#[test]
fn grants_at_once_are_all_kept() {
    let world = (0..8).fold(world(), |world, n| world.file(&format!("r{n}/.nika/config.yaml"), "mode: ask\n"));
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (place, store) = (world.path(&format!("r{n}")), world.store());
            scope.spawn(move || grant(&place, &store).expect("granted"));
        }
    });
    for n in 0..8 {
        assert_eq!(world.status(&format!("r{n}")), Trust::Trusted, "{n}");
    }
}
