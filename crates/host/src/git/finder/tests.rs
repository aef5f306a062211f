//! What is found is what git finds, and never less.

use std::process::Command;

use super::*;
use tempfile::TempDir;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

struct Scene(TempDir);

impl Scene {
    fn new() -> Scene {
        let scene = Scene(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir_all(scene.home()).expect("made");
        fs::create_dir_all(scene.root()).expect("made");
        scene.git("", &["init", "-q", "-b", "main"]);
        scene.write("repo/a.txt", "one\n");
        scene.git("", &["add", "."]);
        scene.git("", &["commit", "-q", "-m", "begin"]);
        scene
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("repo")
    }

    fn env(&self) -> Vec<(String, String)> {
        let home = self.home().display().to_string();
        [("PATH", PATH), ("HOME", &home), ("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.org")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .chain(
                [("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.org")]
                    .map(|(n, v)| (n.into(), v.into())),
            )
            .collect()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn add(&self, path: &str, text: &str) {
        let old = fs::read_to_string(self.0.path().join(path)).unwrap_or_default();
        self.write(path, &(old + text));
    }

    /// Git in a directory of the repo tree.
    fn git(&self, below: &str, words: &[&str]) -> String {
        let out = Command::new("git")
            .args(["-c", "protocol.file.allow=always"])
            .args(words)
            .current_dir(self.root().join(below))
            .env_clear()
            .envs(self.env())
            .output()
            .expect("git runs");
        assert!(out.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    }

    fn at(&self, below: &str) -> Repository {
        let root = self.root().canonicalize().expect("it is there");
        (*Finder::new(&self.env(), vec![root]).at(&self.root().join(below))).clone()
    }

    fn has(&self, below: &str, key: &str) -> Option<bool> {
        let found = self.at(below);
        assert_eq!(found.unknown, None);
        found.settings.iter().find(|setting| setting.key == key).map(|setting| setting.own)
    }
}

#[test]
fn every_setting_that_git_lists_is_found_as_git_lists_it() {
    let scene = Scene::new();
    scene.write(
        "home/.gitconfig",
        "[user]\n\tname = A \"b # c\" d ; e\n[includeIf \"gitdir:**/repo/\"]\n\tpath = .more\n[alias]\n st = status\n",
    );
    scene.write("home/.more", "[Filter \"Big.File\"]\n\tClean = run \\\n  me\\t\n");
    scene.write("home/.config/git/config", "[core]\n\tabbrev=12\n");
    scene.write("repo/.git/extra", "[diff \"a\\\"b\"] textconv = x\n\tcommand\n");
    scene.git("", &["config", "--add", "include.path", "extra"]);
    scene.git("", &["config", "diff.x.textconv", "a  b#c"]);
    let listed = scene.git("", &["config", "--list", "-z", "--includes"]);
    let found = scene.at("");
    assert_eq!(found.unknown, None);
    let mut seen = 0;
    for entry in listed.split('\0').filter(|entry| !entry.is_empty()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        if key.starts_with("include") || key == "protocol.file.allow" {
            continue;
        }
        let same = |setting: &&Setting| setting.key == key && setting.value == value;
        assert!(found.settings.iter().any(|setting| same(&setting)), "{key}={value}: {:?}", found.settings);
        seen += 1;
    }
    assert!(seen > 8, "{listed}");
    assert_eq!(scene.has("", "filter.Big.File.clean"), Some(true), "what the person includes is theirs");
    assert_eq!(scene.has("", "diff.a\"b.textconv"), Some(false));
}

#[test]
fn the_top_of_a_work_tree_is_the_one_that_git_says() {
    let scene = Scene::new();
    let root = scene.root().canonicalize().expect("it is there");
    let top = |below: &str| Finder::new(&scene.env(), vec![root.clone()]).top(&root.join(below));
    scene.write("repo/a/b/x", "x\n");
    scene.git("", &["config", "remote.origin.url", "https://x.example/x"]);
    for below in ["", "a", "a/b"] {
        let says = scene.git(below, &["rev-parse", "--show-toplevel"]);
        assert_eq!(top(below), Some(PathBuf::from(says.trim_end())), "{below}");
    }
    assert_eq!(top(".git"), None, "inside of the repository there is no work tree");
    assert_eq!(top("none"), None);
    let mut told = scene.env();
    told.push(("GIT_WORK_TREE".to_owned(), "/".to_owned()));
    assert_eq!(Finder::new(&told, vec![root.clone()]).top(&root), None);
    scene.write("repo/a/.git", "gitdir: /elsewhere\n");
    assert_eq!(top("a/b"), None, "it may be another's work tree");
    let config = fs::read_to_string(root.join(".git/config")).expect("it is there");
    for more in [
        "[core]\n\tworktree = /\n",
        "[core]\n\tbare = true\n",
        "[core]\n\tabbrev = x\n",
        "[core]\n\trepositoryformatversion = 99\n",
        "[include]\n\tpath = /x\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[user]\n\tname\n",
        "[branch]\n\tautosetuprebase = x\n",
        "[core\n",
    ] {
        scene.write("repo/.git/config", &format!("{config}{more}"));
        assert_eq!(top(""), None, "{more}");
    }
    scene.write("repo/.git/config", &config);
    assert_eq!(top(""), Some(root.clone()));
    scene.write("repo/.git/HEAD", "x\n");
    assert_eq!(top(""), None, "git takes it for no repository, and looks above");
}

#[test]
fn a_file_of_the_workspace_that_the_person_includes_is_not_theirs() {
    let scene = Scene::new();
    scene.write("repo/shared.gitconfig", "[diff \"x\"]\n\ttextconv = ./x\n");
    scene.write("home/.gitconfig", "[include]\n\tpath = ~/../repo/shared.gitconfig\n");
    assert_eq!(scene.has("", "diff.x.textconv"), Some(false));
}

#[test]
fn what_python_would_load_from_a_directory_is_seen() {
    let scene = Scene::new();
    let finder = Finder::new(&[], vec![scene.root()]);
    let has = |name| finder.has_python_module(&scene.root(), &[name]);
    scene.write("repo/json/data.txt", "x\n");
    scene.write("repo/types.ts", "x\n");
    assert!(!has("json") && !has("types") && !has("argparse"), "a plain directory yields to what is installed");
    scene.write("repo/json/__init__.py", "");
    scene.write("repo/argparse.py", "");
    scene.write("repo/zlib.cpython-311-x86_64-linux-gnu.so", "");
    assert!(has("json") && has("argparse") && has("zlib") && !has("types"));
    assert!(!finder.has_python_module(&scene.root().join("none"), &["json"]));
}

#[test]
fn files_that_a_version_obeys_are_seen_here_and_above() {
    let scene = Scene::new();
    let finder = Finder::new(&[], vec![scene.root()]);
    let has = |below: &str, name| finder.has_file(&scene.root().join(below), &[name], "");
    let says = |name, text| finder.has_file(&scene.root(), &[name], text);
    scene.write("repo/rust-toolchain.toml", "[toolchain]\nchannel = \"1.95\"\n");
    assert!(says("rust-toolchain.toml", "channel") && !says("rust-toolchain.toml", "path"));
    scene.write("repo/global.json", "{\"sdk\": {\"p\\u0061ths\": [\"x\"]}}\n");
    assert!(says("global.json", "paths") && !says("global.json", "roll"));
    scene.write("repo/tools/bazel", "x\n");
    scene.write("repo/app/src/a.rs", "x\n");
    scene.write(".mvn/jvm.config", "x\n");
    assert!(has("", "tools/bazel") && has("app/src", "tools/bazel") && !has("app", "project.clj"));
    assert!(!has("", ".mvn"), "what lies above the workspace is no file of it");
}

#[test]
fn the_repository_above_and_the_one_that_a_file_names_are_found() {
    let scene = Scene::new();
    scene.git("", &["config", "filter.x.clean", "x"]);
    fs::create_dir_all(scene.root().join("deep/er")).expect("made");
    assert_eq!(scene.has("deep/er", "filter.x.clean"), Some(false));
    assert_eq!(scene.has("deep/er/not/there", "filter.x.clean"), Some(false));
    scene.git("", &["worktree", "add", "-q", "../beside"]);
    assert_eq!(scene.has("../beside", "filter.x.clean"), Some(false), "by its `.git` file and its `commondir`");
    scene.git("", &["config", "extensions.worktreeConfig", "true"]);
    scene.git("../beside", &["config", "--worktree", "diff.y.command", "y"]);
    assert_eq!(scene.has("../beside", "diff.y.command"), Some(false));
    assert_eq!(scene.has("", "diff.y.command"), None);
    scene.git("", &["init", "-q", "--bare", "bare"]);
    scene.git("bare", &["config", "filter.z.clean", "z"]);
    assert_eq!(scene.has("bare", "filter.z.clean"), Some(false), "without a repo tree");
    assert_eq!(scene.has("", "filter.z.clean"), None);
}

#[test]
fn repositories_that_git_looks_into_by_itself_are_found() {
    for version in ["2", "4"] {
        let scene = Scene::new();
        let below = "long/".repeat(30);
        scene.git("", &["config", "index.version", version]);
        scene.write(&format!("repo/{below}b.txt"), "b");
        scene.git("", &["init", "-q", "-b", "main", "inner"]);
        scene.write("repo/inner/c.txt", "c");
        scene.git("inner", &["add", "."]);
        scene.git("inner", &["commit", "-q", "-m", "inner"]);
        scene.git("inner", &["config", "filter.x.clean", "./x"]);
        scene.write("repo/zzz", "z");
        assert_eq!(scene.has("", "filter.x.clean"), None, "nothing leads there");
        scene.git("", &["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
        assert!(scene.git("", &["ls-files", "-s"]).contains("160000"));
        assert_eq!(scene.has("", "filter.x.clean"), Some(false), "version {version}");
        scene.git("", &["update-index", "--split-index"]);
        assert_eq!(scene.has("", "filter.x.clean"), Some(false), "split");
        scene.git("", &["-c", "submodule.active=.", "submodule", "-q", "add", "./inner", "named/by/me"]);
        scene.git("named/by/me", &["config", "diff.m.textconv", "./m"]);
        scene.git("", &["rm", "-rqf", "--cached", "named/by/me"]);
        assert_eq!(scene.has("", "diff.m.textconv"), Some(false), "kept in the repository");
    }
}

#[test]
fn an_index_with_long_names_of_objects_is_read() {
    let scene = Scene::new();
    scene.git("", &["init", "-q", "-b", "main", "--object-format=sha256", "long"]);
    scene.git("long", &["init", "-q", "-b", "main", "--object-format=sha256", "in"]);
    scene.git("long/in", &["commit", "-q", "--allow-empty", "-m", "in"]);
    scene.git("long/in", &["config", "filter.x.clean", "./x"]);
    scene.git("long", &["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    assert_eq!(scene.has("long", "filter.x.clean"), Some(false));
}

#[test]
fn what_cannot_be_read_is_unknown() {
    type Spoil = fn(&Scene);
    let cases: &[(&str, Spoil)] = &[
        ("line 1", |scene| scene.write("repo/.git/config", "nonsense\n")),
        ("index", |scene| scene.write("repo/.git/index", "DIRC\0\0\0\u{9}\0\0\0\0")),
        ("index", |scene| scene.write("repo/.git/index", "short")),
        ("includes", |scene| scene.add("repo/.git/config", "[include]\npath = ~somebody/x\n")),
        ("deep", |scene| scene.add("repo/.git/config", "[include]\npath = config\n")),
        ("no file", |scene| {
            fs::remove_file(scene.root().join(".git/config")).expect("removed");
            let made = Command::new("mkfifo").arg(scene.root().join(".git/config")).status().expect("mkfifo runs");
            assert!(made.success());
        }),
        ("longer", |scene| scene.write("repo/.git/config", &"# long\n".repeat(200_000))),
        ("no directory", |scene| {
            fs::remove_dir_all(scene.root().join(".git")).expect("removed");
            scene.write("repo/.git", "gitdir: \n");
        }),
    ];
    for (wanted, spoil) in cases {
        let scene = Scene::new();
        spoil(&scene);
        let why = scene.at("").unknown.unwrap_or_default();
        assert!(why.contains(wanted), "{wanted}: {why:?}");
    }
    let scene = Scene::new();
    scene.write("home/.gitconfig", "nonsense\n");
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("line 1")), "git itself would refuse to run");
}

/// Read one by one, these would be 100 to the power of 10 files.
#[test]
fn files_that_include_each_other_many_times_are_unknown_at_once() {
    let scene = Scene::new();
    scene.add("repo/.git/config", &"[include]\npath = config\n".repeat(100));
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("deep")));
    let scene = Scene::new();
    let beside: String = (0..100).map(|n| format!("[include]\npath = not-there-{n}\n")).collect();
    scene.add("repo/.git/config", &beside);
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("more than 64 files")));
    let scene = Scene::new();
    scene.add("repo/.git/config", &"[include]\npath = more\n".repeat(64));
    scene.write("repo/.git/more", "[filter \"x\"]\nclean = ./x\n");
    assert_eq!(scene.has("", "filter.x.clean"), Some(false), "as many as are read");
}

/// An empty index that names a shared one.
fn split_index(shared: u8) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\x14".to_vec();
    bytes.extend([shared; 20]);
    bytes.extend([0; 20]);
    bytes
}

#[test]
fn shared_indexes_that_name_each_other_are_unknown() {
    let scene = Scene::new();
    let git = scene.root().join(".git");
    let shared = |byte: u8| git.join(format!("sharedindex.{}", format!("{byte:02x}").repeat(20)));
    for (file, names) in [(git.join("index"), 0xAA), (shared(0xAA), 0xBB), (shared(0xBB), 0xAA)] {
        fs::write(file, split_index(names)).expect("written");
    }
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("names another one")));
    fs::write(shared(0xAA), split_index(0xAA)).expect("written");
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("names another one")), "itself");
}

