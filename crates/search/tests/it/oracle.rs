//! Ripgrep's own crates put together in the plainest way: what results are
//! compared with where there is no `rg` to run.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use nika_search::{GrepQuery, Mode};

/// The files that a walk by the `ignore` crate finds, sorted by path.
pub fn files(
    root: &Path,
    base: &Path,
    hidden: bool,
    no_ignore: bool,
    globs: &[String],
    types: &[String],
) -> Vec<PathBuf> {
    let mut overrides = ignore::overrides::OverrideBuilder::new(root);
    for glob in globs {
        overrides.add(glob).expect("a glob");
    }
    let mut kinds = ignore::types::TypesBuilder::new();
    kinds.add_defaults();
    for t in types {
        kinds.select(t);
    }
    let mut walk = ignore::WalkBuilder::new(root.join(base));
    walk.hidden(!hidden)
        .ignore(!no_ignore)
        .git_ignore(!no_ignore)
        .git_exclude(!no_ignore)
        .git_global(false)
        .parents(!no_ignore)
        .overrides(overrides.build().expect("globs"))
        .types(kinds.build().expect("types"))
        .sort_by_file_name(|a, b| a.cmp(b));
    if !no_ignore {
        walk.add_custom_ignore_filename(".rgignore");
    }
    walk.build()
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_some_and(|t| t.is_file()))
        .map(|e| e.path().strip_prefix(root).expect("below the root").to_path_buf())
        .collect()
}

/// What a search prints.
pub fn grep(root: &Path, files: &[PathBuf], query: &GrepQuery, named: bool) -> Vec<u8> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).fixed_strings(query.literal).case_insensitive(query.ignore_case).ban_byte(Some(0));
    match query.multiline {
        true => builder.dot_matches_new_line(true),
        false => builder.line_terminator(Some(b'\n')),
    };
    let matcher = builder.build(&query.pattern).expect("a pattern");
    let content = query.mode == Mode::Content;
    // A new one for each file: a searcher that met a long line reads more at
    // once ever after, and what is read at once decides what a NUL byte hides.
    let fresh = || {
        SearcherBuilder::new()
            .multi_line(query.multiline)
            .line_number(content && query.line_numbers)
            .before_context(if content { query.before } else { 0 })
            .after_context(if content { query.after } else { 0 })
            .binary_detection(if named { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) })
            .build()
    };
    let mut out = Vec::new();
    for path in files {
        let mut print = Print {
            query,
            matcher: &matcher,
            path: path.as_os_str().as_bytes(),
            out: Vec::new(),
            count: 0,
            binary: None,
        };
        let (full, mut searcher) = (root.join(path), fresh());
        match named {
            // Ripgrep maps a named file into memory.
            true => {
                searcher.search_slice(&matcher, &std::fs::read(full).expect("a file"), &mut print).expect("a search")
            }
            false => searcher
                .search_file(&matcher, &std::fs::File::open(full).expect("a file"), &mut print)
                .expect("a search"),
        }
        if !out.is_empty()
            && !print.out.is_empty()
            && content
            && query.before + query.after > 0
            && !print.out.starts_with(b"\x01")
        {
            out.extend_from_slice(b"--\n");
        }
        out.extend_from_slice(print.out.strip_prefix(b"\x01").unwrap_or(&print.out));
    }
    out
}

struct Print<'a> {
    query: &'a GrepQuery,
    matcher: &'a RegexMatcher,
    path: &'a [u8],
    out: Vec<u8>,
    count: u64,
    binary: Option<u64>,
}

impl Print<'_> {
    fn lines(&mut self, bytes: &[u8], number: Option<u64>, mark: &str) {
        for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            self.out.extend_from_slice(self.path);
            self.out.push(0);
            if let Some(n) = number {
                self.out.extend_from_slice(format!("{}{mark}", n + i as u64).as_bytes());
            }
            self.out.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            self.out.push(b'\n');
        }
    }
}

impl Sink for Print<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.count += 1;
        match self.query.mode {
            Mode::Files => return Ok(false),
            Mode::Count if searcher.multi_line_with_matcher(self.matcher) => {
                let range = found.bytes_range_in_buffer();
                let end = found.buffer().len().min(range.end + 128);
                let mut n = 0;
                let _ = self.matcher.find_iter_at(&found.buffer()[..end], range.start, |m| {
                    n += u64::from(m.start() < range.end);
                    m.start() < range.end
                });
                self.count += n.max(1) - 1;
            }
            Mode::Count => {}
            Mode::Content if searcher.binary_detection().convert_byte().is_some() && self.binary.is_some() => {
                return Ok(false);
            }
            Mode::Content => self.lines(found.bytes(), found.line_number(), ":"),
        }
        Ok(true)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if searcher.binary_detection().convert_byte().is_some() && self.binary.is_some() {
            return Ok(false);
        }
        self.lines(context.bytes(), context.line_number(), "-");
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.out.extend_from_slice(b"--\n");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> Result<bool, io::Error> {
        self.binary = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        let quit = searcher.binary_detection().quit_byte().is_some();
        match self.query.mode {
            Mode::Content => {
                let Some(offset) = self.binary.filter(|_| self.count > 0) else { return Ok(()) };
                let said =
                    if quit { "WARNING: stopped searching binary file after match" } else { "binary file matches" };
                if self.out.is_empty() {
                    // A message alone is not preceded by a separator.
                    self.out.push(1);
                }
                self.out.extend_from_slice(self.path);
                self.out
                    .extend_from_slice(format!(": {said} (found \"\\0\" byte around offset {offset})\n").as_bytes());
            }
            _ if self.count == 0 || quit && finish.binary_byte_offset().is_some() => {}
            Mode::Files => self.out.extend_from_slice(&[self.path, b"\0"].concat()),
            Mode::Count => {
                self.out.extend_from_slice(&[self.path, b"\0", self.count.to_string().as_bytes(), b"\n"].concat())
            }
        }
        Ok(())
    }
}
