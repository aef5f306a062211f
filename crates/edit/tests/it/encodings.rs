//! Text in any encoding is read as text and edited without touching other bytes.

use nika_edit::{EditError, Ending, NotTextReason, Replace, decode, lines, plan};

fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

fn utf32(text: &str, big_endian: bool) -> Vec<u8> {
    text.chars()
        .flat_map(|c| if big_endian { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() })
        .collect()
}

fn page(label: &str, text: &str) -> Vec<u8> {
    let page = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
    let (bytes, _, lossy) = page.encode(text);
    assert!(!lossy, "{label}");
    bytes.into_owned()
}

const JAPANESE: &str =
    "日本語の文章です。これは表示の試験で、能力を確かめます。\r\nソフトウェアの説明書をここに書きます。\r\n";
const CHINESE: &str = "这是一个用来测试的中文文件。我们需要足够多的文字来判断它的编码。\n第二行也是中文。\n";
const TAIWAN: &str = "這是一個用來測試的中文檔案。我們需要足夠的文字來判斷它的編碼。\n第二行功能許可蓋章。\n";
const KOREAN: &str = "이것은 시험용 한국어 문서입니다. 인코딩을 판별하기에 충분한 글이 필요합니다.\n둘째 줄입니다.\n";
const RUSSIAN: &str = "Это проверочный файл на русском языке, в нём достаточно букв для определения.\nВторая строка.\n";
const FRENCH: &str = "Le café était fermé à cause de l'hiver, même les élèves étaient déçus.\nÇa va mieux.\n";

#[test]
fn encodings_are_recognised_and_edited_in_place() {
    let marked = |mark: &[u8], body: Vec<u8>| [mark, &body].concat();
    let cases: Vec<(&str, Vec<u8>, &str, &str, &str)> = vec![
        ("UTF-8", FRENCH.into(), FRENCH, "café", "thé"),
        ("UTF-8", marked(b"\xef\xbb\xbf", FRENCH.into()), FRENCH, "café", "→"),
        ("UTF-16LE", marked(b"\xff\xfe", utf16(JAPANESE, false)), JAPANESE, "表示", "😀\n表"),
        ("UTF-16BE", marked(b"\xfe\xff", utf16(JAPANESE, true)), JAPANESE, "表示", "x"),
        (
            "UTF-16LE",
            utf16("plain text\r\nwith no mark\r\n", false),
            "plain text\r\nwith no mark\r\n",
            "text\nwith",
            "文\nwithout",
        ),
        ("UTF-16BE", utf16("plain text\nwith no mark\n", true), "plain text\nwith no mark\n", "no", "→"),
        // 😀 and 𐀀 are pairs of units of which one has a NUL as its low byte.
        ("UTF-16LE", utf16("Hello 😀\nthird line\n", false), "Hello 😀\nthird line\n", "third", "𐀀"),
        ("UTF-16BE", utf16("Hello 😀𐀀\nthird line\n", true), "Hello 😀𐀀\nthird line\n", "third", "3rd"),
        ("UTF-32LE", marked(b"\xff\xfe\0\0", utf32(FRENCH, false)), FRENCH, "hiver", "été"),
        ("UTF-32BE", marked(b"\0\0\xfe\xff", utf32(FRENCH, true)), FRENCH, "hiver", "été"),
        ("UTF-32LE", utf32("no mark here\n", false), "no mark here\n", "mark", "日"),
        ("UTF-32BE", utf32("no mark here\n", true), "no mark here\n", "mark", "日"),
        ("Shift_JIS", page("shift_jis", JAPANESE), JAPANESE, "ソフト", "表"),
        ("EUC-JP", page("euc-jp", JAPANESE), JAPANESE, "説明書", "本"),
        ("ISO-2022-JP", page("iso-2022-jp", JAPANESE), JAPANESE, "説明書", "本\n日"),
        ("GBK", page("gbk", CHINESE), CHINESE, "中文文件", "文"),
        ("Big5", page("big5", TAIWAN), TAIWAN, "功能許可", "蓋"),
        ("EUC-KR", page("euc-kr", KOREAN), KOREAN, "시험용", "둘"),
        ("KOI8-U", page("koi8-u", RUSSIAN), RUSSIAN, "русском", "языке"),
        ("windows-1251", page("windows-1251", RUSSIAN), RUSSIAN, "русском", "языке"),
        ("windows-1252", page("windows-1252", FRENCH), FRENCH, "élèves", "à €"),
    ];
    for (name, bytes, text, old, new) in cases {
        let shown = decode(&bytes).unwrap();
        assert_eq!((shown.encoding.name(), &*shown.body, shown.invalid), (name, text, 0));
        let made = plan(&bytes, &Replace { old, new, all: false }).unwrap_or_else(|e| panic!("{name}: {e}"));
        let after = made.apply(&bytes);
        let old_here = if text.contains("\r\n") { old.replace('\n', "\r\n") } else { old.to_owned() };
        let new_here = if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new.to_owned() };
        let expected = text.replacen(&old_here, &new_here, 1);
        assert_eq!(shown.encoding.decode(&after[shown.bom..]), expected, "{name}");
        assert_eq!(after[..shown.bom], bytes[..shown.bom]);
        assert_eq!(made.inverse(&bytes).apply(&after), bytes, "{name}");
        assert!(
            made.diff(&bytes, "f")
                .contains(&format!("-{}", text.lines().find(|l| l.contains(old.lines().next().unwrap())).unwrap())),
            "{name}"
        );
    }
}