/// Text that is not UTF-8 reads as another name, under which nothing would be found.
#[test]
fn a_path_that_is_not_text_is_unknown() {
    for (setting, key) in [
        (&b"[include]\npath = x\xff\n"[..], "include.path"),
        (b"[includeIf \"gitdir:**\"]\npath = x\xff\n", "includeif.gitdir:**.path"),
        (b"[core]\nworktree = ../x\xff\n", "core.worktree"),
        (b"[core]\nhooksPath = x\xff\n", "core.hookspath"),
        // Git's text ends there.
        (b"[core]\nhooksPath = x\0y\n", "core.hookspath"),
    ] {
        let scene = Scene::new();
        let config = scene.root().join(".git/config");
        let mut bytes = fs::read(&config).expect("read");
        bytes.extend_from_slice(setting);
        fs::write(&config, bytes).expect("written");
        let why = scene.at("").unknown.unwrap_or_default();
        assert!(why.contains(key) && why.contains("UTF-8"), "{key}: {why:?}");
    }
    let scene = Scene::new();
    let config = scene.root().join(".git/config");
    fs::write(&config, b"[core]\n[user]\nname = J\xf6rg\n").expect("written");
    assert_eq!(scene.has("", "user.name"), Some(false), "a name may be of any encoding");
}

