//! A result as `rg --null` prints it, so that results compare as text.

use std::os::unix::ffi::OsStrExt;

use nika_search::{GrepFound, GrepQuery, Mode};

pub fn render(query: &GrepQuery, found: &GrepFound, named: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let context = query.before + query.after > 0;
    for file in &found.files {
        let path = file.path.as_os_str().as_bytes();
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|p| out.extend_from_slice(p));
        match query.mode {
            Mode::Files => put(&[path, b"\0"]),
            Mode::Count => put(&[path, b"\0", file.matches.to_string().as_bytes(), b"\n"]),
            Mode::Content => {
                let mut first = true;
                for line in &file.lines {
                    if line.gap_before || (first && context) {
                        put(&[b"--\n"]);
                    }
                    first = false;
                    let mark: &[u8] = if line.is_match { b":" } else { b"-" };
                    put(&[path, b"\0"]);
                    if let Some(number) = line.number {
                        put(&[number.to_string().as_bytes(), mark]);
                    }
                    put(&[file.text(line), b"\n"]);
                }
                if let Some(note) = file.binary {
                    let offset = note.offset.to_string();
                    let (before, after): (&[u8], &[u8]) = match named {
                        true => (b": binary file matches", b""),
                        false => (b": WARNING: stopped searching binary file", b" after match"),
                    };
                    put(&[path, before, after, b" (found \"\\0\" byte around offset ", offset.as_bytes(), b")\n"]);
                }
            }
        }
    }
    // ripgrep separates files by `--` too, but starts with none.
    match out.strip_prefix(b"--\n") {
        Some(rest) if context => rest.to_vec(),
        _ => out,
    }
}

/// Without a separator that nothing follows: ripgrep prints one when a NUL
/// byte turns up in the context it was about to show.
pub fn tidy(out: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for line in out.split_inclusive(|b| *b == b'\n') {
        if line.ends_with(b")\n")
            && line.windows(10).any(|w| w == b": WARNING:" || w == b": binary f")
            && kept.last() == Some(&&b"--\n"[..])
        {
            kept.pop();
        }
        kept.push(line);
    }
    kept.concat()
}
