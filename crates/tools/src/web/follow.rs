//! From the address that was asked for to the page, over redirects: each is an address of its own, looked at and judged
//! like the first. What a session's rules do not allow without a question is not followed but named, so that a call
//! for it is decided as a call.

use nika_contract::{Cancel, ToolError, code, text};
use nika_guard::{Effect, Permit};
use nika_host::net::{Address, Asked, Got};

use super::cache::Hop;
use super::{Ground, REDIRECTS};

/// Where the way ended.
pub(super) enum Followed {
    /// At an answer that is no redirect.
    There { got: Got, last: Address, hops: Vec<Hop> },
    /// At a redirect that the rules do not allow without a question.
    Elsewhere { to: Address, from: Address, why: String },
}

/// What a look at an address needs.
pub(super) fn effect(address: &Address) -> Effect {
    let host = address.host().to_owned();
    if address.is_ordinary() { Effect::Fetch(host) } else { Effect::Net(host) }
}

/// Whether the permit holds for a step already.
pub(super) fn covers(permit: &Permit, effect: &Effect) -> bool {
    match effect {
        Effect::Fetch(host) => permit.covers_fetch(host),
        Effect::Net(host) => permit.covers_net(host),
        _ => false,
    }
}

/// Goes the way, with GET alone.
pub(super) async fn follow(
    ground: &Ground,
    permit: &Permit,
    first: Address,
    accept: &'static str,
    cancel: &Cancel,
) -> Result<Followed, ToolError> {
    let limit = ground.caps.whole;
    let host = first.host().to_owned();
    let way = go(ground, permit, first, accept, cancel);
    tokio::time::timeout(limit, way).await.unwrap_or_else(|_| {
        let message = format!("{host} and where it led took longer than {} s", limit.as_secs_f32());
        Err(ToolError::new(code::NET_TIMED_OUT, message))
    })
}

async fn go(
    ground: &Ground,
    permit: &Permit,
    first: Address,
    accept: &'static str,
    cancel: &Cancel,
) -> Result<Followed, ToolError> {
    let asked_for = "the call".to_owned();
    let mut hops = vec![Hop { effect: effect(&first), allowed_by: asked_for }];
    let mut seen = vec![first.clone()];
    // A permit for the hosts on the way; the first is the call's own.
    let mut also: Option<Permit> = None;
    let mut here = first;
    loop {
        let asked = Asked { accept, ..Asked::get(here.clone()) };
        let got = ground.net.exchange(also.as_ref().unwrap_or(permit), &asked, &ground.caps, cancel).await?;
        let Some(location) = got.leads_to() else {
            return Ok(Followed::There { got, last: here, hops });
        };
        let next = here.join(location).map_err(|error| bad(&here, location, &error.message))?;
        if here.is_secret() && !next.is_secret() {
            return Err(bad(&here, location, "it would go on without TLS"));
        }
        if seen.contains(&next) {
            return Err(bad(&here, location, "it leads in a circle"));
        }
        if seen.len() > REDIRECTS {
            return Err(bad(&here, location, &format!("these are more than {REDIRECTS} redirects")));
        }
        let needed = effect(&next);
        let standing = also.as_ref().unwrap_or(permit);
        if covers(standing, &needed) {
            hops.push(Hop { effect: needed, allowed_by: "the same host".to_owned() });
        } else {
            match standing.also(needed.clone()) {
                Ok((wider, by)) => {
                    hops.push(Hop { effect: needed, allowed_by: by.source.to_string() });
                    also = Some(wider);
                }
                Err(reason) => {
                    let why = format!("{} ({}), by {}", reason.effect, reason.act, reason.source);
                    return Ok(Followed::Elsewhere { to: next, from: here, why });
                }
            }
        }
        seen.push(next.clone());
        here = next;
    }
}

fn bad(here: &Address, location: &str, why: &str) -> ToolError {
    let location = text::harmless(&text::preview(location, 200)).into_owned();
    ToolError::new(
        code::BAD_REDIRECT,
        format!("{} redirects to '{location}', which is not followed: {why}", here.host()),
    )
}