#[test]
fn a_hook_that_reading_may_run_is_found() {
    let scene = Scene::new();
    assert_eq!(scene.has("", "hook.post-index-change"), None);
    scene.write("repo/.git/hooks/post-index-change", "");
    assert_eq!(scene.has("", "hook.post-index-change"), Some(false));
}

#[test]
fn an_index_that_was_cut_or_changed_is_odd_or_read_and_nothing_worse() {
    let scene = Scene::new();
    let whole = fs::read(scene.root().join(".git/index")).expect("read");
    assert_eq!(index::links(&whole, false), Some(index::Links::default()));
    for length in 0..whole.len() {
        let _ = index::links(&whole[..length], false);
    }
    assert_eq!(index::links(&whole[..40], false), None);
    for at in 0..whole.len() {
        for byte in [0, 1, 0x40, 0x7F, 0x80, 0xFF] {
            let mut changed = whole.clone();
            changed[at] = byte;
            let _ = (index::links(&changed, false), index::links(&changed, true));
        }
    }
}

/// Git does not read a file whose condition is false: what it sets last there is not what git takes.
#[test]
fn a_place_that_a_condition_would_hide_is_looked_at() {
    let scene = Scene::new();
    scene.git("", &["config", "core.hooksPath", "mine"]);
    scene.write("repo/mine/post-index-change", "");
    scene.add("repo/.git/config", "[includeIf \"gitdir:/not-here/\"]\npath = decoy\n");
    scene.write("repo/.git/decoy", "[core]\nhooksPath = nowhere\n");
    assert_eq!(scene.has("", "hook.post-index-change"), Some(false));
    scene.write("repo/.git/decoy", "[extensions]\nobjectFormat = sha256\n[extensions]\nobjectFormat = sha1\n");
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("two formats")));
}

