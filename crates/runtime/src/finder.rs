//! Finding tools by what they do: BM25 over names, titles, descriptions, terms and parameters.
//!
//! The collection is a few dozen short texts, so everything is counted when asked. Words are folded to
//! lower case and to a plain stem, so that *deleting files* finds *delete a file*, and a word also finds what others
//! call the same, for less.

use std::collections::{BTreeSet, HashMap};

use nika_contract::AnyTool;
use serde_json::Value;

use crate::synonyms::SYNONYMS;

/// How fast a repeated word stops counting, and how much a long text is held against it. The usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How much a word counts that only means the same as what was asked for: a third, so that among tools for one thing
/// that of the very word comes first.
const ALIKE: f64 = 0.3;
/// What each word of a name adds where all of them are meant. In a family of tools (`task_…`) all have the common word,
/// and the one whose other word was said is wanted.
const NAMED: f64 = 1.0;

/// How much a word counts by where it stands.
const WEIGHTS: &[(Field, f64)] = &[
    (Field::Name, 4.0),
    (Field::Terms, 3.0),
    (Field::Title, 2.5),
    (Field::Parameters, 0.7),
    (Field::Description, 1.0),
];

#[derive(Clone, Copy)]
enum Field {
    Name,
    Title,
    Terms,
    Description,
    Parameters,
}

/// Words that say nothing about a tool.
const STOP: &[&str] = &[
    "a",
    "about",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "is",
    "it",
    "its",
    "just",
    "me",
    "my",
    "no",
    "of",
    "on",
    "only",
    "or",
    "our",
    "please",
    "s",
    "should",
    "so",
    "some",
    "something",
    "still",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "tool",
    "us",
    "use",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "which",
    "will",
    "with",
    "would",
    "you",
];

/// An index over some tools.
#[derive(Debug)]
pub struct Finder {
    documents: Vec<Document>,
    alike: Vec<Vec<String>>,
    frequency: HashMap<String, usize>,
    mean_length: f64,
}

#[derive(Debug)]
struct Document {
    name: String,
    named: BTreeSet<String>,
    words: HashMap<String, f64>,
    length: f64,
}

impl Finder {
    /// Indexes `tools`.
    pub fn new<'a>(tools: impl Iterator<Item = &'a dyn AnyTool>) -> Finder {
        let documents: Vec<Document> = tools.map(Document::new).collect();
        let mut frequency = HashMap::new();
        for word in documents.iter().flat_map(|document| document.words.keys()) {
            *frequency.entry(word.clone()).or_insert(0) += 1;
        }
        let total: f64 = documents.iter().map(|document| document.length).sum();
        let alike = SYNONYMS.iter().map(|line| line.split(' ').map(stem).map(str::to_owned).collect()).collect();
        Finder { mean_length: total / documents.len().max(1) as f64, documents, alike, frequency }
    }

    /// Names of tools that fit `query`, best first.
    pub fn search(&self, query: &str) -> Vec<&str> {
        let asked: Vec<Asked> = words(query).into_iter().map(|word| self.asked(word)).collect();
        let mut ranked: Vec<(f64, &str)> = self
            .documents
            .iter()
            .map(|document| (self.score(document, &asked), document.name.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().map(|(_, name)| name).collect()
    }

    fn asked(&self, word: String) -> Asked {
        let lines = self.alike.iter().filter(|line| line.contains(&word));
        let alike = lines.flatten().filter(|other| **other != word).cloned().collect();
        Asked { word, alike }
    }

    fn score(&self, document: &Document, asked: &[Asked]) -> f64 {
        let words = asked.iter().map(|asked| {
            let alike = asked.alike.iter().map(|word| ALIKE * self.weight(document, word));
            alike.fold(self.weight(document, &asked.word), f64::max)
        });
        let is_named = document.named.iter().all(|word| asked.iter().any(|asked| asked.means(word)));
        let named = if is_named { NAMED * document.named.len() as f64 } else { 0.0 };
        words.sum::<f64>() + named
    }

    /// What one word says for a tool.
    fn weight(&self, document: &Document, word: &str) -> f64 {
        let Some(often) = document.words.get(word) else { return 0.0 };
        let (count, in_documents) = (self.documents.len() as f64, self.frequency[word] as f64);
        let rarity = (1.0 + (count - in_documents + 0.5) / (in_documents + 0.5)).ln();
        let held_back = K1 * (1.0 - B + B * document.length / self.mean_length);
        rarity * often * (K1 + 1.0) / (often + held_back)
    }
}

/// A word of a query.
struct Asked {
    word: String,
    /// What means the same.
    alike: BTreeSet<String>,
}

impl Asked {
    fn means(&self, word: &str) -> bool {
        self.word == word || self.alike.contains(word)
    }
}

impl Document {
    fn new(tool: &dyn AnyTool) -> Document {
        let spec = tool.spec();
        let mut counts: HashMap<String, f64> = HashMap::new();
        let mut length = 0.0;
        for (field, weight) in WEIGHTS {
            let text = match field {
                Field::Name => spec.name.to_owned(),
                Field::Title => spec.title.to_owned(),
                Field::Terms => spec.terms.join(" "),
                Field::Description => tool.description().to_owned(),
                Field::Parameters => parameters(tool.input_schema()),
            };
            for word in words(&text) {
                *counts.entry(word).or_insert(0.0) += weight;
                length += weight;
            }
        }
        let named = words(spec.name).into_iter().collect();
        Document { name: spec.name.to_owned(), named, words: counts, length }
    }
}

fn parameters(schema: &Value) -> String {
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return String::new() };
    let describe = |(name, field): (&String, &Value)| {
        format!("{name} {}", field.get("description").and_then(Value::as_str).unwrap_or_default())
    };
    fields.iter().map(describe).collect::<Vec<_>>().join(" ")
}

