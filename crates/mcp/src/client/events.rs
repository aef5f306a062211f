//! Server-sent events out of bytes, in whatever pieces they come. Pure.

use super::sse::MOST_EVENT_BYTES;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// `message` where it has no other.
    pub(crate) name: String,
    /// Its lines, joined.
    pub(crate) data: String,
}

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// A line ended with a carriage return: a line feed right behind it belongs to it.
    after_return: bool,
    name: String,
    data: String,
    any: bool,
}

impl Events {
    /// The events that `piece` completes.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<Vec<Event>, &'static str> {
        let mut whole = Vec::new();
        for byte in piece {
            let was_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    whole.extend(self.line(&String::from_utf8_lossy(&line)));
                }
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.data.len() > MOST_EVENT_BYTES {
                return Err("it sent an event that is too large");
            }
        }
        Ok(whole)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return std::mem::take(&mut self.any).then_some(Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_owned(),
            "data" => {
                if self.any {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.any = true;
            }
            // Comments, ids and retry times.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_in_whatever_pieces_they_come() {
        let stream =
            ": hello\r\nevent: endpoint\r\ndata: /m?s=1\r\n\r\ndata: {\"a\":\ndata:1}\n\nevent: x\n\nid: 3\rdata:é\r\r";
        let event = |name: &str, data: &str| Event { name: name.into(), data: data.into() };
        let want = [event("endpoint", "/m?s=1"), event("message", "{\"a\":\n1}"), event("x", "é")];
        // An event without data is none, and its name does not stay for the next.
        let want = [want[0].clone(), want[1].clone(), event("message", "é")];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let pieces = stream.as_bytes().chunks(size);
            let got: Vec<Event> = pieces.flat_map(|piece| events.take(piece).expect("small")).collect();
            assert_eq!(got, want, "in pieces of {size}");
        }
    }
}
