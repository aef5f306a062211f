//! Another agent's words for how a command is held: what of them holds here, and what no call can have.
//!
//! They only narrow. What would widen is refused by its name, with who can do it.

use nika_contract::ToolError;
use nika_guard::profile::Profile;

use super::bash::Params;

/// Refuses what cannot be kept.
pub(super) fn check(params: &Params) -> Result<(), ToolError> {
    let switches = [
        (
            "namespace_restrictions",
            params.namespace_restrictions,
            "commands are always held; leave it out, or `dangerously_disable_sandbox`, which is asked about",
        ),
        (
            "isolate_network",
            params.isolate_network,
            "no call opens the network; leave it out: a host that the command names is asked about, and the rule \
             net(HOST) allows it",
        ),
    ];
    for (name, value, instead) in switches {
        match value {
            Some(false) => return Err(ToolError::argument(name, "takes only true").hint(instead)),
            Some(true) if params.unconfined() => {
                return Err(ToolError::argument(name, "goes not without the sandbox"));
            }
            _ => {}
        }
    }
    match params.allowed_mounts.as_deref() {
        None | Some([]) => Ok(()),
        Some(_) => Err(ToolError::argument("allowed_mounts", "a call opens no other places; leave it out")
            .hint("a person does, with `--root DIR` or the rule write(//DIR/**)")),
    }
}

/// Keeps a profile to what was asked for.
pub(super) fn narrow(params: &Params, profile: &mut Profile) {
    if params.isolate_network == Some(true) {
        profile.hosts.clear();
    }
    if params.namespace_restrictions == Some(true) {
        profile.landlock_only = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn checked(more: Value) -> Result<(), String> {
        let mut arguments = json!({"command": "ls"});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        check(&serde_json::from_value(arguments).expect("parameters")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_narrows_is_taken_and_what_widens_is_refused_by_name() {
        let narrow = json!({"isolate_network": true, "namespace_restrictions": "true", "allowed_mounts": []});
        assert_eq!(checked(narrow), Ok(()));
        for (more, name, instead) in [
            (json!({"isolate_network": false}), "`isolate_network`", "net(HOST)"),
            (json!({"namespace_restrictions": false}), "`namespace_restrictions`", "leave it out"),
            (json!({"allowed_mounts": ["/srv"]}), "`allowed_mounts`", "--root DIR"),
            (json!({"isolate_network": true, "filesystem_mode": "off"}), "`isolate_network`", "sandbox"),
        ] {
            let refused = checked(more).expect_err("it is not kept");
            assert!(refused.contains(name) && refused.contains(instead), "{refused}");
        }
    }
}