/// The words of a text that can tell tools apart, stemmed; where none can, all of them: *which tool can do this* asks for
/// tools.
fn words(text: &str) -> Vec<String> {
    let all = split(text);
    let telling: Vec<String> =
        all.iter().filter(|word| !STOP.contains(&word.as_str())).map(|w| stem(w).to_owned()).collect();
    if telling.is_empty() { all.iter().map(|word| stem(word).to_owned()).collect() } else { telling }
}

/// The words of a text. What a hyphen joins is also one word: *to-do* is what others write *todo*.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for chunk in text.split_whitespace() {
        let chunk = chunk.to_lowercase().replace("'s", "").replace("’s", "");
        let from = words.len();
        words.extend(chunk.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned));
        if chunk.contains('-') && words.len() > from + 1 {
            words.push(words[from..].concat());
        }
    }
    words
}

/// Endings that do not change what a word is about. The first that leaves a word is cut.
const ENDINGS: &[&str] =
    &["ications", "ication", "ings", "ing", "ies", "ions", "ion", "ers", "er", "ed", "es", "s", "y", "e"];

/// A word without its endings. There may be two: *answered*, *answers* and *answer* are one.
fn stem(word: &str) -> &str {
    cut(cut(word))
}

fn cut(word: &str) -> &str {
    let cut =
        ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= 3)).unwrap_or(word);
    // Doubled letters before an ending: "getting" and "get".
    let mut last = cut.char_indices().rev();
    match (last.next(), last.next()) {
        (Some((at, a)), Some((_, b))) if a == b && cut.len() > 3 && cut != word => &cut[..at],
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet() {
        for (a, b) in [
            ("edits", "editing"),
            ("files", "file"),
            ("delete", "deleting"),
            ("directory", "directories"),
            ("searches", "search"),
            ("clarify", "clarification"),
            ("answered", "answer"),
            ("planning", "plan"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
    }

    #[test]
    fn a_hyphen_joins_and_a_query_of_common_words_is_still_a_query() {
        assert!(words("to-do list").contains(&"todo".to_owned()));
        assert_eq!(words("a connector's function"), ["connector", "function"].map(stem));
        assert_eq!(words("which tool can do this"), ["which", "tool", "can", "do", "this"].map(stem));
        assert_eq!(words(""), Vec::<String>::new());
    }
}
