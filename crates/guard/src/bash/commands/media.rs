//! Converters of pictures, sound and graphs: what they do with files of the workspace is code in the sandbox.
//!
//! Words with a prefix (`tcp:`, `ephemeral:`, `|cmd`, `@list`) are not files, and are not followed. Filters are: some of them
//! read and write files of their own, or load libraries, so each has to be one that only works on what it is given.

use super::super::judge::{Arg, Judge, Word};
use super::effects::run;
use super::spec::{Parsed, lists};

/// Words of all of them that only print.
const ALONE: &str = "-version --version -V -codecs -formats -encoders -list";

/// Words of ffmpeg with which it lists what it knows.
const LISTED: &str = "-h -help --help -L -buildconf -muxers -demuxers -devices -decoders -encoders -codecs -formats -bsfs \
    -protocols -filters -pix_fmts -layouts -sample_fmts -dispositions -colors -hwaccels -version";

/// Formats that are files.
const FORMATS: &str = "mp4 mp3 null image2 wav webm gif matroska mov flac ogg mpegts rawvideo s16le";

/// Whether an option of ffmpeg takes filters.
fn takes_filters(option: &str) -> bool {
    lists("-vf -af -lavfi -filter -filter_complex", option) || option.starts_with("-filter:")
}

/// Whether a word names a file of commands, filters or other files, a part of the program, or a screen: `x.msl`,
/// `-filter_script`, `-/vf`, `a.m3u8`, `-process`, `x:`.
fn is_script(word: &str) -> bool {
    let option = ["-filter_script", "-filter_complex_script", "-/", "-dump_attachment", "-process"];
    let end = word.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    option.iter().any(|option| word.starts_with(option))
        || word == "x:"
        || word.contains('.') && lists("msl mvg ffconcat concat m3u m3u8 sdp pls xspf", &end)
}

/// Filters that change what passes through them, and take nothing but numbers, colours and words.
const FILTERS: &str = "fps scale crop pad setpts setsar setdar transpose hflip vflip rotate format fade trim split overlay \
    hstack vstack xstack concat palettegen paletteuse select eq hue boxblur gblur unsharp yadif loop null tile thumbnail \
    drawbox colorkey chromakey minterpolate zoompan reverse negate atrim asplit asetpts afade volume atempo aresample \
    aformat amix amerge aselect anull areverse loudnorm silenceremove highpass lowpass equalizer pan adelay apad \
    showwavespic showwaves showspectrumpic";

/// Filters that make pictures and sound out of nothing.
const SOURCES: &str =
    "testsrc testsrc2 color smptebars smptehdbars nullsrc mandelbrot gradients sine anullsrc anoisesrc";

/// What they do with the files that are named.
pub(super) fn media(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = &parsed.operands;
    let is_ffmpeg = parsed.path.first().is_some_and(|name| name == "ffmpeg");
    let asked = if is_ffmpeg { LISTED } else { ALONE };
    let banner = |word: &&Arg| is_ffmpeg && word.exact() == Some("-hide_banner");
    if let [one] = words.iter().filter(|word| !banner(word)).collect::<Vec<_>>().as_slice()
        && one.exact().is_some_and(|text| lists(asked, text))
    {
        return;
    }
    let told = |at: usize| is_ffmpeg && is_told(words, at) || !is_ffmpeg && words[at].exact().is_some_and(is_drawn);
    let format = |at: usize| {
        let named = words.get(at + 1).and_then(Arg::exact).unwrap_or_default();
        let file = words[at].exact() == Some("-f") && (lists(FORMATS, named) || is_ffmpeg && named == "lavfi");
        file || !matches!(words[at].exact(), Some("-f" | "-protocol_whitelist" | "-script"))
    };
    let filters =
        |at: usize| is_ffmpeg && at.checked_sub(1).and_then(|before| words[before].exact()).is_some_and(takes_filters);
    let fits = |at: usize| {
        let plain = !filters(at) && !words[at].exact().is_some_and(is_script) && is_plain(&words[at]);
        format(at) && (told(at) || plain || is_found(&words[at]))
    };
    if words.is_empty() || !(0..words.len()).all(fits) || is_ffmpeg && !takes_sources(words) {
        judge.opaque(format!("what `{}` does cannot be said", parsed.path.join(" ")));
    }
    run(parsed, judge);
}

