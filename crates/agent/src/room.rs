//! Makes room in a conversation, before the model has none left or after it said so.
//!
//! First the older part becomes a summary, which the model writes; without one (it failed, or nothing may be spent any
//! more) a list of what was done stands in. Then results are cut, more and more. The transcript keeps every line.

use nika_contract::{Fault, event, text};
use nika_host::fs::Ledger;
use serde_json::{Map, json};

use crate::agent::Agent;
use crate::ask::{Answer, Purpose};
use crate::compact;
use crate::conversation::{Line, said};
use crate::happening::Happening;
use crate::provider::{Asking, Message, Part, Role};
use crate::run::Run;

/// Characters that results are cut to, one after the other until there is room.
const SHORTER: &[usize] = &[8_000, 2_000, 500];

/// What was done about a conversation that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// There is room, or there was.
    Made,
    /// Nothing can be left out.
    None,
}

impl Agent {
    /// Makes room when the conversation has filled its part of the context; `refused` when the model said that it is
    /// too long, whatever our count says.
    pub(crate) async fn make_room(&mut self, run: &mut Run, refused: bool) -> Result<Room, Fault> {
        let context = self.model.model().context_tokens;
        let most = (context as f64 * self.bounds.compact_at) as u64;
        let before = self.about_tokens(run);
        if before < most && !refused {
            return Ok(Room::Made);
        }
        // Where our count is too low to tell, a good part has to go all the same.
        let enough = if refused { most.min(before / 2) } else { most };
        // A quarter of the context is a few turns with whole files in them.
        if let Some(kept) = compact::cut(self.talk.messages(), enough.min(context / 4)) {
            self.sum_up(run, kept, before).await?;
        }
        for chars in SHORTER {
            if self.about_tokens(run) < enough || self.cancel.is_cancelled() {
                break;
            }
            if compact::would_shorten(self.talk.messages(), *chars) {
                let (messages, tokens) = (self.talk.messages().len(), self.about_tokens(run));
                self.talk.write(Line::Shortened { chars: *chars })?;
                self.compacted(run, messages, tokens, "cut")?;
            }
        }
        Ok(if self.about_tokens(run) < before { Room::Made } else { Room::None })
    }

    fn about_tokens(&self, run: &Run) -> u64 {
        self.talk.about_tokens(run.prefix_tokens())
    }

    async fn sum_up(&mut self, run: &mut Run, kept: usize, tokens: u64) -> Result<(), Fault> {
        let older = &self.talk.messages()[..kept];
        let from = self.talk.lines_of_messages()[kept];
        // Half of the context, at two characters a token: it has to fit, whatever is written in it.
        let most = usize::try_from(self.model.model().context_tokens).unwrap_or(usize::MAX);
        let text = format!("{}\n\nThat was the older part. Write the memory now.", compact::written_out(older, most));
        let messages = [Message { role: Role::User, parts: vec![Part::Text(text)] }];
        let asking = Asking {
            system: compact::SUM_UP,
            tools: &[],
            messages: &messages,
            cache_key: self.session.id(),
            must_call: None,
        };
        let mut took = None;
        let summary = match self.ask(&mut run.tally, &asking, Purpose::Summary).await? {
            Answer::Whole(answered) => {
                took = Some(answered.usage);
                said(&Message { role: Role::Assistant, parts: answered.parts })
            }
            Answer::Cancelled => return Ok(()),
            Answer::Failed(_) | Answer::Spent(_) => String::new(),
        };
        let by_model = !summary.trim().is_empty();
        let summary = if by_model { summary } else { compact::digest(older) };
        let notes = self.notes.as_ref().map(|notes| notes.of(self.session.id())).unwrap_or_default();
        let retold = compact::retold(self.talk.asked(), &summary, &notes, &self.files());
        let messages = self.talk.messages().len();
        if let Some(usage) = took {
            let cost_micros = self.model.model().prices.map(|prices| usage.cost_micros(&prices));
            self.talk.write(Line::Spent { usage, cost_micros })?;
        }
        self.talk.write(Line::Compacted { from, text: retold })?;
        self.compacted(run, messages, tokens, if by_model { "model" } else { "digest" })
    }

    /// The files that were read, by name: what they hold can be read again.
    fn files(&self) -> Vec<String> {
        let ledger = self.session.state.slot::<Ledger>();
        let mut files: Vec<String> =
            ledger.all().into_iter().map(|(path, _)| text::harmless(&path.to_string_lossy()).into_owned()).collect();
        files.sort();
        files
    }

    fn compacted(&self, run: &Run, before: usize, tokens: u64, by: &str) -> Result<(), Fault> {
        let after = self.talk.messages().len();
        let mut fields = Map::new();
        fields.insert("before".into(), before.into());
        fields.insert("after".into(), after.into());
        fields.insert("tokens_before".into(), tokens.into());
        fields.insert("tokens_after".into(), json!(self.about_tokens(run)));
        fields.insert("by".into(), by.into());
        self.runtime.note(&self.session, event::CONTEXT_COMPACTED, &fields)?;
        self.watch.saw(&Happening::Compacted { before, after, by_model: by == "model" });
        Ok(())
    }
}