#[test]
fn trail_bytes_are_no_characters() {
    // 表 is 0x95 0x5C in Shift_JIS: its second byte is a backslash's.
    let bytes = page("shift_jis", &format!("{JAPANESE}表\\n"));
    let made = plan(&bytes, &Replace { old: "\\", new: "/", all: true }).unwrap();
    assert_eq!((made.count, made.spans[0].old.clone()), (1, bytes.len() - 2..bytes.len() - 1));
}

#[test]
fn what_the_encoding_cannot_hold_is_refused_by_name() {
    let bytes = page("windows-1252", FRENCH);
    let refused = plan(&bytes, &Replace { old: "café", new: "caf→é", all: false }).unwrap_err();
    assert_eq!(refused, EditError::Unencodable { character: '→', encoding: "windows-1252" });
    assert!(refused.to_string().starts_with("'→' (U+2192) in new_string has no place in windows-1252"));
    let bytes = page("shift_jis", JAPANESE);
    // The encoder would write a backslash.
    assert!(matches!(
        plan(&bytes, &Replace { old: "文章", new: "¥", all: false }),
        Err(EditError::Unencodable { character: '¥', .. })
    ));
}

#[test]
fn broken_bytes_stay() {
    let bytes = b"caf\xc3\xa9 \xff th\xc3\xa9\nabc\n";
    let shown = decode(bytes).unwrap();
    assert_eq!((shown.encoding.name(), &*shown.body, shown.invalid), ("UTF-8", "café \u{fffd} thé\nabc\n", 1));
    let edit = |old, new| plan(bytes, &Replace { old, new, all: false }).map(|made| made.apply(bytes));
    assert_eq!(edit("abc", "x").unwrap(), b"caf\xc3\xa9 \xff th\xc3\xa9\nx\n");
    // Sent back as shown, the broken byte is itself again, also where text moves around it.
    assert_eq!(
        edit("café \u{fffd} thé", "CAFÉ \u{fffd} THÉ").unwrap(),
        "CAFÉ ? THÉ\nabc\n".bytes().map(|b| if b == b'?' { 0xff } else { b }).collect::<Vec<_>>()
    );
    assert_eq!(edit("é \u{fffd} t", "-").unwrap(), b"caf-h\xc3\xa9\nabc\n");
    assert_eq!(edit("é \u{fffd} t", "\u{fffd}\u{fffd}"), Err(EditError::BrokenBytes { encoding: "UTF-8" }));
}

#[test]
fn odd_tails_of_wide_encodings_stay() {
    let mut bytes = [&b"\xff\xfe"[..], &utf16("hello\nworld", false)].concat();
    bytes.push(0x41);
    let made = plan(&bytes, &Replace { old: "hello", new: "bye", all: false }).unwrap();
    assert_eq!(made.apply(&bytes), [&b"\xff\xfe"[..], &utf16("bye\nworld", false), b"A"].concat());
}

