//! Pictures that fit, pictures that are made to fit, and pictures that are traps.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use nika_contract::code;
use serde_json::json;

use super::{World, at};

fn picture(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| Rgba([x as u8, y as u8, (x / 7 * y / 5) as u8, 255 - (x % 3) as u8]);
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, pixel))
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("it can be encoded");
    bytes.into_inner()
}

pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&picture(width, height), ImageFormat::Png)
}

pub(super) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    encoded(&picture(width, height).to_rgb8().into(), ImageFormat::Jpeg)
}

const FORMATS: &[(ImageFormat, &str, &str)] = &[
    (ImageFormat::Png, "PNG", "image/png"),
    (ImageFormat::Jpeg, "JPEG", "image/jpeg"),
    (ImageFormat::Gif, "GIF", "image/gif"),
    (ImageFormat::WebP, "WebP", "image/webp"),
];

fn of(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let picture = picture(width, height);
    if format == ImageFormat::Jpeg { encoded(&picture.to_rgb8().into(), format) } else { encoded(&picture, format) }
}

#[test]
fn pictures_that_fit_go_through_unchanged() {
    for (format, name, mime) in FORMATS {
        let bytes = of(*format, 40, 30);
        // The name says nothing: the bytes do.
        let world = World::new().file("a.txt", &bytes);
        let (text, shown, data) = world.picture(at("a.txt"));
        assert_eq!(text, format!("a.txt: {name}, 40 × 30 px, {}", super::super::args::size(bytes.len() as u64)));
        assert_eq!((shown, data == bytes), (*mime, true));
        let seen = world.seen("a.txt").expect("it was read");
        assert!(seen.hash.is_some() && seen.bytes.is_none());
    }
}

#[test]
fn larger_pictures_are_made_smaller() {
    for (format, name, _) in FORMATS {
        let world = World::new().file("a", of(*format, 1_570, 20));
        let (text, mime, data) = world.picture(at("a"));
        let to = if *name == "JPEG" { "JPEG" } else { "PNG" };
        assert!(text.ends_with(&format!("; shown as {to}, 1,568 × 20 px")), "{text}");
        let shown = image::load_from_memory(&data).expect("it can be decoded");
        assert_eq!((shown.width(), shown.height(), mime.ends_with(&to.to_lowercase())), (1_568, 20, true));
    }
}

#[test]
fn a_thin_picture_keeps_a_pixel() {
    let world = World::new().file("a.png", png(8_000, 1));
    let (text, _, _) = world.picture(at("a.png"));
    assert!(text.ends_with("shown as PNG, 1,568 × 1 px"), "{text}");
}

#[test]
fn a_cut_picture_is_refused() {
    for (format, name, _) in FORMATS {
        let bytes = of(*format, 64, 64);
        for part in [12, bytes.len() / 2, bytes.len() - 3] {
            let world = World::new().file("a", &bytes[..part]);
            match world.call(at("a")) {
                Err(error) => assert_eq!(error.code, code::PARSER_FAILED, "{name} cut at {part}: {error}"),
                // Three bytes of trailer missing: some decoders have all pixels by then.
                Ok(_) => assert_eq!(part, bytes.len() - 3, "{name} cut at {part} was shown"),
            }
        }
    }
}

#[test]
fn a_picture_of_impossible_size_is_refused_before_it_is_decoded() {
    // A PNG header of 60,000 × 60,000 pixels, with its checksum, and nothing behind it.
    let mut bytes = png(3, 2);
    bytes[16..20].copy_from_slice(&60_000u32.to_be_bytes());
    bytes[20..24].copy_from_slice(&60_000u32.to_be_bytes());
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    let world = World::new().file("bomb.png", &bytes);
    let (code, text) = world.refused(at("bomb.png"));
    assert_eq!(code, code::TOO_LARGE.0, "{text}");
    assert!(text.contains("60,000 × 60,000 px"), "{text}");

    // A GIF says its size in its first bytes.
    let mut bytes = of(ImageFormat::Gif, 3, 2);
    bytes[6..10].copy_from_slice(&[0xff; 4]);
    let (code, _) = World::new().file("bomb.gif", &bytes).refused(at("bomb.gif"));
    assert!([code::TOO_LARGE.0, code::PARSER_FAILED.0].contains(&code));
}

#[test]
fn a_text_about_a_format_is_no_picture() {
    for text in ["GIF89a is a format\n", "GIF87a\nGIF89a\n", "GIF89a", "BZh9 and PAR1\n", "PAR1"] {
        let shown = World::new().file("formats.txt", text).text(at("formats.txt"));
        assert!(shown.contains(&text[..4]), "{shown}");
    }
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn a_file_too_large_to_decode_is_refused_by_size() {
    let world = World::new().file("a.png", png(3, 2));
    let file = std::fs::OpenOptions::new().write(true).open(world.path("a.png")).expect("it opens");
    file.set_len(40 << 20).expect("it grows");
    assert_eq!(world.refused(at("a.png")).0, code::TOO_LARGE.0);
}

#[test]
fn every_single_broken_byte_is_survived() {
    for (format, ..) in FORMATS {
        let bytes = of(*format, 9, 7);
        for at in 0..bytes.len().min(150) {
            for value in [0, 0xff, bytes[at] ^ 1] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let mut answer = Vec::new();
                let question = super::super::wire::question(&json!({}), &broken);
                super::super::parse_child("picture", question.as_slice(), &mut answer).expect("it is answered");
            }
        }
    }
}
