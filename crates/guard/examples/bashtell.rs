//! Says what a shell command would do: `cargo run -p nika-guard --example bashtell -- 'ls | wc -l'`.
//! Several commands may be given; with none, every line of standard input is one. Nothing is run.

use std::io::BufRead;
use std::path::PathBuf;

use nika_guard::bash::{Outcome, Site, analyse};

fn main() {
    let site = Site::on_paper(vec!["/w/repo".into()], PathBuf::from("/w/repo"), PathBuf::from("/home/dev"));
    let mut texts: Vec<String> = std::env::args().skip(1).collect();
    if texts.is_empty() {
        texts = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    }
    for text in texts {
        let analysis = analyse(&text, &site);
        println!("{text:?}\n  {:?}, last {:?}", analysis.kind, analysis.last_command.unwrap_or_default());
        analysis.facts.iter().for_each(|fact| println!("  {fact:?}"));
        for finding in analysis.findings.iter().filter(|finding| finding.outcome > Outcome::Passthrough) {
            println!("  {} at {:?}: {}", finding.code, finding.span, finding.why);
        }
        if let Some(why) = analysis.destructive {
            println!("  warning: {why}");
        }
        if let Some(canonical) = analysis.canonical.filter(|canonical| *canonical != text) {
            println!("  runs as {canonical:?}");
        }
    }
}
