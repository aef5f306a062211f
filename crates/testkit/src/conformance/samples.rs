//! The smallest picture and the smallest sound.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A picture, as bytes.
pub(super) fn png() -> Vec<u8> {
    STANDARD.decode(PNG).expect("valid base64")
}

/// The same as text.
pub(super) fn png_base64() -> &'static str {
    PNG
}

/// A hundredth of a second of silence: 80 samples at 8 kHz, 8 bit, mono.
pub(super) fn wav() -> Vec<u8> {
    const SAMPLES: u32 = 80;
    let mut wav = Vec::new();
    wav.extend_from_slice(b"RIFF");
    wav.extend_from_slice(&(36 + SAMPLES).to_le_bytes());
    wav.extend_from_slice(b"WAVEfmt ");
    for field in [16u32, 0x0001_0001, 8_000, 8_000, 0x0008_0001] {
        wav.extend_from_slice(&field.to_le_bytes());
    }
    wav.extend_from_slice(b"data");
    wav.extend_from_slice(&SAMPLES.to_le_bytes());
    wav.resize(wav.len() + SAMPLES as usize, 0x80);
    wav
}