#[test]
fn binary_is_refused_with_a_guess() {
    for (bytes, kind) in [
        (&b"\x7fELF\x02\x01\x01\0"[..], "an ELF program or library"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"PK\x03\x04\x14\0", "a ZIP archive (or an office document, JAR or wheel)"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x1f\x8b\x08\0", "gzip data"),
        (b"SQLite format 3\0", "an SQLite database"),
    ] {
        assert_eq!(decode(bytes).unwrap_err().kind, Some(kind));
    }
    let refused = decode(b"abc\0def").unwrap_err();
    assert_eq!(refused.reason, NotTextReason::Nul { at: 3 });
    assert_eq!(refused.to_string(), "not text: a NUL byte at offset 3");
    assert!(
        decode(&(1..=255).cycle().take(4000).map(|n: u8| n.wrapping_mul(37)).filter(|b| *b > 0).collect::<Vec<_>>())
            .is_err()
    );
    assert!(decode(b"\x1b[31mred\x1b[0m\n").is_ok(), "colours are text");
}

#[test]
fn ascii_with_nuls_is_no_wide_text() {
    // Each NUL stands at an odd offset, as in UTF-16: names as `find -print0` and `/proc/PID/environ` give them.
    for bytes in [
        &b"abc\0def\n"[..],
        b"abc\0def\0",
        b"abc\0d\0",
        b"a.c\0src/b.c\0lib/x.h\0",
        b"HOME=/home/me\0PATH=/usr/bin:/bin\0",
        "größer\0abc\0Ärmel\0".as_bytes(),
        b"\0abc\0def",
    ] {
        assert!(matches!(decode(bytes).map_err(|no| no.reason), Err(NotTextReason::Nul { .. })), "{bytes:?}");
    }
    for (text, big) in [
        ("hello\nworld\n", false),
        ("x\n", true),
        ("Привет, мир\n", false),
        ("こんにちは、世界。かいもの\n", false),
        ("中文文本，第一行\n第二行\n", true),
        ("안녕하세요 여러분\n", false),
        ("“Wait…” – 5 €\n", false),
        // The first of their blocks, which have a NUL as their low byte.
        ("Files:\n├── src\n─────\n", false),
        ("┌──────────────────┐\n│ a table of lines │\n└──────────────────┘\n", false),
        ("∀x ∈ ℝ\n", true),
        ("☀ sun\n", false),
        ("Āda, Ѐ and ἀρχή\n", true),
    ] {
        for big in [big, !big] {
            let bytes = utf16(text, big);
            assert_eq!(&*decode(&bytes).unwrap().body, text);
        }
    }
}

#[test]
fn one_nul_makes_no_wide_text() {
    let lines = "x = 1\n".repeat(5000);
    let latin = page("windows-1252", &"naïve = 1 µ\n".repeat(300));
    for (text, nul) in [
        (lines.as_bytes(), &b"\0\n"[..]),
        (lines.as_bytes(), b"\n\0"),
        (lines.as_bytes(), b"\0a\0b\0c\0d"),
        ("Привет, мир\n".repeat(40).as_bytes(), b"\0\n"),
        (&latin, b"\0\n"),
        (b"if (a) return 1;\n", b"\0\n"),
    ] {
        for at in [0, text.len() / 12 * 6, text.len()] {
            let bytes = [&text[..at], nul, &text[at..]].concat();
            let bytes = if bytes.len() % 2 == 0 { bytes } else { [&bytes[..], b" "].concat() };
            assert!(
                matches!(decode(&bytes).map_err(|no| no.reason), Err(NotTextReason::Nul { .. })),
                "{nul:?} at {at}"
            );
        }
    }
    // Few ASCII characters in it, and no mark: still UTF-16.
    for text in ["日本語の文章です。これは表示の試験で、能力を確かめます。\n", "Всё хорошо, дядя.\n", "• a\n• b\n"]
    {
        for big in [true, false] {
            let bytes = utf16(&text.repeat(20), big);
            assert_eq!(&*decode(&bytes).unwrap().body, text.repeat(20));
        }
    }
}

#[test]
fn random_bytes_are_seldom_text() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut byte = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    // (length, of 1,000 at most so many)
    for (length, most) in [(16, 220), (32, 50), (64, 12), (256, 0)] {
        let taken = (0..1000).filter(|_| decode(&(0..length).map(|_| byte()).collect::<Vec<u8>>()).is_ok()).count();
        println!("{length}: {taken}");
        assert!(taken <= most, "{taken} of 1,000 with {length} bytes");
    }
    for short in [&b"caf\xe9"[..], b"\xb5m\n", b"\x1b[1m\xe9t\xe9\x1b[0m\n", b"\x0c\n\xe9"] {
        assert!(decode(short).is_ok(), "{short:?}");
    }
}

#[test]
fn utf8_is_borrowed_and_described() {
    let text = decode("a\r\nb\nc".as_bytes()).unwrap();
    assert!(matches!(text.body, std::borrow::Cow::Borrowed(_)));
    assert_eq!(
        (text.endings.name(), text.endings.lf, text.endings.crlf, text.endings.final_newline),
        ("mixed", 1, 1, false)
    );
    assert_eq!((text.endings.lines(false), text.endings.majority()), (3, Some(Ending::Lf)));
    assert_eq!(decode(b"").unwrap().endings.name(), "none");
}

#[test]
fn lines_are_cut_between_characters() {
    let shown: Vec<_> =
        lines("日本語\r\nab\n", 2).map(|line| (line.text.into_owned(), line.cut, line.ending)).collect();
    assert_eq!(shown, [("日本… [+1 chars]".to_owned(), 1, Some(Ending::Crlf)), ("ab".to_owned(), 0, Some(Ending::Lf))]);
}
