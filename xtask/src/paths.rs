//! Where things are: everything a chore makes lies below the workspace's `target/`, so that `cargo clean` takes it away.

use std::path::{Path, PathBuf};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn workspace() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies inside the workspace").to_path_buf()
}

/// `target/NAME` below the workspace, made if missing. Not cargo's target folder when that was moved: see [`binary`].
pub(crate) fn made(name: &str) -> std::io::Result<PathBuf> {
    let dir = workspace().join("target").join(name);
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// A program that cargo built, `profile` being `debug` or `release`.
pub(crate) fn binary(profile: &str, name: &str) -> PathBuf {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(moved) => workspace().join(moved),
        None => workspace().join("target"),
    };
    target.join(profile).join(name)
}