/// Whether a word is a file by its name, an option or a number.
fn is_plain(word: &Arg) -> bool {
    let numbers = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b":.=x*/%+-<>!^".contains(&byte));
    word.exact().is_some_and(|text| {
        let named = text.split_once('=').map_or(text, |(_, value)| value);
        let short = text.starts_with('-') && text.len() < 24 && !text.contains('/');
        !text.contains(['|', '@', '`', '$', ';', '\n', '(', ',', '['])
            && (short || numbers(named) || !text.contains(':'))
    })
}

/// Names that a pattern finds here, or that end with what a command prints.
fn is_found(word: &Arg) -> bool {
    match &word.word {
        Word::Glob { pattern, prefix } => {
            let odd = ['|', '@', '`', '$', ';', '\n', '(', ',', ':', '['];
            !pattern.contains(odd) && !pattern.contains("..") && !prefix.starts_with(['-', '/'])
        }
        _ => false,
    }
}

/// Whether the word is the value of an option of ffmpeg that names filters, or streams of its inputs.
fn is_told(words: &[Arg], at: usize) -> bool {
    let Some(text) = words[at].exact() else { return false };
    let option = at.checked_sub(1).and_then(|before| words[before].exact()).unwrap_or_default();
    match option {
        "-map" => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"[]:?_".contains(&byte)),
        "-i" => names_source(words, at - 1) && is_graph(text, SOURCES),
        _ => takes_filters(option) && is_graph(text, FILTERS),
    }
}

/// Whether the input that `-i` at this place begins is one of filters: `-f lavfi -i testsrc`.
fn names_source(words: &[Arg], at: usize) -> bool {
    let own = words[..at].rsplit(|word| word.exact() == Some("-i")).next().unwrap_or_default();
    own.windows(2).any(|pair| pair[0].exact() == Some("-f") && pair[1].exact() == Some("lavfi"))
}

/// Whether every input of filters is known to be made out of nothing.
fn takes_sources(words: &[Arg]) -> bool {
    let inputs = (0..words.len()).filter(|at| words[*at].exact() == Some("-i"));
    let known = |at: usize| words.get(at + 1).and_then(Arg::exact).is_some_and(|text| is_graph(text, SOURCES));
    inputs.into_iter().all(|at| !names_source(words, at) || known(at))
}

/// Whether a description of filters has none but these, each with nothing but numbers, colours and words. One with commas
/// in an expression falls apart here and is not known.
fn is_graph(text: &str, filters: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_=:.+-*/|()' ".contains(c);
    let known = |filter: &str| {
        let mut rest = filter.trim();
        while let Some((label, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_".contains(&byte)) {
                return false;
            }
            rest = behind;
        }
        let rest = rest.split('[').next().unwrap_or_default();
        let name = rest.split('=').next().unwrap_or_default().trim();
        // `paletteuse` writes what it did to a file.
        lists(filters, name) && rest.chars().all(plain) && !rest.contains("debug_kdtree")
    };
    let labels = |filter: &str| filter.chars().all(|c| plain(c) || "[]".contains(c));
    text.split([',', ';']).all(|filter| known(filter) && labels(filter))
}

/// A picture that is drawn: of one colour, or one that every ImageMagick has in it.
fn is_drawn(text: &str) -> bool {
    let colour = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"#-".contains(&byte));
    match text.split_once(':') {
        Some(("xc" | "canvas" | "gradient" | "radial-gradient" | "plasma", of)) => colour(of),
        Some(("rose" | "logo" | "wizard" | "granite" | "null", "")) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_known_by_their_names() {
        for text in [
            "fps=10,scale=320:-1",
            "[0:v]scale=640:480[v]",
            "[0:v][1:v]hstack=inputs=2[v];[0:a]volume=0.5[a]",
            "fps=15, scale=480:-1:flags=lanczos, split [a][b]; [a] palettegen [p]; [b][p] paletteuse",
            "setpts=0.5*PTS",
        ] {
            assert!(is_graph(text, FILTERS), "{text}");
        }
        for text in [
            "movie=/etc/passwd",
            "scale=1:1,subtitles=a.srt",
            "drawtext=textfile=.env",
            "metadata=print:file=x",
            "[0:v]frei0r=x",
            "select='eq(n,0)'",
            "scale@x=1,movie=y",
            "scale=1[v];amovie=x[a]",
            "",
        ] {
            assert!(!is_graph(text, FILTERS), "{text}");
        }
    }
}
