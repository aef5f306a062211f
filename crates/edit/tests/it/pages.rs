//! Legacy pages by their letters: what people write in a source, and short texts in many languages.

use nika_edit::decode;

/// (page, text); all of these are read as they were written.
const TEXTS: &[(&str, &str)] = &[
    // Symbols in sources, few of them.
    ("windows-1252", "// 5 µm\nint x;\n"),
    ("windows-1252", "// ±5 V\n"),
    ("windows-1252", "// price £100\n"),
    ("windows-1252", "// « q »\n"),
    ("windows-1252", "// «q»\n"),
    ("windows-1252", "naïve\n"),
    ("windows-1252", "¡Hola!\n"),
    ("windows-1252", "¿Qué?\n"),
    ("windows-1252", "20°C ± 1\n"),
    ("windows-1252", "/* © 2004 Example Ltd. */\n"),
    ("windows-1252", "Acme® tools\n"),
    ("windows-1252", "see §4.2\n"),
    ("windows-1252", "area in km², volume in m³\n"),
    ("windows-1252", "n° 5, 1º, 2ª\n"),
    ("windows-1252", "price = 5 €\n"),
    ("windows-1252", "“quoted” – it’s so…\n"),
    ("windows-1252", "½ cup, ¼ spoon\n"),
    ("windows-1252", "3 × 4 ÷ 2\n"),
    ("windows-1252", "¥500, 20¢\n"),
    ("windows-1252", "• one\n• two\n"),
    ("windows-1252", "a·b, col·lecció\n"),
    // Words and names.
    ("windows-1252", "// author: José\n"),
    ("windows-1252", "// author: Müller\n"),
    ("windows-1252", "// author: François Lefèvre\n"),
    ("windows-1252", "// author: Søren\n"),
    ("windows-1252", "// Größe in Metern\n"),
    ("windows-1252", "señor\n"),
    ("windows-1252", "à la carte\n"),
    ("windows-1252", "créée\n"),
    ("windows-1252", "# coração e ação\n"),
    ("windows-1252", "AÇÃO\n"),
    ("windows-1252", "É fácil.\n"),
    ("windows-1252", "hyvää päivää\n"),
    ("windows-1252", "Åke, Östen och Märta\n"),
    ("windows-1252", "perché no\n"),
    ("windows-1252", "œuvre\n"),
    ("windows-1252", "ÜBERSICHT\n"),
    ("windows-1252", "Le café était fermé à cause de l'hiver, même les élèves étaient déçus.\nÇa va mieux.\n"),
    ("windows-1252", "Die Übertragung läuft über größere Strecken; für Änderungen müssen wir prüfen.\n"),
    ("windows-1252", "El niño comió más pan; ¿cuándo volverá mañana la señora?\n"),
    ("windows-1252", "Não há solução fácil: às vezes é só repetição e atenção aos detalhes.\n"),
    ("windows-1252", "På søndag går vi på tur, og så spiser vi blåbær og rømme.\n"),
    ("windows-1252", "Jag förstår inte varför båten är grön och ön är så långt bort.\n"),
    ("windows-1252", "Það er gott að vera hér, þó að veðrið sé ekki gott í dag.\n"),
    // Central and eastern Europe, Latin letters.
    ("windows-1250", "Zażółć gęślą jaźń. Źródło błędów leży w pamięci.\n"),
    ("ISO-8859-2", "Zażółć gęślą jaźń. Źródło błędów leży w pamięci.\n"),
    ("windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Všechno běží.\n"),
    ("ISO-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy. Všechno běží.\n"),
    ("windows-1250", "Árvíztűrő tükörfúrógép. Az időjárás erős széllel tört ránk, és eső jött.\n"),
    ("windows-1254", "Güneş doğdu, çocuklar bahçede oynuyor. İstanbul'da yağış bekleniyor, sığ sular ısındı.\n"),
    ("windows-1257", "Ąžuolas žaliuoja, šiandien ėjome į mišką. Čia gražu, ūkininkai dirba.\n"),
    // Other scripts.
    ("windows-1251", "// Привет, мир\n"),
    ("windows-1251", "int x; // счётчик строк\n"),
    ("windows-1251", "Это проверочный файл на русском языке, в нём достаточно букв.\n"),
    ("KOI8-U", "Это проверочный файл на русском языке, в нём достаточно букв.\n"),
    ("KOI8-U", "int x; // счётчик строк\n"),
    ("IBM866", "Это проверочный файл на русском языке, в нём достаточно букв.\n"),
    ("windows-1253", "Καλημέρα κόσμε, αυτό είναι ένα δοκιμαστικό αρχείο.\n"),
    ("windows-1253", "int x; // μετρητής γραμμών\n"),
    ("windows-1255", "שלום עולם, זה קובץ לבדיקה.\n"),
    ("windows-1256", "مرحبا بالعالم، هذا ملف للاختبار.\n"),
    ("windows-874", "สวัสดีชาวโลก นี่คือไฟล์ทดสอบ\n"),
    // Several bytes a character.
    ("Shift_JIS", "int x; // 行の数を数える\n"),
    ("Shift_JIS", "これは表示の試験です。\n"),
    ("EUC-JP", "int x; // 行の数を数える\n"),
    ("EUC-JP", "これは表示の試験です。\n"),
    ("GBK", "int x; // 计数器，记录行数\n"),
    ("GBK", "这是一个测试文件。\n"),
    ("GBK", "中文\n"),
    ("Big5", "int x; // 這是計數器的說明\n"),
    ("Big5", "這是一個用來測試的中文檔案。\n"),
    ("EUC-KR", "int x; // 줄의 수를 센다\n"),
    ("EUC-KR", "안녕하세요\n"),
    ("EUC-KR", "이것은 시험용 문서입니다.\n"),
];