/// A repository in the workspace that has git read `place`, a directory or file beside the workspace.
fn leads_to(scene: &Scene, place: &str, below: &str) {
    let place = scene.0.path().join(place).canonicalize().expect("it is there");
    assert_eq!(scene.at(below).elsewhere, [place], "{below}");
}

#[test]
fn what_a_repository_has_git_read_elsewhere_is_found() {
    let scene = Scene::new();
    scene.write("other/secret.txt", "theirs\n");
    let other = scene.0.path().join("other");
    let git_in = |dir: &Path, words: &[&str]| {
        let done = Command::new("git").args(words).current_dir(dir).env_clear().envs(scene.env()).output();
        assert!(done.expect("git runs").status.success(), "git {words:?}");
    };
    git_in(&other, &["init", "-q"]);
    assert_eq!(scene.at("").elsewhere, [] as [PathBuf; 0]);
    // A repository that was unpacked into the tree, its files those of others.
    let bare = |name: &str| {
        for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
            scene.write(&format!("repo/{name}/{file}"), text);
        }
    };
    bare("tree");
    scene.write("repo/tree/config", &format!("[core]\nworktree = {}\n", other.display()));
    leads_to(&scene, "other", "tree");
    bare("shared");
    scene.write("repo/shared/commondir", &format!("{}/.git\n", other.display()));
    leads_to(&scene, "other/.git", "shared");
    scene.write("repo/named/.git", &format!("gitdir: {}/.git\n", other.display()));
    leads_to(&scene, "other/.git", "named");
    for key in [
        "format.signatureFile",
        "blame.ignoreRevsFile",
        "fsck.skipList",
        "mailmap.file",
        "core.excludesFile",
        "diff.orderFile",
    ] {
        scene.git("", &["config", key, "../other/secret.txt"]);
        leads_to(&scene, "other/secret.txt", "");
        scene.git("", &["config", "--unset", key]);
    }
    scene.write("other/more", "[user]\nname = me\n");
    scene.git("", &["config", "include.path", "../../other/more"]);
    leads_to(&scene, "other/more", "");
    scene.git("", &["config", "include.path", ":(optional)../../other/more"]);
    leads_to(&scene, "other/more", "");
}

