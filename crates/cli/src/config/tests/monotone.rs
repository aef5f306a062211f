//! The promise as a property: whatever an untrusted repository says, no verdict gets milder.

use nika_guard::{Effect, Effects, Exec, ExecKind, Layer, Place};
use proptest::prelude::*;

use super::super::file::File;
use super::super::keys;
use super::super::settle::settle;
use super::*;

const RULES: &[&str] = &[
    "write(**)",
    "write(a/**)",
    "write(.github/**)",
    "read(**)",
    "read(**/.env)",
    "read(//etc/**)",
    "exec",
    "exec(git*)",
    "exec(rm*)",
    "net(*)",
    "net(*.a.org)",
    "tool(edit)",
    "tool(*)",
    "mcp__s",
    "Edit(b)",
    "Bash(make:*)",
];

fn a_file() -> impl Strategy<Value = String> {
    let rules = || proptest::collection::vec(proptest::sample::select(RULES), 0..4);
    (proptest::option::of(0usize..6), rules(), rules(), rules(), any::<bool>()).prop_map(
        |(mode, allow, ask, deny, claims)| {
            let list = |rules: Vec<&str>| rules.iter().map(|rule| format!("\"{rule}\"")).collect::<Vec<_>>().join(", ");
            let mode = mode.map_or_else(String::new, |mode| format!("mode: {}\n", Mode::ALL[mode]));
            let claims = if claims { "trusted: true\nfiles: {fsync: off}\n" } else { "" };
            format!(
                "{mode}{claims}permissions:\n  allow: [{}]\n  ask: [{}]\n  deny: [{}]\n",
                list(allow),
                list(ask),
                list(deny)
            )
        },
    )
}

fn an_effect() -> impl Strategy<Value = Effect> {
    let kinds =
        [ExecKind::ReadOnly, ExecKind::WritesInside, ExecKind::Opaque, ExecKind::Misparse, ExecKind::Destructive];
    prop_oneof![
        "(a|b|\\.github|\\.nika)(/[ab])?".prop_map(|path| Effect::Write(Place::inside("/r", path))),
        "(a|b/\\.env|\\.env)".prop_map(|path| Effect::Read(Place::inside("/r", path))),
        "/(etc|x)/[ab]".prop_map(|path| Effect::Read(Place::outside(path))),
        ("(git|rm|make)", proptest::sample::select(kinds.to_vec()))
            .prop_map(|(program, kind)| Effect::Exec(Exec::plain(vec![vec![program, "x".into()]], kind, ""))),
        "[ab]\\.a\\.org".prop_map(Effect::Net),
        Just(Effect::Foreign { server: "s".into(), tool: "t".into() }),
        Just(Effect::Spawn("x".into())),
        Just(Effect::Control("x".into())),
        Just(Effect::Session),
    ]
}

fn layer(layer: Layer, text: &str) -> keys::Brought {
    let file = File { name: layer.to_string(), text: text.to_owned() };
    keys::read(layer, &file, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_untrusted_repository_never_makes_a_verdict_milder(
        files in [a_file(), a_file(), a_file(), a_file()],
        effects in proptest::collection::vec(an_effect(), 1..4),
        how in 0usize..3,
    ) {
        let [managed, user, project, local] = files;
        let own = [layer(Layer::Managed, &managed), layer(Layer::User, &user)];
        let all = [
            layer(Layer::Managed, &managed),
            layer(Layer::User, &user),
            layer(Layer::Project, &project),
            layer(Layer::Local, &local),
        ];
        let untrusted = [
            Trust::Unasked,
            Trust::Changed { files: Vec::new() },
            Trust::Refused { at: "x:1".into() },
        ];
        let before = settle(&own, None, Trust::Nothing);
        let after = settle(&all, None, untrusted[how].clone());
        let call = Effects { tool: "edit".into(), all: effects };
        let milder = after.policy.judge(&after.stance, &call).decision < before.policy.judge(&before.stance, &call).decision;
        prop_assert!(!milder, "{managed}\n---\n{user}\n--- repository\n{project}\n---\n{local}\n{call:?}");
    }

    #[test]
    fn reading_never_panics(text in "(mode|files|permissions|allow|deny|undo|[ \\n:\\[\\]{}&*!|>'\"#%@?-]|\\PC){0,40}") {
        let _ = keys::read(Layer::Project, &File { name: "x".into(), text }, None);
    }
}
