//! A page of the web as Markdown. Runs in a parser child; what the page means to anybody is not known here.

use html_to_markdown_rs::{ConversionOptions, convert};
use nika_contract::{ToolError, code};
use serde_json::{Value, json};

use super::hidden;
use crate::file::read::wire::Frame;

/// Bytes of HTML that are converted: the largest pages of manuals have a few.
const PAGE_BYTES: usize = 8 << 20;
/// Bytes of Markdown that go back.
const ANSWER_BYTES: usize = 8 << 20;

/// In the child: facts (`title`, `hidden`, `cut`), then the Markdown.
pub(crate) fn parse(asked: &Value, page: &[u8]) -> Result<Vec<Frame>, ToolError> {
    let page = String::from_utf8_lossy(page);
    let cut = page.len() > PAGE_BYTES;
    let page = &page[..page.floor_char_boundary(PAGE_BYTES)];
    let title = hidden::title(page);
    let (shown, hidden) = hidden::visible(page);
    let options = ConversionOptions {
        compact_tables: true,
        base_url: asked["base"].as_str().map(str::to_owned),
        ..ConversionOptions::default()
    };
    let converted = convert(&shown, options)
        .map_err(|error| ToolError::new(code::PARSER_FAILED, format!("the page cannot be converted: {error}")))?;
    let mut text = converted.content.unwrap_or_default();
    text.truncate(text.floor_char_boundary(ANSWER_BYTES));
    let facts = json!({ "title": title, "hidden": hidden, "cut": cut });
    Ok(vec![Frame::Facts(facts), Frame::Bytes(text.into_bytes())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(page: &str) -> String {
        let frames = parse(&json!({"base": "https://site.example/a/"}), page.as_bytes()).expect("it converts");
        match &frames[1] {
            Frame::Bytes(text) => String::from_utf8(text.clone()).expect("text"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_becomes_markdown_with_whole_links() {
        let text = markdown(
            "<html><head><title>T</title></head><body><h1>One</h1><p>Some <b>bold</b> <a href='b.html'>link</a>.</p>\
             <ul><li>x<li>y</ul><pre><code class='language-rust'>fn main() {}\n</code></pre>\
             <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>",
        );
        for piece in
            ["# One", "Some **bold** [link](https://site.example/a/b.html).", "- x\n- y", "fn main() {}", "| a | b |"]
        {
            assert!(text.contains(piece), "{piece:?} in\n{text}");
        }
    }

    #[test]
    fn a_page_that_is_deep_or_broken_ends() {
        for page in [
            "<div>".repeat(100_000),
            "<ul><li>".repeat(20_000),
            "<table><tr><td>".repeat(3_000),
            "<b><i>".repeat(20_000),
            "<blockquote>".repeat(20_000),
            format!("<p>{}", "a ".repeat(100_000)),
            "<a href='".to_owned(),
            "<".repeat(10_000),
            "\0\u{1}<p>\u{0}x</p>".to_owned(),
        ] {
            let _ = markdown(&page);
        }
    }
}
