//! `cargo run --release -p nika-tools --example readfuzz -- [INPUTS] [SEED]`: whole files of every kind that `read`
//! understands, broken in a few places, through everything that shows them. The parsers that run in children may panic,
//! as they may there; nothing else may. A failing input is named by its seed.

use std::io::Cursor;
use std::time::{Duration, Instant};

use image::{DynamicImage, ImageFormat};
use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};
use nika_tools::file::read::fuzz_one;

/// No answer takes longer: the child would be ended.
const LONGEST: Duration = Duration::from_secs(10);

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse::<u64>().ok());
    let (inputs, first) = (args.next().unwrap_or(20_000), args.next().unwrap_or(1));
    // What a parser says when it panics is of no interest: that it may is why it has a process of its own.
    std::panic::set_hook(Box::new(|_| {}));
    let wholes = wholes();
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    let mut data = Vec::new();
    for seed in first..first + inputs {
        fill(seed, &wholes, &mut data);
        let since = Instant::now();
        let failed = std::panic::catch_unwind(|| fuzz_one(&data)).is_err();
        slowest = slowest.max(since.elapsed());
        if failed || since.elapsed() > LONGEST {
            println!("failed: seed {seed}, {:?}, {} bytes: {data:02x?}", since.elapsed(), data.len());
            std::process::exit(1);
        }
    }
    let took = start.elapsed().as_secs_f64();
    println!("{inputs} inputs from seed {first} in {took:.1} s, none failed; the slowest took {slowest:?}");
}

/// A whole file of each kind, with the number by which `fuzz_one` knows its kind.
fn wholes() -> Vec<(u8, Vec<u8>)> {
    let picture = |format: ImageFormat| {
        let mut bytes = Cursor::new(Vec::new());
        let picture = DynamicImage::new_rgb8(7, 5);
        // What this build cannot write is not read either.
        picture.write_to(&mut bytes, format).ok().map(|()| bytes.into_inner())
    };
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    let text = "\u{feff}one\r\ntwo\n\tthrée \u{1b}[31m \u{202e}four\r\n\0表示\n".as_bytes().to_vec();
    let notebook =
        br#"{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "source": ["x"],
        "outputs": [{"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": ["y"]}}]}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
    let mut wholes = vec![(0, text), (1, notebook.to_vec()), (2, b"\x02nika-parse-1\nj\x02\0\0\0{}.\0\0\0\0".to_vec())];
    wholes.extend(formats.into_iter().filter_map(picture).map(|bytes| (3, bytes)));
    wholes.push((4, pdf()));
    wholes
}

fn pdf() -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 12.into()]),
        Operation::new("Tj", vec![Object::string_literal("text")]),
        Operation::new("ET", vec![]),
    ];
    let content = Content { operations }.encode().expect("four operations can be encoded");
    let content = document.add_object(Stream::new(dictionary! {}, content));
    let page = document.add_object(dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content });
    let pages = dictionary! {
        "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1, "Resources" => resources
    };
    document.objects.insert(tree, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("memory can be written");
    bytes
}

/// Pieces that parsers of such files care about.
const PIECES: &[&[u8]] = &[
    b"\xff\xff\xff\xff",
    b"\0\0\0\0",
    b"99999999",
    b"-1",
    b"<<",
    b">>",
    b"endobj",
    b"/Length 4294967295",
    b"\"",
    b"[",
    b"{",
    b"]}",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x1b[2J",
    b"\r\n",
    b"stream\n",
];

fn fill(seed: u64, wholes: &[(u8, Vec<u8>)], data: &mut Vec<u8>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from((state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 24) % below as u64).unwrap_or(0)
    };
    data.clear();
    let (kind, whole) = &wholes[next(wholes.len())];
    // The number by five, so that the rest of it varies what is asked.
    data.push(kind + 5 * next(51) as u8);
    if next(8) == 0 {
        data.extend((0..next(400)).map(|_| next(256) as u8));
        return;
    }
    data.extend_from_slice(whole);
    for _ in 0..next(6) {
        let at = 1 + next(data.len());
        match next(5) {
            0 if at < data.len() => data[at] = next(256) as u8,
            1 if at < data.len() => data[at] ^= 1 << next(8),
            2 => data.truncate(at),
            3 => {
                let to = (at + next(40)).min(data.len());
                drop(data.drain(at..to));
            }
            _ => drop(data.splice(at..at, PIECES[next(PIECES.len())].iter().copied())),
        }
    }
}
