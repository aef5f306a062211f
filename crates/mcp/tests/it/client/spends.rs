//! What a server asks for in the middle of a call: of our model, which the caller pays for, and of the person, who is
//! not asked forever.

use std::sync::{Arc, Mutex};

use nika_contract::{Cancel, Nobody, Purse, ToolError, code};
use nika_guard::Budget;
use serde_json::json;

use super::scripted::{Era, Peer, tool};
use super::{Person, Served, over, paid_by, scene, tools};

/// Room for so many calls of a model, and what was spent of it.
#[derive(Debug)]
struct Narrow {
    calls: Mutex<u64>,
    spent: Mutex<Vec<(Budget, u64)>>,
}

impl Purse for Narrow {
    fn spend(&self, budget: Budget, amount: u64) -> Result<(), ToolError> {
        if budget == Budget::ModelCalls {
            let mut left = self.calls.lock().expect("nobody panicked");
            *left = left.checked_sub(amount).ok_or_else(|| ToolError::new(code::BUDGET_SPENT, "no call is left"))?;
        }
        self.spent.lock().expect("nobody panicked").push((budget, amount));
        Ok(())
    }
}

async fn sampled(served: &Served, purse: &Narrow) -> String {
    let all = tools(&served.pool);
    let call = all.iter().find(|tool| tool.spec().name == "mcp_call_tool").expect("it is one");
    let arguments = json!({"server": "s", "tool": "sample", "arguments": {}});
    let (done, _) = paid_by(purse, call.as_ref(), arguments, Arc::new(Nobody), &Cancel::default()).await;
    done.expect("it answers").joined_text()
}

#[tokio::test]
async fn sampling_is_paid_by_the_call_and_refused_when_nothing_is_left() {
    let peer = Peer::new(Era::Legacy, vec![tool("sample")]);
    let served = over(peer, Arc::default(), &json!({"sampling": true}));
    let purse = Narrow { calls: Mutex::new(1), spent: Mutex::default() };
    let said = sampled(&served, &purse).await;
    assert!(said.contains("user said hi"), "{said}");
    let spent = purse.spent.lock().expect("nobody panicked").clone();
    assert_eq!(spent, [(Budget::ModelCalls, 1), (Budget::InputTokens, 7)]);
    let said = sampled(&served, &purse).await;
    assert!(said.contains("no call is left") && !said.contains("said hi"), "{said}");
    assert_eq!(purse.spent.lock().expect("nobody panicked").len(), 2, "nothing was asked");
}

/// It asks, and asks again whatever is answered, until it is declined.
#[tokio::test]
async fn a_server_that_asks_and_asks_is_declined_at_last() {
    let served = scene(Era::Legacy, &["insist"]);
    let person = Arc::new(Person { chooses: Some("blue"), ..Person::default() });
    let (done, _) = served.call_with("insist", Arc::<Person>::clone(&person)).await;
    assert!(done.expect("it answers").joined_text().contains("decline"));
    assert_eq!(person.asked.lock().expect("nobody panicked").len(), 20);
    // Another call has its own.
    let (done, _) = served.call_with("insist", Arc::<Person>::clone(&person)).await;
    assert!(done.is_ok());
    assert_eq!(person.asked.lock().expect("nobody panicked").len(), 40);
}
