//! Attempts on files: writing outside, reaching what is protected, reading what is hidden.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, setxattr, utimensat};

use super::Must::{Fail, FailOnDisk, Work, WorkInWorkspace};
use super::{Row, Scene, broken};

/// What stands outside and in protected files.
const KEPT: &str = "kept";

pub(super) const ROWS: &[Row] = &[
    ("write-outside", Fail, "create a file outside the roots", |s| create(&s.outside.join("new"))),
    ("append-outside", Fail, "append to a file outside the roots", |s| append(&s.outside.join("file"))),
    ("truncate-outside", Fail, "truncate a file outside the roots", |s| File::create(s.outside.join("file")).map(drop)),
    ("delete-outside", Fail, "delete a file outside the roots", |s| fs::remove_file(s.outside.join("spare"))),
    ("write-slash", Fail, "create a file in /", |_| create(Path::new("/nika-probe"))),
    ("write-etc", Fail, "create a file in /etc", |_| create(Path::new("/etc/nika-probe"))),
    ("write-usr", Fail, "create a file in /usr/bin", |_| create(Path::new("/usr/bin/nika-probe"))),
    ("write-home", Fail, "create a file in the home directory", |s| create(&s.home.join("new"))),
    ("write-rc", Fail, "create a shell's start file in the home directory", |s| create(&s.home.join(".bashrc"))),
    ("write-sibling", Fail, "create a file in a directory whose name begins like the root's", |s| {
        create(&s.base.join("work-sibling/new"))
    }),
    ("write-through-link", Fail, "write through a link that leads outside", |s| append(&s.root.join("link-out/file"))),
    ("link-then-write", Fail, "make a link in /tmp that leads outside, and write through it", |s| {
        let link = Path::new("/tmp/nika-probe-link");
        let _ = fs::remove_file(link);
        symlink(&s.outside, link)?;
        append(&link.join("file"))
    }),
    ("hard-link", Fail, "link an outside file into the roots or /tmp, and write it", |s| {
        let (from, to) = (s.outside.join("file"), s.root.join("hard"));
        match fs::hard_link(&from, &to) {
            Ok(()) => append(&to),
            Err(_) => {
                fs::hard_link(&from, "/tmp/nika-probe-hard").and_then(|()| append(Path::new("/tmp/nika-probe-hard")))
            }
        }
    }),
    ("move-out", Fail, "move a file of the workspace outside", |s| {
        fs::rename(s.root.join("plain"), s.outside.join("moved"))
    }),
    ("move-in", Fail, "move an outside file into the workspace", |s| {
        fs::rename(s.outside.join("spare"), s.root.join("in"))
    }),
    ("proc-self-root", Fail, "write outside through /proc/self/root", |s| {
        append(&Path::new("/proc/self/root").join(s.outside.join("file").strip_prefix("/").unwrap_or(&s.outside)))
    }),
    ("proc-1-root", Fail, "look through /proc/1/root", |_| fs::read_dir("/proc/1/root").map(drop)),
    ("proc-1-cwd", Fail, "look through /proc/1/cwd", |_| fs::read_dir("/proc/1/cwd").map(drop)),
    ("chmod-outside", Fail, "change the mode of an outside file", |s| {
        fs::set_permissions(s.outside.join("file"), fs::Permissions::from_mode(0o600))
    }),
    ("utimes-outside", Fail, "change the times of an outside file", |s| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let time = Timespec { tv_sec: now as i64, tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        Ok(utimensat(CWD, s.outside.join("file"), &times, AtFlags::empty())?)
    }),
    ("xattr-outside", Fail, "set an attribute of an outside file", |s| {
        Ok(setxattr(s.outside.join("file"), "user.nika", b"x", XattrFlags::empty())?)
    }),
    ("chmod-input", Fail, "change the mode of what stands behind standard input", |_| {
        fs::set_permissions("/proc/self/fd/0", fs::Permissions::from_mode(0o600))
    }),
    ("write-input", Fail, "write what stands behind standard input", |_| append(Path::new("/proc/self/fd/0"))),
    ("chmod-device", Fail, "change the mode of a device that everybody uses", |_| {
        fs::set_permissions("/dev/null", fs::Permissions::from_mode(0o666))
    }),
    ("hook-write", Fail, "write a git hook", |s| create(&s.root.join(".git/hooks/pre-commit"))),
    ("hook-replace", Fail, "move .git/hooks away", |s| fs::rename(s.root.join(".git/hooks"), s.root.join(".git/x"))),
    ("git-config", Fail, "append to .git/config", |s| append(&s.root.join(".git/config"))),
    ("git-config-rename", Fail, "rename a file over .git/config", |s| {
        create(&s.root.join(".git/config.lock"))?;
        let renamed = fs::rename(s.root.join(".git/config.lock"), s.root.join(".git/config"));
        let _ = fs::remove_file(s.root.join(".git/config.lock"));
        renamed
    }),
    ("git-config-delete", Fail, "delete .git/config", |s| fs::remove_file(s.root.join(".git/config"))),
    ("git-commondir", FailOnDisk, "create .git/commondir", |s| write(&s.root.join(".git/commondir"))),
    ("git-move", Fail, "move .git away", |s| fs::rename(s.root.join(".git"), s.root.join("x"))),
    ("git-case", Fail, "reach .git/config by another spelling", |s| append(&s.root.join("./sub/../.git/./config"))),
    ("nested-config", Fail, "append to a nested repository's .git/config", |s| {
        append(&s.root.join("sub/deep/.git/config"))
    }),
    ("nested-hook", Fail, "write a nested repository's hook, which does not exist", |s| {
        write(&s.root.join("sub/deep/.git/hooks/post-checkout"))
    }),
    ("nested-move", Fail, "move a directory that holds a nested repository", |s| {
        fs::rename(s.root.join("sub"), s.root.join("sub2"))
    }),
    ("nested-move-deep", Fail, "move a nested repository", |s| {
        fs::rename(s.root.join("sub/deep"), s.root.join("sub/x"))
    }),
    ("editor-tasks", Fail, "append to an existing .vscode/tasks.json", |s| {
        append(&s.root.join("app/.vscode/tasks.json"))
    }),
    ("protected-through-link", Fail, "write a protected file through a link in /tmp", |s| {
        let link = Path::new("/tmp/nika-probe-git");
        let _ = fs::remove_file(link);
        symlink(s.root.join(".git"), link)?;
        append(&link.join("config"))
    }),
    ("protected-hard-link", Fail, "link a protected file to another name, and write that", |s| {
        fs::hard_link(s.root.join(".git/config"), s.root.join("alias"))?;
        append(&s.root.join("alias"))
    }),
    ("absent-envrc", FailOnDisk, "create .envrc", |s| write(&s.root.join(".envrc"))),
    ("absent-envrc-move", FailOnDisk, "move a file to .envrc", |s| {
        fs::write("/tmp/nika-probe-envrc", "x")?;
        if s.writable {
            create(&s.root.join("envrc.tmp"))?;
        }
        fs::rename(s.root.join("envrc.tmp"), s.root.join(".envrc"))
    }),
    ("absent-delete", FailOnDisk, "delete what stands in for .envrc, and create it", |s| {
        fs::remove_file(s.root.join(".envrc"))?;
        create(&s.root.join(".envrc"))
    }),
    ("absent-link", FailOnDisk, "make a link called .mcp.json", |s| symlink("/etc/passwd", s.root.join(".mcp.json"))),
    ("absent-vscode", FailOnDisk, "create .vscode/tasks.json", |s| below(&s.root, ".vscode", "tasks.json")),
    ("absent-claude", FailOnDisk, "create .claude/settings.json", |s| below(&s.root, ".claude", "settings.json")),
    ("absent-nika", FailOnDisk, "create .nika/config.yaml", |s| below(&s.root, ".nika", "config.yaml")),
    ("absent-cargo", FailOnDisk, "create .cargo/config.toml", |s| below(&s.root, ".cargo", "config.toml")),
    ("absent-move", FailOnDisk, "move what stands in for .vscode away", |s| {
        fs::rename(s.root.join(".vscode"), s.root.join("y"))
    }),
    ("link-replace", Fail, "replace a protected link", |s| {
        fs::remove_file(s.root.join(".cursor"))?;
        fs::create_dir(s.root.join(".cursor"))
    }),
    ("read-env", Fail, "read the workspace's .env", |s| fs::read(s.root.join(".env")).map(drop)),
    ("read-env-linked", Fail, "read .env through a link", |s| {
        let link = Path::new("/tmp/nika-probe-env");
        let _ = fs::remove_file(link);
        symlink(s.root.join(".env"), link)?;
        fs::read(link).map(drop)
    }),
    ("move-env", Fail, "move .env to another name and read it", |s| {
        fs::rename(s.root.join(".env"), s.root.join("env2"))?;
        fs::read(s.root.join("env2")).map(drop)
    }),
    ("copy-env", Fail, "copy .env", |s| fs::copy(s.root.join(".env"), "/tmp/nika-probe-env-copy").map(drop)),
    ("read-ssh", Fail, "read a key below ~/.ssh", |s| fs::read(s.home.join(".ssh/id_ed25519")).map(drop)),
    ("list-ssh", Fail, "list ~/.ssh", |s| fs::read_dir(s.home.join(".ssh")).map(drop)),
    ("read-aws", Fail, "read ~/.aws/credentials", |s| fs::read(s.home.join(".aws/credentials")).map(drop)),
    ("read-netrc", Fail, "read ~/.netrc", |s| fs::read(s.home.join(".netrc")).map(drop)),
    ("chmod-secret", Fail, "make .env readable by its mode", |s| {
        fs::set_permissions(s.root.join(".env"), fs::Permissions::from_mode(0o644))?;
        fs::read(s.root.join(".env")).map(drop)
    }),
    ("read-shadow", Fail, "read /etc/shadow", |_| fs::read("/etc/shadow").map(drop)),
    ("read-state", Fail, "list Nika's state directory", |s| fs::read_dir(&s.state).map(drop)),
    ("write-state", Fail, "write in Nika's state directory", |s| create(&s.state.join("journal"))),
    ("tmp-of-others", Fail, "read a file of somebody else in /tmp", |s| fs::read(&s.in_tmp).map(drop)),
    ("proc-sys", Fail, "write what stands in /proc/sys back to it", |_| {
        let at = "/proc/sys/vm/overcommit_memory";
        fs::read(at).and_then(|value| OpenOptions::new().write(true).open(at)?.write_all(&value))
    }),
    ("proc-sysrq", Fail, "open /proc/sysrq-trigger for writing", |_| open_to_write("/proc/sysrq-trigger")),
    ("proc-core-pattern", Fail, "open /proc/sys/kernel/core_pattern for writing", |_| {
        open_to_write("/proc/sys/kernel/core_pattern")
    }),
    ("proc-uid-map", Fail, "open /proc/self/uid_map for writing", |_| open_to_write("/proc/self/uid_map")),
    ("sys-write", Fail, "open a file of /sys for writing", |_| {
        open_to_write("/sys/kernel/mm/transparent_hugepage/enabled")
    }),
    ("cgroup-write", Fail, "make a cgroup", |_| fs::create_dir("/sys/fs/cgroup/pids/nika-probe")),
    ("kmsg", Fail, "open /dev/kmsg", |_| open_to_write("/dev/kmsg")),
    ("run", Fail, "find something in /run", |_| match fs::read_dir("/run")?.next() {
        Some(_) => Ok(()),
        None => broken("it is empty"),
    }),
    ("docker-socket", Fail, "find a container daemon's socket", |_| {
        fs::metadata("/var/run/docker.sock").or_else(|_| fs::metadata("/run/podman/podman.sock")).map(drop)
    }),
    ("tmp-write", Work, "write, rename and run a file in /tmp", |_| {
        fs::write("/tmp/nika-probe-own", "x")?;
        fs::rename("/tmp/nika-probe-own", "/tmp/nika-probe-own2")?;
        fs::remove_file("/tmp/nika-probe-own2")
    }),
    ("dev-null", Work, "write to /dev/null and read /dev/urandom", |_| {
        OpenOptions::new().write(true).open("/dev/null")?.write_all(b"x")?;
        io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut [0; 8])
    }),
    ("shm", Work, "make shared memory", |_| fs::write("/dev/shm/nika-probe", "x")),
    ("read-system", Work, "read /etc/passwd and list /usr/bin", |_| {
        fs::read("/etc/passwd")?;
        fs::read_dir("/usr/bin").map(drop)
    }),
    ("read-workspace", Work, "read a file of the workspace", |s| fs::read(s.root.join("plain")).map(drop)),
    ("read-git", Work, "read .git/config", |s| fs::read(s.root.join(".git/config")).map(drop)),
    ("read-home", Work, "read an ordinary file of the home directory", |s| fs::read(s.home.join("notes")).map(drop)),
    ("write-workspace", WorkInWorkspace, "create, rename, link and delete in the workspace", |s| {
        let (one, two) = (s.root.join("src/one"), s.root.join("src/two"));
        create(&one)?;
        fs::rename(&one, &two)?;
        fs::hard_link(&two, &one)?;
        fs::remove_file(&one)?;
        fs::remove_file(&two)?;
        fs::create_dir(s.root.join("src/directory"))?;
        fs::remove_dir(s.root.join("src/directory"))
    }),
    ("write-git-objects", WorkInWorkspace, "write where git keeps objects and references", |s| {
        write(&s.root.join(".git/objects/probe"))?;
        write(&s.root.join(".git/index.lock"))?;
        fs::rename(s.root.join(".git/index.lock"), s.root.join(".git/index"))
    }),
];