#[test]
fn a_file_that_may_be_missing_is_included_where_it_is_there() {
    for name in ["more", ":(optional)more"] {
        let scene = Scene::new();
        scene.write(&format!("repo/.git/{name}"), "[diff \"x\"]\ntextconv = ./evil\n");
        scene.add("repo/.git/config", "[include]\npath = :(optional)more\n");
        assert_eq!(scene.has("", "diff.x.textconv"), Some(false), "{name}");
    }
    let scene = Scene::new();
    scene.add("repo/.git/config", "[include]\npath = :(optional)more\n");
    assert_eq!(scene.at("").unknown, None);
    scene.add("repo/.git/config", "[include]\npath = :(optional)~root/more\n");
    assert!(scene.at("").unknown.is_some_and(|why| why.contains("includes `:(optional)~root/more`")));
}

#[test]
fn links_in_a_repository_lead_where_they_lead() {
    for (name, is_dir) in [
        ("config", false),
        ("commondir", false),
        ("info/exclude", false),
        ("objects/info/alternates", false),
        ("objects/pack", true),
        ("objects/ab", true),
        ("refs/remotes", true),
        ("worktrees/x", true),
        ("worktrees", true),
    ] {
        let scene = Scene::new();
        let there = scene.0.path().join("other");
        match is_dir {
            true => fs::create_dir_all(&there).expect("made"),
            false => scene.write("other", if name == "commondir" { ".\n" } else { "" }),
        }
        let link = scene.root().join(".git").join(name);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        let _ = fs::remove_dir_all(&link).or_else(|_| fs::remove_file(&link));
        std::os::unix::fs::symlink(&there, &link).expect("linked");
        leads_to(&scene, "other", "");
        // Where it leads inside, it leads nowhere else.
        fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink(scene.root().join("a.txt"), &link).expect("linked");
        assert_eq!(scene.at("").elsewhere, [] as [PathBuf; 0], "{name}");
    }
    let scene = Scene::new();
    scene.write("other/pre-commit", "");
    let hooks = scene.root().join(".git/hooks");
    fs::remove_dir_all(&hooks).expect("removed");
    std::os::unix::fs::symlink(scene.0.path().join("other"), hooks).expect("linked");
    assert_eq!(scene.at("").elsewhere, [] as [PathBuf; 0], "hooks are not read by who looks");
}

