//! Layers into one: precedence of values, rules of all, and what an untrusted repository may not say.

use nika_guard::manifest::Messages;
use nika_guard::web::Listed;
use nika_guard::{Configured, Hook, LayeredRule, Limit, Policy, Rule};

use super::change::Change;
use super::flags::Asked;
use super::hooks::Written;
use super::keys::{Brought, KEYS, Said};
use super::{Effective, Shown, mcp};
use crate::trust::Trust;

/// What is in force. `layers` from the weakest to the strongest; the flags' stance is stronger than all.
pub(super) fn settle(layers: &[Brought], asked: Option<Asked>, trusted: Trust) -> Effective {
    let mut now = Effective::default();
    let mut values = defaults();
    let mut rules = Vec::new();
    let mut rules_shown = Vec::new();
    let mut messages = Vec::new();
    for Brought { layer, said } in layers {
        let mut brought = Vec::new();
        for Said { key, change, at, .. } in said {
            let mut row = Shown {
                key: key.clone(),
                value: change.to_string(),
                at: at.clone(),
                layer: layer.to_string(),
                why: None,
                remark: change.remark(),
            };
            let held_back = layer.is_repository() && !trusted.holds();
            if let Change::Server(named) = change {
                mcp::place(&mut now.servers, named, *layer, at, held_back);
            }
            row.why = change.never(*layer, &now).or_else(|| {
                let why = held_back.then(|| change.loosens(&now)).flatten();
                why.map(|why| format!("{why}, and the repository is {}", because(&trusted)))
            });
            let layered = |kind, rule: &Rule| LayeredRule { kind, rule: rule.clone(), layer: *layer, at: at.clone() };
            if row.why.is_some() {
                if let Change::Rule(kind, rule) = change {
                    now.idle_rules.push(layered(*kind, rule));
                }
                now.inactive.push(row);
                continue;
            }
            match change {
                Change::Rule(kind, rule) => rules.push(layered(*kind, rule)),
                Change::Hook(written) => now.hooks.extend(hook(written, *layer, at, trusted.holds())),
                Change::Message(message) => brought.push(message.clone()),
                Change::Budget(budget, amount) => {
                    now.budgets.set(*budget, Limit { amount: *amount, layer: *layer, at: at.clone() });
                }
                change => change.apply(&mut now),
            }
            if change.adds() {
                rules_shown.push(row);
            } else {
                put(&mut values, row);
            }
        }
        // The nearest first: each manifest is stronger than those before it.
        brought.append(&mut messages);
        messages = brought;
    }
    if let Some(Asked { stance, at }) = asked {
        now.stance = stance;
        let layer = nika_guard::Layer::CommandLine.to_string();
        put(&mut values, Shown { key: "mode".into(), value: stance.to_string(), at, layer, why: None, remark: None });
    }
    let listed = Listed::new(now.web.hosts.clone(), now.web.hosts_off.clone());
    now.policy = Policy::new(rules, trusted.holds()).listing(listed);
    now.messages = Messages(messages);
    now.trusted = trusted;
    values.extend(rules_shown);
    now.shown = values;
    now
}

fn hook(written: &Written, layer: nika_guard::Layer, at: &str, trusted: bool) -> Option<Hook> {
    let Written { point, tool, argv, timeout_ms, on_failure, .. } = written.clone();
    let command = Configured::new(argv, layer, at, trusted)?;
    Some(Hook { point, tool, command, timeout_ms, on_failure })
}

/// Where a layer says `trusted: false`, if it does.
pub(super) fn untrusted_at(layer: &Brought) -> Option<String> {
    layer.said.iter().find(|said| matches!(said.change, Change::Trusted(false))).map(|said| said.at.clone())
}

fn because(trusted: &Trust) -> &'static str {
    match trusted {
        Trust::Refused { .. } => "declared untrusted",
        Trust::Changed { .. } => "not trusted since its files changed; `nika trust` asks again",
        Trust::Nothing | Trust::Unasked | Trust::Trusted => "not trusted; `nika trust` would change that",
    }
}

fn defaults() -> Vec<Shown> {
    let row = |key: &str, value: &str| Shown {
        key: key.to_owned(),
        value: value.to_owned(),
        at: "default".into(),
        layer: "default".into(),
        why: None,
        remark: None,
    };
    KEYS.iter().filter_map(|key| key.default.map(|value| row(key.name, value))).collect()
}

/// Replaces the row of the same key, or adds one.
fn put(rows: &mut Vec<Shown>, row: Shown) {
    match rows.iter_mut().find(|other| other.key == row.key) {
        Some(other) => *other = row,
        None => rows.push(row),
    }
}
