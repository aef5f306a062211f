//! Guarded places, servers and rights that builds, packers and git reach in their own ways: what workspace mode asks
//! about, and what read-only mode does; and what people type beside it. The rows are data: none of them is run.
//!
//! A line with `#` names the class of the lines below it.

mod by_class;
#[allow(dead_code, reason = "other tests use the rest")]
mod judging;

use by_class::{classes, each};
use judging::{allowed_in_workspace, allowed_read_only, site};
use nika_guard::bash::{Analysis, Target, analyse};
use nika_guard::{Effect, ExecKind, Place, classify};

#[test]
fn nothing_guarded_or_far_away_is_free() {
    each(include_str!("data/bash/not_free.txt"), |analysis| !allowed_in_workspace(analysis));
}

#[test]
fn nothing_that_is_free_reads_only_by_its_name() {
    each(include_str!("data/bash/not_read.txt"), |analysis| !allowed_read_only(analysis));
}

#[test]
fn a_secret_that_is_named_is_read() {
    let secret = |target: &Target| classify(&target.path).secret.is_some();
    each(include_str!("data/bash/secrets_named.txt"), |analysis| analysis.touched().reads.iter().any(secret));
}

#[test]
fn what_is_fetched_and_run_is_refused() {
    each(include_str!("data/bash/fetched_and_run.txt"), |analysis| analysis.kind == ExecKind::Forbidden);
}

#[test]
fn what_is_fetched_and_kept_is_not() {
    each(include_str!("data/bash/fetched_and_kept.txt"), |analysis| analysis.kind != ExecKind::Forbidden);
}

#[test]
fn whatever_is_asked_about_has_a_reason() {
    let place = |target: &Target| Place::outside(target.path.clone());
    let told = |effect: &Effect| !matches!(effect, Effect::Exec(exec) if exec.kind > ExecKind::WritesInside && exec.why.is_empty());
    for text in [include_str!("data/bash/not_read.txt"), include_str!("data/bash/not_free.txt")] {
        each(text, |analysis| analysis.effects(&place).all.iter().all(told));
    }
}

/// Of a thousand texts at most ten may need a question.
fn share(text: &'static str, allowed: fn(&Analysis) -> bool) {
    let site = site();
    let texts: Vec<&str> = classes(text).into_iter().flat_map(|(_, texts)| texts).collect();
    let judged = texts.iter().map(|text| (text, analyse(text, &site)));
    let asked: Vec<_> = judged.filter(|(_, analysis)| !allowed(analysis)).collect();
    for (text, analysis) in &asked {
        println!("{text:?}\n      {:?} {:?}", analysis.kind, analysis.facts);
    }
    println!("{} of {} texts need a question", asked.len(), texts.len());
    assert!(texts.len() >= 150 && asked.len() * 1000 <= texts.len() * 10, "{} of {}", asked.len(), texts.len());
}

#[test]
fn exploring_needs_no_question() {
    share(include_str!("data/bash/exploring.txt"), allowed_read_only);
}

#[test]
fn working_needs_no_question() {
    share(include_str!("data/bash/working.txt"), allowed_in_workspace);
}

/// Of a thousand texts at most twenty may be warned of wrongly, or not at all.
fn warned(text: &'static str, wanted: bool) {
    let site = site();
    let texts: Vec<&str> = classes(text).into_iter().flat_map(|(_, texts)| texts).collect();
    let wrong = texts.iter().filter(|text| analyse(text, &site).destructive.is_some() != wanted);
    let wrong: Vec<_> = wrong.collect();
    println!("{} of {} texts: {wrong:#?}", wrong.len(), texts.len());
    assert!(texts.len() >= 200 && wrong.len() * 1000 <= texts.len() * 20, "{} of {}", wrong.len(), texts.len());
}

#[test]
fn what_destroys_in_ordinary_spellings_is_warned_of() {
    warned(include_str!("data/bash/destroying.txt"), true);
}

#[test]
fn what_only_looks_like_it_is_not() {
    warned(include_str!("data/bash/looking_like_it.txt"), false);
}
