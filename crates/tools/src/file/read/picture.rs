//! Pictures a model can look at: those that fit go through as they are, once they have been decoded to
//! see that they are whole; larger ones are made smaller. Runs in a parser child.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbImage};
use nika_contract::{Block, ToolError, code};
use serde_json::{Value, json};

use super::args::{grouped, size};
use super::wire::Frame;

/// The long side of a picture that goes to a model, in pixels. Anthropic's vision guide scales anything
/// above 1,568 down before the model sees it, so more would only cost time and bytes.
const SIDE: u32 = 1_568;
/// Bytes of a picture that goes to a model: 5 MiB is the providers' common limit for its base64 form,
/// which takes four characters for three bytes.
const SHOWN_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;
/// Bytes of a picture that is decoded at all.
pub(super) const FILE_BYTES: u64 = 32 << 20;
/// Pixels of a picture that is decoded: with eight bytes each, 400 MB of the child's 1 GiB.
const PIXELS: u64 = 50_000_000;
/// Bytes that a decoder may take for itself, and that the decoded picture may have.
const DECODED_BYTES: u64 = 512 << 20;

/// A kind of picture: its format, first bytes, name, and type on the wire.
#[derive(Debug)]
pub(super) struct Kind {
    format: ImageFormat,
    magic: &'static [u8],
    pub name: &'static str,
    pub mime: &'static str,
}

const KINDS: &[Kind] = &[
    Kind { format: ImageFormat::Png, magic: b"\x89PNG\r\n\x1a\n", name: "PNG", mime: "image/png" },
    Kind { format: ImageFormat::Jpeg, magic: b"\xff\xd8\xff", name: "JPEG", mime: "image/jpeg" },
    Kind { format: ImageFormat::Gif, magic: b"GIF87a", name: "GIF", mime: "image/gif" },
    Kind { format: ImageFormat::Gif, magic: b"GIF89a", name: "GIF", mime: "image/gif" },
    Kind { format: ImageFormat::WebP, magic: b"RIFF", name: "WebP", mime: "image/webp" },
];

/// Which kind of picture begins so; names do not count.
pub(super) fn kind(head: &[u8]) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| {
        head.starts_with(kind.magic)
            && match kind.format {
                ImageFormat::WebP => head.get(8..12) == Some(b"WEBP"),
                // Its letters can be a text's; sizes that are letters, too, are some 25,000 pixels each way.
                ImageFormat::Gif => !head.get(6..12).is_none_or(|sizes| sizes.iter().all(|byte| is_of_text(*byte))),
                _ => true,
            }
    })
}

fn is_of_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// A child's answer as blocks: what it is, and the picture. `file` is sent on when it may stay as it is.
pub(super) fn blocks(shown: &str, file: &[u8], frames: &[Frame]) -> Option<(String, Block)> {
    let Some(Frame::Facts(facts)) = frames.first() else { return None };
    let side = |name: &str| facts[name].as_u64();
    let data = match frames.get(1) {
        Some(Frame::Bytes(bytes)) => bytes.clone(),
        _ => file.to_vec(),
    };
    // By the bytes, not by the child's word.
    let (from, to) = (kind(file)?, kind(&data)?);
    let mut text = format!(
        "{shown}: {}, {} × {} px, {}",
        from.name,
        grouped(side("width")?),
        grouped(side("height")?),
        size(file.len() as u64)
    );
    if let Some(Frame::Bytes(_)) = frames.get(1) {
        let (width, height) = (grouped(side("shown_width")?), grouped(side("shown_height")?));
        text.push_str(&format!("; shown as {}, {width} × {height} px", to.name));
    }
    Some((text, Block::Image { mime: to.mime, data }))
}