#[test]
fn a_link_to_what_git_keeps_of_its_work_leads_where_it_leads() {
    for name in [
        "rebase-merge/done",
        "rebase-merge/git-rebase-todo",
        "rebase-merge/head-name",
        "rebase-apply/0001",
        "worktrees/x/locked",
        "worktrees/x/gitdir",
        "branches/zz",
        "remotes/deep/zz",
        "refs/heads/deep/er/zz",
        "logs/refs/heads/zz",
        "rr-cache/x/preimage",
        "sequencer/todo",
        "modules/deep/sub/objects",
        // A ref may have any name: `git rev-parse foo`.
        "foo",
        "FOO",
        "own/deep/foo",
        "MERGE_MSG",
        "BISECT_LOG",
        "FETCH_HEAD",
        "packed-refs",
        "shallow",
    ] {
        let scene = Scene::new();
        scene.write("other", "theirs\n");
        let link = scene.root().join(".git").join(name);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        let _ = fs::remove_file(&link);
        if name.starts_with("modules") {
            scene.write("repo/.git/modules/deep/sub/HEAD", "ref: refs/heads/main\n");
        }
        std::os::unix::fs::symlink(scene.0.path().join("other"), &link).expect("linked");
        leads_to(&scene, "other", "");
    }
    // On the way there may be one that stays in the workspace.
    for (name, below) in [
        ("rebase-merge", "done"),
        ("worktrees", "x/locked"),
        ("branches", "zz"),
        ("worktrees", "ab/locked"),
        ("refs", "x"),
    ] {
        let scene = Scene::new();
        scene.write("other", "theirs\n");
        let link = scene.root().join("planted").join(below);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        std::os::unix::fs::symlink(scene.0.path().join("other"), &link).expect("linked");
        let _ = fs::remove_dir_all(scene.root().join(".git").join(name));
        for name in ["objects/info", name] {
            let _ = fs::remove_dir_all(scene.root().join(".git").join(name));
            std::os::unix::fs::symlink(scene.root().join("planted"), scene.root().join(".git").join(name))
                .expect("linked");
        }
        leads_to(&scene, "other", "");
    }
}

