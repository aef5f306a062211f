//! What a server spends in the middle of a call: its questions to our model are the caller's to pay. A purse is lent to a
//! call and not ours to keep, so bills are laid before whoever makes the call, and nothing is asked of a model before
//! the first of them is paid.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nika_contract::{Purse, ToolError, code};
use nika_guard::Budget;
use tokio::sync::{Notify, oneshot};

/// Amounts of budgets.
pub type Amounts = Vec<(Budget, u64)>;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Till {
    inside: Mutex<Inside>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    bills: VecDeque<Bill>,
    /// Nobody pays any more: the call is over.
    closed: bool,
}

#[derive(Debug)]
struct Bill {
    amounts: Amounts,
    paid: oneshot::Sender<Result<(), ToolError>>,
}

impl Till {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is paid; an error says which budget has no room for it, or that the call is over.
    pub async fn pay(&self, amounts: Amounts) -> Result<(), ToolError> {
        let (paid, settled) = oneshot::channel();
        {
            let mut inside = self.inside();
            if inside.closed {
                return Err(over());
            }
            inside.bills.push_back(Bill { amounts, paid });
        }
        self.changed.notify_waiters();
        settled.await.unwrap_or_else(|_| Err(over()))
    }

    /// Pays what is laid before, for as long as it is polled.
    pub async fn settle(&self, purse: &dyn Purse) -> Infallible {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            while let Some(Bill { amounts, paid }) = self.next() {
                // Spends all of it, also where the first of it was too much: it was taken.
                let spent: Vec<_> = amounts.into_iter().map(|(budget, amount)| purse.spend(budget, amount)).collect();
                // Whoever asked may have gone.
                let _ = paid.send(spent.into_iter().collect());
            }
            changed.await;
        }
    }

    fn next(&self) -> Option<Bill> {
        self.inside().bills.pop_front()
    }

    /// The call is over: what waits is told so.
    pub fn close(&self) {
        let mut inside = self.inside();
        inside.closed = true;
        inside.bills.clear();
        drop(inside);
        self.changed.notify_waiters();
    }

    /// Waits until the call is over.
    pub async fn closed(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.inside().closed {
                return;
            }
            changed.await;
        }
    }
}

fn over() -> ToolError {
    ToolError::new(code::CANCELLED, "the call that this was asked for is over")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A purse with room for some calls of a model.
    #[derive(Debug)]
    struct Narrow(Mutex<u64>);

    impl Purse for Narrow {
        fn spend(&self, _: Budget, amount: u64) -> Result<(), ToolError> {
            let mut left = self.0.lock().expect("nobody panicked");
            *left = left.checked_sub(amount).ok_or_else(|| ToolError::new(code::BUDGET_SPENT, "spent"))?;
            Ok(())
        }
    }

    #[tokio::test]
    async fn bills_are_paid_by_the_purse_of_the_call_until_it_is_empty() {
        let (till, purse) = (Till::default(), Narrow(Mutex::new(2)));
        let asked = async {
            let mut answers = Vec::new();
            for _ in 0..3 {
                answers.push(till.pay(vec![(Budget::ModelCalls, 1)]).await.map_err(|error| error.code));
            }
            answers
        };
        let answers = tokio::select! {
            answers = asked => answers,
            never = till.settle(&purse) => match never {},
        };
        assert_eq!(answers, [Ok(()), Ok(()), Err(code::BUDGET_SPENT)]);
    }

    #[tokio::test]
    async fn what_is_asked_for_a_call_that_is_over_is_not_paid() {
        let till = Till::default();
        let (waits, ()) = tokio::join!(till.pay(vec![(Budget::ModelCalls, 1)]), async {
            tokio::task::yield_now().await;
            till.close();
        });
        assert_eq!(waits.expect_err("nobody pays").code, code::CANCELLED);
        assert!(till.pay(Vec::new()).await.is_err());
        till.closed().await;
    }
}