/// In the child: checks a picture, and makes it smaller if it must be.
pub(super) fn parse(_: &Value, file: &[u8]) -> Result<Vec<Frame>, ToolError> {
    let kind = kind(file).ok_or_else(|| ToolError::new(code::UNSUPPORTED_TYPE, "not a picture"))?;
    let damaged = |why: &dyn std::fmt::Display| {
        ToolError::new(code::PARSER_FAILED, format!("the {} image is damaged: {why}", kind.name))
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(file), kind.format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| damaged(&error))?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > PIXELS || decoder.total_bytes() > DECODED_BYTES {
        let (width, height) = (grouped(width.into()), grouped(height.into()));
        let most = PIXELS / 1_000_000;
        return Err(ToolError::new(
            code::TOO_LARGE,
            format!("the {} image has {width} × {height} px; at most {most} megapixels are decoded", kind.name),
        ));
    }
    if width == 0 || height == 0 {
        return Err(damaged(&"it has no pixels"));
    }
    // The JPEG decoder fills what is missing with grey, which a model would take for the picture.
    if kind.format == ImageFormat::Jpeg && !file.windows(2).rev().any(|pair| pair == b"\xff\xd9") {
        return Err(damaged(&"it ends too early"));
    }
    let turned = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| damaged(&error))?;
    let facts = json!({"width": width, "height": height});
    if width.max(height) <= SIDE && file.len() <= SHOWN_BYTES && turned == Orientation::NoTransforms {
        return Ok(vec![Frame::Facts(facts)]);
    }
    picture = smaller(picture);
    picture.apply_orientation(turned);
    let (shown_width, shown_height) = (picture.width(), picture.height());
    let bytes = encode(&picture, kind.format, SHOWN_BYTES).map_err(|error| damaged(&error))?;
    let facts = json!({"width": width, "height": height, "shown_width": shown_width, "shown_height": shown_height});
    Ok(vec![Frame::Facts(facts), Frame::Bytes(bytes)])
}

/// Within the shown side, and eight bits deep.
fn smaller(picture: DynamicImage) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let long = width.max(height);
    let picture = if long <= SIDE {
        picture
    } else {
        let scaled = |side: u32| {
            u32::try_from((u64::from(side) * u64::from(SIDE) + u64::from(long) / 2) / u64::from(long))
                .unwrap_or(SIDE)
                .max(1)
        };
        let (to_width, to_height) = (scaled(width), scaled(height));
        // Averaging to twice the size first: the fine filter keeps a copy in floats, which for 50
        // megapixels would be most of the child's memory.
        let halfway = if long > 4 * SIDE {
            picture.thumbnail_exact((2 * to_width).min(width), (2 * to_height).min(height))
        } else {
            picture
        };
        halfway.resize_exact(to_width, to_height, FilterType::CatmullRom)
    };
    if picture.color().has_alpha() {
        DynamicImage::ImageRgba8(picture.into_rgba8())
    } else {
        DynamicImage::ImageRgb8(picture.into_rgb8())
    }
}

/// Photographs stay JPEG; what has sharp edges stays sharp, unless that makes it too large.
fn encode(picture: &DynamicImage, from: ImageFormat, max_bytes: usize) -> image::ImageResult<Vec<u8>> {
    if from != ImageFormat::Jpeg {
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, ImageFormat::Png)?;
        if png.get_ref().len() <= max_bytes {
            return Ok(png.into_inner());
        }
    }
    let flat = on_white(picture);
    let mut bytes = Vec::new();
    for quality in [85, 60, 30] {
        bytes.clear();
        flat.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
        if bytes.len() <= max_bytes {
            break;
        }
    }
    Ok(bytes)
}

/// JPEG has no transparency; black letters on nothing must not become black on black.
fn on_white(picture: &DynamicImage) -> RgbImage {
    let mut flat = RgbImage::new(picture.width(), picture.height());
    for (to, from) in flat.pixels_mut().zip(picture.to_rgba8().pixels()) {
        let [r, g, b, a] = from.0.map(u32::from);
        to.0 = [r, g, b].map(|c| ((c * a + 255 * (255 - a)) / 255) as u8);
    }
    flat
}

#[cfg(test)]
mod tests;
