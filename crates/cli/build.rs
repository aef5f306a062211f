//! Links the program with packed relative relocations (`DT_RELR`) where its C library loads them: decision 0021.
//!
//! The tables of this program hold some 85,000 addresses. Unpacked, their relocations are 2 MiB that every start reads
//! and holds; packed, 26 KB.

use std::env;
use std::process::Command;

/// The first glibc that loads them.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A program for another machine meets another C library than this one's.
    let is_here = env::var("HOST").ok() == env::var("TARGET").ok();
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu");
    if is_here && is_gnu && glibc().is_some_and(|version| version >= GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library, as `getconf` prints it: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let printed = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let (major, minor) = std::str::from_utf8(&printed.stdout).ok()?.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
