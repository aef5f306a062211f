//! What a body is, and the text that it comes to: HTML as Markdown, PDF as text, text as it is.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use nika_contract::{Cx, ToolError, code};
use nika_host::proc::Isolated;
use serde_json::json;

use super::clean::clean;
use crate::file::read::parse::{self, HTML, PDF};
use crate::file::read::pdf;
use crate::file::read::wire::Frame;

/// Bytes in which a page of HTML says its encoding.
const META_BYTES: usize = 1024;

/// The text of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Clean.
    pub text: String,
    /// What it is called, where it says so.
    pub title: Option<String>,
    /// `text/html` and the like, as the server says.
    pub mime: String,
    /// Characters and bytes that a reader would not have seen.
    pub hidden: usize,
    /// Whether more was there than is converted.
    pub cut: bool,
}

/// What is done with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Pdf,
    Text,
    Other,
}

/// Types beside `text/*` that are text.
const TEXT_TYPES: &[&str] = &[
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-ndjson",
    "application/graphql",
    "application/sql",
    "application/x-sh",
    "application/x-tex",
    "application/rtf",
    "image/svg+xml",
];

/// What `body` is, by what it begins with and what the server says of it.
fn kind(mime: &str, body: &[u8]) -> Kind {
    let start = body.trim_ascii_start();
    let begins = |what: &str| start.get(..what.len()).is_some_and(|head| head.eq_ignore_ascii_case(what.as_bytes()));
    if body.starts_with(pdf::MAGIC) || mime == "application/pdf" && pdf::begin(body).is_some() {
        return Kind::Pdf;
    }
    let html = begins("<!doctype html") || begins("<html");
    let text_like = |mime: &str| {
        mime.starts_with("text/") || TEXT_TYPES.contains(&mime) || mime.ends_with("+json") || mime.ends_with("+xml")
    };
    let binary = || body.iter().take(4096).any(|byte| *byte == 0) && !is_wide(body);
    match mime {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        _ if text_like(mime) => Kind::Text,
        "" | "application/octet-stream" | "application/x-unknown" | "unknown/unknown" if html => Kind::Html,
        "" | "application/octet-stream" | "application/x-unknown" | "unknown/unknown"
            if !binary() && std::str::from_utf8(body).is_ok() =>
        {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

/// Whether it begins as text of two bytes a character.
fn is_wide(body: &[u8]) -> bool {
    body.starts_with(&[0xff, 0xfe]) || body.starts_with(&[0xfe, 0xff])
}

/// `text/html` and `utf-8` of a header's value.
fn content_type(header: Option<&str>) -> (String, Option<String>) {
    let header = header.unwrap_or_default();
    let mut parts = header.split(';');
    let mime = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    });
    let printable = mime.chars().take(100).filter(|c| c.is_ascii_graphic()).collect();
    (printable, charset)
}

/// The text of bytes: by their mark, by what was said of them, as UTF-8, or as what they most often are.
fn decode(body: &[u8], said: Option<&str>, html: bool) -> String {
    if let Some((marked, _)) = Encoding::for_bom(body) {
        return marked.decode(body).0.into_owned();
    }
    let named = |label: &str| Encoding::for_label(label.as_bytes());
    let said = said.and_then(named).or_else(|| html.then(|| meta_charset(body)).flatten().as_deref().and_then(named));
    let encoding = match said {
        // Pages say one of these and are UTF-8 all the same; the other way round it would not read as UTF-8.
        Some(said) if said != UTF_8 && std::str::from_utf8(body).is_ok() && is_single_byte(said) => UTF_8,
        Some(said) => said,
        None if std::str::from_utf8(body).is_ok() => UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(body).0.into_owned()
}

fn is_single_byte(encoding: &'static Encoding) -> bool {
    encoding == WINDOWS_1252 || encoding.name().starts_with("ISO-8859") || encoding.name().starts_with("windows-125")
}

/// What a page says of its own encoding.
fn meta_charset(body: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&body[..body.len().min(META_BYTES)]).to_ascii_lowercase();
    let at = head.find("charset=")? + "charset=".len();
    let value: String = head[at..]
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    Some(value).filter(|value| !value.is_empty())
}

/// The text of a body that came from `address`.
pub(super) async fn read(
    parsers: Option<&Isolated>,
    cx: &Cx<'_>,
    address: &str,
    header: Option<&str>,
    body: &[u8],
) -> Result<Page, ToolError> {
    let (mime, charset) = content_type(header);
    let broken = || ToolError::new(code::PARSER_FAILED, "the parser's answer makes no sense");
    let page = match kind(&mime, body) {
        Kind::Text => {
            let (text, hidden) = clean(&decode(body, charset.as_deref(), false));
            Page { text, mime, hidden, ..Page::default() }
        }
        Kind::Html => {
            let page = decode(body, charset.as_deref(), true);
            let frames = parse::ask(parsers, cx, HTML, &json!({ "base": address }), page.as_bytes()).await?;
            let [Frame::Facts(facts), Frame::Bytes(markdown)] = frames.as_slice() else { return Err(broken()) };
            let (text, unseen) = clean(&String::from_utf8_lossy(markdown));
            let title = facts["title"].as_str().map(|title| clean(title).0);
            let hidden = usize::try_from(facts["hidden"].as_u64().unwrap_or(0)).unwrap_or(0) + unseen;
            Page { text: tidy(&text), title, mime, hidden, cut: facts["cut"] == true }
        }
        Kind::Pdf => {
            let frames = parse::ask(parsers, cx, PDF, &json!({ "pages": null }), body).await?;
            let pages = pdf::Pages::new(None)?;
            let (text, _) = pdf::text("the document", pages, &frames).ok_or_else(broken)?;
            let text = text.replace("; go on with pages=", "; not shown: pages ");
            let (text, hidden) = clean(&text);
            Page { text, mime: "application/pdf".into(), hidden, ..Page::default() }
        }
        Kind::Other => {
            let what = if mime.is_empty() { "of no type that is said".to_owned() } else { mime };
            let message = format!("the answer is {what}, {} bytes: nothing that can be read as text", body.len());
            return Err(ToolError::new(code::UNSUPPORTED_TYPE, message)
                .hint("pages, PDF and text are read; a command can download the file"));
        }
    };
    Ok(page)
}

/// Markdown without rows of empty lines and white space at the ends of lines.
fn tidy(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut empty = 0;
    for line in markdown.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_known_by_its_beginning_and_by_what_is_said_of_it() {
        for (mime, body, want) in [
            ("text/html", &b"hello"[..], Kind::Html),
            ("text/html", b"%PDF-1.7", Kind::Pdf),
            ("application/octet-stream", b"%PDF-1.7", Kind::Pdf),
            ("application/json", b"{}", Kind::Text),
            ("application/problem+json", b"{}", Kind::Text),
            ("text/plain", b"a\0b", Kind::Text),
            ("", b"  <!DOCTYPE HTML><p>", Kind::Html),
            ("", b"plain words", Kind::Text),
            ("application/octet-stream", b"words", Kind::Text),
            ("application/octet-stream", b"a\0b", Kind::Other),
            ("image/png", b"\x89PNG", Kind::Other),
            ("application/zip", b"PK", Kind::Other),
            ("", b"\xff\xd8\xff", Kind::Other),
        ] {
            assert_eq!(kind(mime, body), want, "{mime} {body:?}");
        }
    }

    #[test]
    fn text_is_read_in_the_encoding_that_holds() {
        for (body, said, html, want) in [
            (&b"caf\xc3\xa9"[..], None, false, "café"),
            (b"caf\xe9", None, false, "café"),
            (b"caf\xe9", Some("iso-8859-1"), false, "café"),
            (b"caf\xc3\xa9", Some("iso-8859-1"), false, "café"),
            (b"\x83e\x83X\x83g", Some("shift_jis"), false, "テスト"),
            (b"<meta charset=\"shift_jis\">\x83e\x83X\x83g", None, true, "<meta charset=\"shift_jis\">テスト"),
            (b"\xff\xfeh\0i\0", Some("utf-8"), false, "hi"),
            (b"\xef\xbb\xbfhi", None, false, "hi"),
            (b"hi", Some("no-such-charset"), false, "hi"),
        ] {
            assert_eq!(decode(body, said, html), want, "{body:?} {said:?}");
        }
        assert_eq!(content_type(Some("Text/HTML; x=1; Charset=\"UTF-8\"")), ("text/html".into(), Some("UTF-8".into())));
        assert_eq!(content_type(None), (String::new(), None));
    }

    #[test]
    fn markdown_is_tidied() {
        assert_eq!(tidy("\n\na  \n\n\n\nb\n"), "a\n\nb");
    }
}
