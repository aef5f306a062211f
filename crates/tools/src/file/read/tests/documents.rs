//! PDFs and notebooks, whole and broken.

use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};
use nika_contract::{Block, code};
use serde_json::{Value, json};

use super::pictures::png;
use super::{World, at};

/// A PDF with these texts, a page each.
pub(super) fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let kids: Vec<Object> = pages
        .iter()
        .map(|text| {
            let mut operations = vec![
                Operation::new("BT", vec![]),
                Operation::new("Tf", vec!["F1".into(), 12.into()]),
                Operation::new("Td", vec![50.into(), 700.into()]),
            ];
            if !text.is_empty() {
                operations.push(Operation::new("Tj", vec![Object::string_literal(*text)]));
            }
            operations.push(Operation::new("ET", vec![]));
            let content = Content { operations }.encode().expect("it can be encoded");
            let content = document.add_object(Stream::new(dictionary! {}, content));
            document.add_object(dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content }).into()
        })
        .collect();
    let count = i64::try_from(kids.len()).expect("few");
    let media = vec![0.into(), 0.into(), 595.into(), 842.into()];
    let pages = dictionary! {
        "Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources, "MediaBox" => media
    };
    document.objects.insert(tree, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("it can be written");
    bytes
}

fn pages(path: &str, pages: &str) -> Value {
    json!({"file_path": path, "pages": pages})
}

#[test]
fn a_pdf_is_read_page_by_page() {
    let world = World::new().file("a.pdf", pdf(&["Hello", "", "Goodbye"]));
    let text = world.text(at("a.pdf"));
    assert_eq!(
        text,
        "a.pdf: PDF, 3 pages\n=== page 1\nHello\n=== page 2 has no text (perhaps scanned)\n=== page 3\nGoodbye"
    );
    for (name, arguments) in [("offset", json!({"offset": 2})), ("limit", json!({"limit": 1}))] {
        let mut lines = json!({"file_path": "a.pdf"});
        lines.as_object_mut().expect("an object").extend(arguments.as_object().expect("an object").clone());
        let (code, said) = world.refused(lines);
        assert_eq!(code, 100);
        assert!(said.contains(&format!("`{name}`: a.pdf has no lines")), "{said}");
    }
    let text = world.text(pages("a.pdf", "3"));
    assert_eq!(text, "a.pdf: PDF, 3 pages\n=== page 3\nGoodbye\n[page 3 of 3]");
    assert!(world.text(pages("a.pdf", "2-")).ends_with("[pages 2–3 of 3]"));
    assert!(world.text(pages("a.pdf", "1-99")).contains("=== page 3"));
}

#[test]
fn a_pdf_may_begin_behind_other_bytes() {
    let behind = |junk: &[u8]| [junk, &pdf(&["Hello"])].concat();
    let world = World::new()
        .file("mail.pdf", behind(b"Content-Type: application/pdf\r\n\r\n"))
        .file("MARK.PDF", behind(b"\xef\xbb\xbf\0\x01"))
        .file("far.pdf", behind(&[0; 1019]))
        .file("notes.md", b"A PDF begins with `%PDF-1.7`.\n")
        .file("too_far.pdf", behind(&[0; 1020]));
    for name in ["mail.pdf", "MARK.PDF", "far.pdf"] {
        assert_eq!(world.text(at(name)), format!("{name}: PDF, 1 page\n=== page 1\nHello"));
    }
    assert!(world.text(at("notes.md")).contains("begins with"));
    assert_eq!(world.refused(at("too_far.pdf")).0, code::UNSUPPORTED_TYPE.0);
}

/// A deflated stream of `bytes` zeros, made by hand: matches of 258 bytes, 13 bits each.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    bits.extend([false, false, true, true, false, false, false, false]);
    let again = [true, true, false, false, false, true, false, true, false, false, false, false, false];
    (0..bytes / 258).for_each(|_| bits.extend(again));
    bits.extend([false; 7]);
    let packed =
        bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |all, (at, bit)| all | u8::from(*bit) << at));
    [0x78, 0x01].into_iter().chain(packed).collect()
}

/// 1.7 MB that unfold to 256 MiB: the child stops at its bound, and the pages beside it are read as ever.
#[test]
fn a_page_that_unfolds_to_far_more_than_it_is_is_not_unfolded() {
    let mut document = Document::load_mem(&pdf(&["text", "still here"])).expect("it is whole");
    let page = document.get_pages()[&1];
    let bomb = Stream::new(dictionary! { "Filter" => "FlateDecode" }, zeros(256 << 20)).with_compression(false);
    let bomb = document.add_object(bomb);
    document.get_object_mut(page).and_then(Object::as_dict_mut).expect("a page").set("Contents", bomb);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("it can be written");
    assert!(bytes.len() < 2_000_000, "{}", bytes.len());
    let text = World::new().with_children().file("bomb.pdf", bytes).text(at("bomb.pdf"));
    assert_eq!(text, "bomb.pdf: PDF, 2 pages\n=== page 1: its text could not be read\n=== page 2\nstill here");
}

