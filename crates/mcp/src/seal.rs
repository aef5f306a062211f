//! The request state of 2026-07-28: what an unfinished call must remember travels through the
//! client, signed, bound to who asked for what, and dated.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{ErrorData, RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How long an answer may take: a person may be at lunch.
const LIFE: Duration = Duration::from_secs(4 * 60 * 60);

/// What is remembered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum State {
    /// A question that was asked.
    Question {
        /// Its id.
        id: String,
        /// A number that no other asking has.
        asking: u64,
        /// What the same call asked before it, by id, and how that was answered: one call may have to ask twice.
        answered: Vec<(String, Value)>,
    },
    /// A fixture's own.
    Own(Value),
}

/// What a state is good for: one caller, one method, one name, one session. The arguments need no place here: a
/// question's id stands for them, and hashing a megabyte for each call that might ask would not be
/// free.
pub(crate) struct Binding([u8; 32]);

impl Binding {
    /// For a request.
    pub(crate) fn new(parts: &[&str]) -> Binding {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Binding(hash.finalize().into())
    }
}

/// Signs and verifies, with a key that lives as long as the process.
pub(crate) struct Seal {
    codec: RequestStateCodec,
    /// Askings that were answered, and when: a yes is good for one call. Forgotten when the seal is stale.
    answered: Mutex<HashMap<u64, Instant>>,
}

impl Seal {
    /// With a new key.
    pub(crate) fn new() -> Seal {
        let mut key = [0u8; 32];
        let mut filled = 0;
        while filled < key.len() {
            match rustix::rand::getrandom(&mut key[filled..], rustix::rand::GetRandomFlags::empty()) {
                Ok(more) => filled += more,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => unreachable!("getrandom of 32 bytes cannot fail on Linux: {error}"),
            }
        }
        let codec = RequestStateCodec::try_new(key).expect("32 bytes are long enough");
        Seal { codec, answered: Mutex::default() }
    }

    /// The state of a question that is asked now.
    pub(crate) fn question(&self, id: String, answered: Vec<(String, Value)>) -> State {
        State::Question { id, asking: RandomState::new().hash_one(0u8), answered }
    }

    /// Whether this asking was not answered before; from now on it was.
    pub(crate) fn spend(&self, asking: u64) -> bool {
        let now = Instant::now();
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, at| now.duration_since(*at) < LIFE);
        answered.insert(asking, now).is_none()
    }

    /// The state as text for the client.
    pub(crate) fn close(&self, state: &State, binding: &Binding) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(&binding.0).ttl(LIFE);
        self.codec.seal_json_with(state, &options).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// What the client brought back, if it is ours, for this request, and in time.
    pub(crate) fn open(&self, sealed: &str, binding: &Binding) -> Result<State, ErrorData> {
        self.codec.open_json_with(sealed, &binding.0).map_err(|error| {
            ErrorData::invalid_params(
                format!("requestState was not made by this server for this request: {error}"),
                None,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_good_for_its_request_only() {
        let seal = Seal::new();
        let binding = Binding::new(&["me", "tools/call", "write", "s1"]);
        let sealed = seal.close(&seal.question("q1".into(), Vec::new()), &binding).expect("seals");
        assert!(matches!(seal.open(&sealed, &binding), Ok(State::Question { id, .. }) if id == "q1"));
        for other in [
            Binding::new(&["you", "tools/call", "write", "s1"]),
            Binding::new(&["me", "prompts/get", "write", "s1"]),
            Binding::new(&["me", "tools/call", "edit", "s1"]),
            Binding::new(&["me", "tools/call", "write", "s2"]),
        ] {
            assert!(seal.open(&sealed, &other).is_err());
        }
        assert!(seal.open(&format!("{sealed}x"), &binding).is_err());
        assert!(Seal::new().open(&sealed, &binding).is_err());
    }

    #[test]
    fn an_answer_is_good_once() {
        let seal = Seal::new();
        let [one, two] = [(); 2].map(|()| match seal.question("q".into(), Vec::new()) {
            State::Question { asking, .. } => asking,
            State::Own(_) => panic!("it is a question"),
        });
        assert!(seal.spend(one) && seal.spend(two));
        assert!(!seal.spend(one) && !seal.spend(two));
    }
}
