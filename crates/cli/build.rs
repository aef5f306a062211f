//! How the program is linked: decisions 0021 and 0027.
//!
//! Packed relative relocations (`DT_RELR`), where its C library loads them. The tables of this program hold some 85,000
//! addresses. Unpacked, their relocations are 2 MiB that every start reads and holds; packed, 26 KB.
//!
//! And what every start runs lies together, where the linker can be told so: `start-order.txt`, which
//! `cargo xtask order` writes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first glibc that loads packed relocations.
const GLIBC: (u32, u32) = (2, 36);
/// The functions that run before the first answer, one symbol a line.
const ORDER: &str = "start-order.txt";

/// Where `cargo xtask order` has the linker list what lies where.
const MAP: &str = "NIKA_LINK_MAP";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed={MAP}");
    // Names of functions are those of just this build: with its symbols kept it would be another one, with other names.
    if let Ok(map) = env::var(MAP) {
        println!("cargo::rustc-link-arg-bins=-Wl,-Map={map}");
    }
    // A program for another machine meets another C library than this one's.
    let is_here = env::var("HOST").ok() == env::var("TARGET").ok();
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu");
    if is_here && is_gnu && glibc().is_some_and(|version| version >= GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let is_release = env::var("PROFILE").as_deref() == Ok("release");
    if is_here
        && is_release
        && let Some(order) = ordering()
    {
        order.iter().for_each(|arg| println!("cargo::rustc-link-arg-bins={arg}"));
    }
}

/// The version of the C library, as `getconf` prints it: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let printed = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let (major, minor) = std::str::from_utf8(&printed.stdout).ok()?.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// What tells the linker the order, where it knows the words: it is tried on an empty program.
fn ordering() -> Option<[String; 2]> {
    let file = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join(ORDER);
    // What a symbol is called changes with the compiler: those that are called otherwise lie where they would.
    let args = [format!("-Wl,--symbol-ordering-file={}", file.display()), "-Wl,--no-warn-symbol-ordering".to_owned()];
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (out.join("empty.rs"), out.join("empty"));
    std::fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(&source).arg("-o").arg(&program).args(args.iter().map(|arg| format!("-Clink-arg={arg}")));
    // The linker and the flags that the program itself is built with.
    rustc.args(env::var("RUSTC_LINKER").ok().map(|linker| format!("-Clinker={linker}")));
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let linked = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    linked.success().then_some(args)
}