fn create(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(b"x")
}

fn write(path: &Path) -> io::Result<()> {
    fs::write(path, "x")
}

fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(b"x")
}

fn open_to_write(path: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path).map(drop)
}

fn below(root: &Path, directory: &str, name: &str) -> io::Result<()> {
    match fs::create_dir(root.join(directory)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    write(&root.join(directory).join(name))
}

/// Makes the scene's files.
pub(super) fn lay_out(scene: &Scene) -> io::Result<()> {
    let root = &scene.root;
    for directory in [
        &root.join("src"),
        &root.join(".git/hooks"),
        &root.join(".git/objects"),
        &root.join("sub/deep/.git"),
        &root.join("app/.vscode"),
        &root.join("conf"),
        &scene.base.join("work-sibling"),
        &scene.home.join(".ssh"),
        &scene.home.join(".aws"),
        &scene.outside,
        &scene.state,
    ] {
        fs::create_dir_all(directory)?;
    }
    for file in [
        root.join("plain"),
        root.join(".env"),
        root.join(".git/config"),
        root.join(".git/HEAD"),
        root.join("sub/deep/.git/config"),
        root.join("app/.vscode/tasks.json"),
        root.join("conf/rules"),
        scene.home.join(".ssh/id_ed25519"),
        scene.home.join(".aws/credentials"),
        scene.home.join(".netrc"),
        scene.home.join("notes"),
        scene.outside.join("file"),
        scene.outside.join("spare"),
        scene.state.join("secret"),
    ] {
        fs::write(file, KEPT)?;
    }
    symlink(&scene.outside, root.join("link-out"))?;
    symlink("conf", root.join(".cursor"))
}

pub(super) fn damage(scene: &Scene) -> Vec<String> {
    let root = &scene.root;
    let mut found = Vec::new();
    for file in [
        root.join(".env"),
        root.join(".git/config"),
        root.join("sub/deep/.git/config"),
        root.join("app/.vscode/tasks.json"),
        root.join("conf/rules"),
        scene.home.join(".ssh/id_ed25519"),
        scene.outside.join("file"),
        scene.outside.join("spare"),
        scene.state.join("secret"),
    ] {
        if fs::read_to_string(&file).ok().as_deref() != Some(KEPT) {
            found.push(format!("{} was changed", file.display()));
        }
    }
    for name in [
        ".envrc",
        ".mcp.json",
        ".vscode",
        ".claude",
        ".nika",
        ".cargo",
        ".git/hooks/pre-commit",
        ".git/commondir",
        "sub/deep/.git/hooks",
        "x",
        "y",
        "sub2",
        "in",
    ] {
        if root.join(name).symlink_metadata().is_ok() {
            found.push(format!("{name} came to be in the workspace"));
        }
    }
    for path in [
        scene.outside.join("new"),
        scene.outside.join("moved"),
        scene.home.join("new"),
        scene.home.join(".bashrc"),
        scene.state.join("journal"),
        scene.base.join("work-sibling/new"),
        "/nika-probe".into(),
        "/etc/nika-probe".into(),
        "/usr/bin/nika-probe".into(),
    ] {
        if path.symlink_metadata().is_ok() {
            found.push(format!("{} came to be", path.display()));
        }
    }
    if root.join(".cursor").read_link().is_err() {
        found.push("a protected link was replaced".to_owned());
    }
    found
}
