//! What needs no file: turning, flattening, and the bounds of memory.

use image::{Rgba, RgbaImage};

use super::*;

#[test]
fn a_turned_photograph_is_shown_upright() {
    let mut jpeg = Vec::new();
    RgbImage::new(30, 20).write_with_encoder(JpegEncoder::new(&mut jpeg)).expect("it can be encoded");
    // An EXIF block that says: turned by 90°.
    let exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    jpeg.splice(2..2, exif.iter().copied());
    let frames = parse(&Value::Null, &jpeg).expect("it is whole");
    let (text, _) = blocks("a.jpg", &jpeg, &frames).expect("an answer");
    assert!(text.contains("30 × 20 px") && text.ends_with("shown as JPEG, 20 × 30 px"), "{text}");
}

#[test]
fn transparency_becomes_white_in_jpeg() {
    let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(2, 2, Rgba([0, 0, 0, 0])));
    assert_eq!(on_white(&clear).get_pixel(0, 0).0, [255; 3]);
}

#[test]
fn noise_that_stays_large_becomes_jpeg() {
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let picture = RgbImage::from_fn(64, 64, |_, _| image::Rgb([noise(), noise(), noise()]));
    let bytes = encode(&DynamicImage::ImageRgb8(picture), ImageFormat::Png, 8_000).expect("it can be encoded");
    assert!(bytes.starts_with(b"\xff\xd8\xff") && bytes.len() <= 8_000);
}

#[test]
fn an_answer_that_lies_is_none() {
    assert!(blocks("a", b"no picture", &[Frame::Facts(json!({"width": 1, "height": 1}))]).is_none());
    assert!(blocks("a", b"\xff\xd8\xff", &[Frame::Facts(json!({"width": "x"}))]).is_none());
    assert!(
        blocks(
            "a",
            b"\xff\xd8\xff",
            &[Frame::Facts(json!({"width": 1, "height": 1})), Frame::Bytes(b"#!/bin/sh".to_vec())]
        )
        .is_none()
    );
}
