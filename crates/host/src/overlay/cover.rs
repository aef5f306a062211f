//! The mount itself: made by the process that starts the command, in a mount namespace of its own.
//!
//! A [`Cover`] is data, so that it can be handed to that process. It needs `/proc` and the capability to mount in
//! its namespace; it changes nothing that another process sees.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nika_guard::pathtext;
use nika_guard::profile::Layered;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen, move_mount,
};
use serde::{Deserialize, Serialize};

use crate::mount_table;

/// What lies over a root, and where its changes go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// The directory that is covered.
    #[serde(with = "pathtext")]
    pub root: PathBuf,
    /// Where changes go.
    #[serde(with = "pathtext")]
    pub upper: PathBuf,
    /// The kernel's own place for what is half done; beside `upper`.
    #[serde(with = "pathtext")]
    pub work: PathBuf,
    /// What is hidden by what stands in the layer.
    #[serde(with = "pathtext::list", default)]
    pub stand_ins: Vec<PathBuf>,
}

impl From<&Layered> for Cover {
    fn from(layered: &Layered) -> Cover {
        let Layered { root, upper, work, stand_ins } = layered.clone();
        Cover { root, upper, work, stand_ins }
    }
}

impl From<Cover> for Layered {
    fn from(Cover { root, upper, work, stand_ins }: Cover) -> Layered {
        Layered { root, upper, work, stand_ins }
    }
}

impl Cover {
    /// The overlay as a detached mount, for whoever lays out a whole file system. Taken while root, upper and
    /// work can still be reached by their paths, and once: a volatile layer is not mounted again.
    pub fn tree(&self) -> io::Result<OwnedFd> {
        let [root, upper, work] = [&self.root, &self.upper, &self.work].map(|path| directory(path));
        let (root, upper, work) = (root?, upper?, work?);
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        // By handle: no character of a path can be taken for a separator.
        for (key, dir) in [("lowerdir", &root), ("upperdir", &upper), ("workdir", &work)] {
            fsconfig_set_string(&context, key, format!("/proc/self/fd/{}", dir.as_raw_fd()))?;
        }
        // Marks that an ordinary user may write, too.
        if !in_first_user_namespace() {
            fsconfig_set_flag(&context, "userxattr")?;
        } else {
            fsconfig_set_string(&context, "redirect_dir", "off")?;
        }
        // A changed file is whole in the upper layer; what is applied is synced then, so nothing is before.
        fsconfig_set_string(&context, "metacopy", "off")?;
        fsconfig_set_string(&context, "index", "off")?;
        // Kernels before 5.10 do not know it.
        let _ = fsconfig_set_flag(&context, "volatile");
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
    }

    /// Lays the overlay over the root. A current directory in the root still is the bare one: change into it
    /// again.
    pub fn mount(&self) -> io::Result<()> {
        let tree = self.tree()?;
        let at = directory(&self.root)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(tree.as_fd(), "", at.as_fd(), "", flags)?)
    }
}

/// What is mounted below `root`, in this process's namespace. An overlay shows an empty directory there: whoever
/// lays it has to mount these again, and what is written to them is not in the layer.
pub fn mounts_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let table = mount_table::read()?.into_iter();
    let mut found: Vec<PathBuf> = table.map(|mount| mount.at).filter(|at| at.starts_with(root) && at != root).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

fn directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, flags, Mode::empty(), resolve)?)
}

/// The first one bears a number that the kernel fixes. Its map of ids would not do: another may map every id onto
/// itself, too.
fn in_first_user_namespace() -> bool {
    std::fs::read_link("/proc/self/ns/user").is_ok_and(|name| name == Path::new("user:[4026531837]"))
}