#[test]
fn a_long_pdf_says_how_to_go_on() {
    let texts: Vec<String> = (1..=30).map(|n| format!("text {n}")).collect();
    let world = World::new().file("a.pdf", pdf(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
    let text = world.text(at("a.pdf"));
    assert!(text.ends_with("=== page 20\ntext 20\n[pages 1–20 of 30; go on with pages=\"21-30\"]"), "{text}");
    assert!(world.text(pages("a.pdf", "1-2")).ends_with("[pages 1–2 of 30]"));
}

#[test]
fn bad_page_ranges_are_refused() {
    let world = World::new().file("a.pdf", pdf(&["Hello"]));
    for range in ["0", "5-2", "x", "1-x", "-3", "1,2", "2", "99999999999"] {
        let (code, text) = world.refused(pages("a.pdf", range));
        assert_eq!(code, code::BAD_ARGUMENTS.0, "{range}: {text}");
    }
    assert!(world.refused(pages("a.pdf", "2")).1.contains("has 1 page"));
}

#[test]
fn a_broken_pdf_is_a_refusal() {
    let bytes = pdf(&["Hello", "Goodbye"]);
    let world = World::new()
        .file("none.pdf", "%PDF-1.7\nnothing that a PDF holds\n")
        .file("cut.pdf", &bytes[..bytes.len() / 3]);
    for name in ["none.pdf", "cut.pdf"] {
        let (code, text) = world.refused(at(name));
        assert_eq!(code, code::PARSER_FAILED.0, "{text}");
        assert!(text.contains(name), "{text}");
    }
    for at in (0..bytes.len()).step_by(7) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x11;
        let world = World::new().file("a.pdf", broken);
        let _ = world.call(super::at("a.pdf"));
    }
}

fn notebook_4() -> Value {
    json!({
        "cells": [
            {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
            {"cell_type": "code", "id": "plot", "metadata": {}, "execution_count": 7, "source": "show()",
             "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                {"output_type": "display_data", "metadata": {}, "data": {"image/png": base64(&png(4, 3)), "text/plain": "<plot>"}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[31mE\u{1b}[0m: v\u{1b}[2J"]},
             ]},
            {"cell_type": "raw", "id": "end", "metadata": {}, "source": ""},
        ],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5
    })
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let six = |chunk: &[u8], n: usize| {
        let bits = chunk.iter().chain([0; 3].iter()).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        char::from(LETTERS[bits >> (18 - 6 * n) & 63])
    };
    bytes.chunks(3).flat_map(|chunk| (0..4).map(move |n| if n > chunk.len() { '=' } else { six(chunk, n) })).collect()
}

#[test]
fn a_notebook_is_read_cell_by_cell_with_its_pictures() {
    let world = World::new().file("a.ipynb", notebook_4().to_string());
    let output = world.call(at("a.ipynb")).expect("it is answered");
    let text = output.joined_text();
    assert!(
        text.starts_with("a.ipynb: notebook 4.5, python, 3 cells\n=== cell 0 markdown id=intro\n# Title\ntext\n"),
        "{text}"
    );
    assert!(text.contains("=== cell 1 code [7] id=plot\nshow()\n--- stdout\none\ntwo\n"), "{text}");
    assert!(text.contains("--- error\nE: v␛[2J\n"), "{text}");
    assert!(text.contains("[picture of cell 1: PNG, 4 × 3 px, "), "{text}");
    assert!(text.contains("=== cell 2 raw id=end"), "{text}");
    assert!(output.content.contains(&Block::Image { mime: "image/png", data: png(4, 3) }));
    assert!(world.seen("a.ipynb").is_some_and(|seen| seen.hash.is_some() && seen.bytes.is_some()));
}

#[test]
fn offset_and_limit_count_cells() {
    let world = World::new().file("a.ipynb", notebook_4().to_string());
    let text = world.text(json!({"file_path": "a.ipynb", "offset": 1, "limit": 1}));
    assert!(text.contains("cell 0") && !text.contains("cell 1 "), "{text}");
    assert!(text.ends_with("[cells 1 to 1 of 3, counted from 1; go on with offset=2]\n"), "{text}");
    assert!(world.text(json!({"file_path": "a.ipynb", "offset": -1})).contains("=== cell 2"));
    assert_eq!(world.refused(json!({"file_path": "a.ipynb", "offset": 4})).0, code::BAD_ARGUMENTS.0);
}

#[test]
fn an_old_notebook_is_read_too() {
    let old = json!({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [
        {"cell_type": "code", "language": "python", "input": ["1 + 1"], "prompt_number": 2,
         "outputs": [{"output_type": "pyout", "text": ["2"]}]}
    ]}]});
    let text = World::new().file("a.ipynb", old.to_string()).text(at("a.ipynb"));
    assert!(text.contains("=== cell 0 code [2]\n1 + 1\n--- result\n2"), "{text}");
}

#[test]
fn a_damaged_picture_of_a_notebook_is_said() {
    let mut notebook = notebook_4();
    notebook["cells"][1]["outputs"][1]["data"]["image/png"] = base64(&png(4, 3)[..40]).into();
    let text = World::new().file("a.ipynb", notebook.to_string()).text(at("a.ipynb"));
    assert!(text.contains("[picture of cell 1: not shown, the PNG image is damaged"), "{text}");
}

#[test]
fn what_is_no_notebook_is_text() {
    let world = World::new().file("a.ipynb", "{\"cells\": [").file("b.ipynb", "[]\n");
    assert_eq!(world.text(at("a.ipynb")), "     1\t{\"cells\": [");
    assert_eq!(world.text(at("b.ipynb")), "     1\t[]");
}