/// Too short to tell: these are read otherwise, and nobody could say which is meant.
const BEYOND: &[(&str, &str)] = &[("windows-1251", "да\n"), ("Shift_JIS", "日本語\n")];

fn read_otherwise(around: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (label, text) in TEXTS {
        let page = encoding_rs::Encoding::for_label(label.as_bytes()).expect("a page");
        let whole = format!("{around}{text}{around}");
        let (bytes, _, lossy) = page.encode(&whole);
        assert!(!lossy, "{label}: {text}");
        let shown = decode(&bytes).expect("it is text");
        if shown.body != whole {
            wrong.push(format!("{label}, {}: {text:?}", shown.encoding.name()));
        }
    }
    wrong
}

#[test]
fn short_texts_are_read_as_they_were_written() {
    assert!(BEYOND.iter().all(|row| TEXTS.iter().any(|other| other.0 == row.0)), "the longer ones are told");
    let pages: std::collections::BTreeSet<&str> = TEXTS.iter().map(|row| row.0).collect();
    assert!(TEXTS.len() >= 60 && pages.len() >= 12);
    let lines = "let some_value = compute(1, \"text\"); // and so on\n".repeat(200);
    for around in ["", &lines] {
        let wrong = read_otherwise(around);
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TEXTS.len(), wrong.join("\n"));
    }
}

#[test]
fn a_few_words_in_a_source_are_mostly_enough() {
    // (words, of 100 western pieces at least so many are read right, of 100 others)
    for (count, western, others) in [(1, 97, 55), (2, 97, 75), (4, 97, 80), (8, 100, 85)] {
        let mut right = [(0, 0); 2];
        for (label, text) in TEXTS.iter().filter(|row| row.1.chars().count() > 40) {
            let page = encoding_rs::Encoding::for_label(label.as_bytes()).expect("a page");
            let words: Vec<&str> = text.split_whitespace().collect();
            for piece in words.windows(count).map(|some| format!("x = 1 # {}\n", some.join(" "))) {
                if !piece.is_ascii() {
                    let row = &mut right[usize::from(*label != "windows-1252")];
                    row.0 += usize::from(decode(&page.encode(&piece).0).is_ok_and(|shown| shown.body == piece)) * 100;
                    row.1 += 1;
                }
            }
        }
        println!("{count}: {right:?}");
        assert!(right[0].0 >= western * right[0].1 && right[1].0 >= others * right[1].1, "{count} words: {right:?}");
    }
}