#[test]
fn links_in_circles_lead_nowhere_else() {
    let scene = Scene::new();
    for name in ["refs/a", "refs/b", "refs/c", "own"] {
        std::os::unix::fs::symlink(scene.root().join(".git"), scene.root().join(".git").join(name)).expect("linked");
    }
    let found = scene.at("");
    assert_eq!((found.elsewhere, found.unknown), (Vec::new(), None));
    std::os::unix::fs::symlink(scene.0.path(), scene.root().join(".git/refs/d")).expect("linked");
    assert_eq!(scene.at("").elsewhere, [scene.0.path().canonicalize().expect("there")]);
}

#[test]
fn what_others_keep_in_a_repository_git_does_not_read() {
    let scene = Scene::new();
    scene.write("other/x", "theirs\n");
    // A loose object is known by what it holds, and not looked for among thousands.
    for name in [
        "objects/ab/cd",
        "tags",
        "TAGS",
        "cscope.out",
        "gc.pid",
        "svn/refs",
        "hooks/pre-commit",
        "lfs/objects",
        "annex/objects",
    ] {
        let link = scene.root().join(".git").join(name);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(scene.0.path().join("other/x"), &link).expect("linked");
        assert_eq!(scene.at("").elsewhere, [] as [PathBuf; 0], "{name}");
    }
}

#[test]
fn a_setting_that_leads_to_a_place_that_is_not_known_is_unknown() {
    for (key, value) in [
        ("format.signatureFile", "~root/.gitconfig"),
        ("format.signatureFile", "%(prefix)/../../etc/hostname"),
        ("format.signatureFile", ":(optional)~root/.gitconfig"),
        ("blame.ignoreRevsFile", "~root/x"),
        ("mailmap.file", "%(prefix)/x"),
        ("diff.orderFile", "~x"),
        ("core.hooksPath", "~root/x"),
        ("core.hooksPath", "%(prefix)/x"),
    ] {
        let scene = Scene::new();
        scene.git("", &["config", key, value]);
        let why = scene.at("").unknown.unwrap_or_default();
        assert!(why.contains(&key.to_lowercase()) && why.contains(value), "{key} {value}: {why}");
    }
    // Only who verifies signatures goes there.
    for key in ["gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile"] {
        for value in ["~root/x", "%(prefix)/x", ":(optional)~root/x"] {
            let scene = Scene::new();
            scene.git("", &["config", key, value]);
            let Repository { unknown, unknown_signers, .. } = scene.at("");
            let why = unknown_signers.unwrap_or_default();
            assert!(why.contains(&key.to_lowercase()) && why.contains(value), "{key} {value}: {why}");
            assert_eq!(unknown, None, "{key} {value}");
        }
    }
    // Git takes the work tree as it is written.
    let scene = Scene::new();
    scene.git("", &["config", "core.worktree", "~root/x"]);
    assert_eq!(scene.at("").unknown, None);
}

#[test]
fn a_relative_file_is_looked_for_wherever_git_may_stand() {
    for key in ["format.signatureFile", "blame.ignoreRevsFile", "diff.orderFile", "mailmap.file", "core.excludesFile"] {
        // (the work tree that is set, what is set, where the command begins)
        for (worktree, file, below) in [
            (Some("../.."), "../beside", "r"),
            (Some("../../deep/er"), "../../../beside", "r"),
            (None, "../../../../beside", "r/.git/hooks"),
            (None, "../../../beside", "r/.git"),
            (None, ":(optional)../../beside", "r"),
        ] {
            let scene = Scene::new();
            scene.write("beside", "theirs\n");
            scene.git("", &["init", "-q", "r"]);
            fs::create_dir_all(scene.root().join("deep/er")).expect("made");
            fs::create_dir_all(scene.root().join("r/.git/hooks")).expect("made");
            scene.git("r", &["config", key, file]);
            if let Some(worktree) = worktree {
                scene.git("r", &["config", "core.worktree", worktree]);
            }
            leads_to(&scene, "beside", below);
        }
    }
    // A name that begins with what newer gits cut off is a directory to the others.
    let scene = Scene::new();
    scene.write("other/x", "theirs\n");
    std::os::unix::fs::symlink("../other", scene.root().join(":(optional)x")).expect("linked");
    scene.git("", &["config", "mailmap.file", ":(optional)x/x"]);
    leads_to(&scene, "other/x", "");
}

