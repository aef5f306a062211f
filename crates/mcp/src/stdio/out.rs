//! The way out: each message is serialised once, into the bytes that are written, and written at
//! once when the client keeps up.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::port::Object;
use crate::stdio::pipe::Pipe;
use crate::stdio::text::Apart;

/// Bytes waiting for a client that does not read, past which no more of its requests are read.
pub(crate) const MAX_BACKLOG_BYTES: usize = 8 * 1024 * 1024;

/// Lines longer than this are worth a larger pipe.
const LARGE_BYTES: usize = 64 * 1024;

/// A long line is sent in pieces of about this size: the client reads one while the next is written.
const PIECE_BYTES: usize = 128 * 1024;

/// The largest buffer that is kept for the next line, and how many. Giving a megabyte back to the system and
/// asking for it again costs a page fault every 4 KiB: a sixth of such a call.
const MAX_SPARE_BYTES: usize = 1024 * 1024;
const MAX_SPARES: usize = 4;

/// The way out.
#[derive(Debug)]
pub(crate) struct Out {
    pipe: Pipe,
    waiting: Mutex<Waiting>,
    backlog: AtomicUsize,
    more: Notify,
    less: Notify,
    broken: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    /// How much of the first line is written.
    sent: usize,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    enlarged: bool,
    broken: bool,
}

impl Waiting {
    /// An empty buffer with room for `size`: the smallest spare one that has it.
    fn buffer(&mut self, size: usize) -> Vec<u8> {
        let fits = self.spare.iter().enumerate().filter(|(_, spare)| spare.capacity() >= size);
        let best = fits.min_by_key(|(_, spare)| spare.capacity()).map(|(at, _)| at);
        let at = best.or_else(|| self.spare.len().checked_sub(1));
        let mut buffer = at.map(|at| self.spare.swap_remove(at)).unwrap_or_default();
        buffer.clear();
        buffer.reserve(size);
        buffer
    }
}

impl Out {
    pub(crate) fn new(pipe: Pipe) -> Out {
        Out {
            pipe,
            waiting: Mutex::default(),
            backlog: AtomicUsize::new(0),
            more: Notify::new(),
            less: Notify::new(),
            broken: Notify::new(),
        }
    }

    /// `{"id":…,"result":…}`; `size` is about how long it will be.
    pub(crate) fn result(&self, id: &RequestId, result: &impl Serialize, size: usize) {
        let mut line = self.buffer(size);
        line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        write_json(&mut line, id);
        line.extend_from_slice(br#","result":"#);
        write_json(&mut line, result);
        line.extend_from_slice(b"}\n");
        self.send(line);
    }

    /// As [`Out::result`], with the long texts that were taken out of `result`.
    pub(crate) fn result_with(&self, id: &RequestId, result: &impl Serialize, apart: &Apart, size: usize) {
        let mut json = Vec::with_capacity(1024);
        write_json(&mut json, result);
        // Locked for the whole line: nothing of another may stand between its pieces.
        let mut waiting = self.lock();
        let mut piece = waiting.buffer(size.min(PIECE_BYTES + PIECE_BYTES / 4));
        piece.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        write_json(&mut piece, id);
        piece.extend_from_slice(br#","result":"#);
        apart.put_back(&json, &mut piece, &mut |piece| {
            if piece.len() >= PIECE_BYTES {
                let room = piece.capacity();
                self.send_locked(&mut waiting, std::mem::take(piece));
                *piece = waiting.buffer(room);
            }
        });
        piece.extend_from_slice(b"}\n");
        self.send_locked(&mut waiting, piece);
    }

    /// `{"error":…}`; without an id when the request's could not be read.
    pub(crate) fn error(&self, id: Option<RequestId>, error: ErrorData) {
        let mut line = self.buffer(256);
        write_json(&mut line, &JsonRpcError::new(id, error));
        line.push(b'\n');
        self.send(line);
    }

    /// A notification.
    pub(crate) fn notification(&self, method: &str, params: Object) {
        self.message(None, method, params);
    }

    /// A request of ours.
    pub(crate) fn request(&self, id: i64, method: &str, params: Object) {
        self.message(Some(id), method, params);
    }

    fn message(&self, id: Option<i64>, method: &str, params: Object) {
        let mut message = Object::new();
        message.insert("jsonrpc".to_owned(), "2.0".into());
        if let Some(id) = id {
            message.insert("id".to_owned(), id.into());
        }
        message.insert("method".to_owned(), method.into());
        if id.is_some() || !params.is_empty() {
            message.insert("params".to_owned(), Value::Object(params));
        }
        let mut line = self.buffer(256);
        write_json(&mut line, &message);
        line.push(b'\n');
        self.send(line);
    }

    fn buffer(&self, size: usize) -> Vec<u8> {
        self.lock().buffer(size)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, line: Vec<u8>) {
        self.send_locked(&mut self.lock(), line);
    }

    fn send_locked(&self, waiting: &mut Waiting, line: Vec<u8>) {
        if waiting.broken {
            return;
        }
        if line.len() > LARGE_BYTES && !std::mem::replace(&mut waiting.enlarged, true) {
            self.pipe.enlarge();
        }
        self.backlog.fetch_add(line.len(), Ordering::Relaxed);
        waiting.lines.push_back(line);
        if waiting.lines.len() > 1 {
            return;
        }
        loop {
            match self.write_some(waiting) {
                Ok(Some(_)) if waiting.lines.is_empty() => return,
                Ok(Some(_)) => {}
                Ok(None) => return self.more.notify_one(),
                Err(_) => return self.break_off(waiting),
            }
        }
    }

    /// Writes what waits, whenever the client reads; ends when it will never read again.
    pub(crate) async fn drain(&self) {
        loop {
            self.more.notified().await;
            while self.backlog.load(Ordering::Relaxed) > 0 {
                let attempt = || {
                    let mut waiting = self.lock();
                    if waiting.lines.is_empty() { Ok(Some(0)) } else { self.write_some(&mut waiting) }
                };
                if self.pipe.when_writable(attempt).await.is_err() {
                    let mut waiting = self.lock();
                    return self.break_off(&mut waiting);
                }
            }
        }
    }

    /// Waits until at most `bytes` wait to be written, or nobody will read them.
    pub(crate) async fn at_most(&self, bytes: usize) {
        while self.backlog.load(Ordering::Relaxed) > bytes {
            self.less.notified().await;
        }
    }

    /// Waits until the client has closed its end.
    pub(crate) async fn closed(&self) {
        if !self.lock().broken {
            self.broken.notified().await;
        }
    }

    fn write_some(&self, waiting: &mut Waiting) -> io::Result<Option<usize>> {
        let Some(line) = waiting.lines.front() else { return Ok(Some(0)) };
        let Some(count) = self.pipe.try_write(&line[waiting.sent..])? else { return Ok(None) };
        waiting.sent += count;
        if waiting.sent == line.len() {
            waiting.sent = 0;
            let written = waiting.lines.pop_front().unwrap_or_default();
            if waiting.spare.len() < MAX_SPARES && written.capacity() <= MAX_SPARE_BYTES {
                waiting.spare.push(written);
            }
        }
        self.backlog.fetch_sub(count, Ordering::Relaxed);
        self.less.notify_one();
        Ok(Some(count))
    }

    fn break_off(&self, waiting: &mut Waiting) {
        *waiting = Waiting { broken: true, ..Waiting::default() };
        self.backlog.store(0, Ordering::Relaxed);
        self.less.notify_one();
        self.broken.notify_one();
    }
}

fn write_json(line: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(line, value).expect("the protocol's types have string keys, and a Vec takes every byte");
}