#[test]
fn a_file_that_no_reading_command_reads_is_no_question() {
    let scene = Scene::new();
    scene.write("home/x", "mine\n");
    for key in [
        "commit.template",
        "init.templateDir",
        "sendemail.aliasesFile",
        "sendemail.me.aliasesFile",
        "http.cookieFile",
        "http.https://a.example/.cookieFile",
        "fetch.fsck.skipList",
        "receive.fsck.skipList",
    ] {
        scene.git("", &["config", key, "~/x"]);
        let found = scene.at("");
        assert_eq!((&*found.elsewhere, &*found.signers, found.unknown), (&[] as &[PathBuf], &[] as &[PathBuf], None));
    }
    for key in ["gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile"] {
        let scene = Scene::new();
        scene.write("home/x", "mine\n");
        scene.git("", &["config", key, "~/x"]);
        let found = scene.at("");
        assert_eq!(found.elsewhere, [] as [PathBuf; 0], "{key}");
        assert_eq!(found.signers, [scene.home().join("x").canonicalize().expect("it is there")], "{key}");
    }
}

#[test]
fn a_repository_elsewhere_that_says_the_work_tree_is_its_own_is_no_others() {
    let scene = Scene::new();
    let at = |root: &Path| (*Finder::new(&scene.env(), vec![root.to_owned()]).at(root)).clone();
    let top = scene.0.path().canonicalize().expect("it is there");
    scene.git("", &["worktree", "add", "-q", "../linked"]);
    assert_eq!(at(&top.join("linked")).elsewhere, [] as [PathBuf; 0]);
    scene.git("", &["clone", "-q", ".", "../module"]);
    scene.git("", &["submodule", "--quiet", "add", "../module", "sub"]);
    assert_eq!(at(&top.join("repo/sub")).elsewhere, [] as [PathBuf; 0]);
    // The same file in another place is not said back.
    scene.write("copy/.git", &fs::read_to_string(top.join("linked/.git")).expect("read"));
    assert_eq!(at(&top.join("copy")).elsewhere, [top.join("repo/.git/worktrees/linked")]);
}

#[test]
fn links_that_a_pattern_means_are_found_and_no_others() {
    let scene = Scene::new();
    for file in ["repo/src/a.c", "repo/src/b.rs", "repo/src/deep/c.c", "repo/.hid/x.c", "other/y.c"] {
        scene.write(file, "");
    }
    let root = scene.root().canonicalize().expect("it is there");
    for (link, to) in
        [("l.c", "../../other/y.c"), ("l.rs", "a.c"), ("d", "deep"), ("out", "../../other"), ("deep/m.c", "/x")]
    {
        std::os::unix::fs::symlink(to, root.join("src").join(link)).expect("linked");
    }
    let finder = Finder::new(&scene.env(), vec![root.clone()]);
    for (pattern, links) in [
        ("src/*.c", &["src/l.c"][..]),
        ("src/*.rs", &["src/l.rs"]),
        ("src/?", &["src/d"]),
        ("s*/l.*", &["src/l.c", "src/l.rs"]),
        ("*/*/*.c", &["src/d", "src/d/m.c", "src/deep/m.c", "src/out"]),
        ("src/[dx]/m.c", &["src/d", "src/d/m.c"]),
        ("**/*.c", &["src/d", "src/d/m.c", "src/deep/m.c", "src/l.c", "src/out"]),
        ("*", &[]),
        ("src/*.md", &[]),
        ("../*/y.c", &[]),
    ] {
        let mut found = finder.links(&root.join(pattern)).expect("few entries");
        found.sort();
        assert_eq!(found, links.iter().map(|link| root.join(link)).collect::<Vec<_>>(), "{pattern}");
    }
}
