//! Agents that nobody waits for, one or several: a row in the workspace's tasks, a heartbeat, and news for who started them.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cancel, Clock, Cx, Silent, ToolError, code, text};
use nika_store::Db;
use nika_store::tasks::{NewRun, NewTask, RunEnd, Status, Task, TaskError, TaskId};

use super::child::{Child, Starter, apart};
use super::fleet::{Fleet, Seat, lock};
use super::narrow::Order;
use super::several::{Several, SoFar};

/// Between two beats of a run, and two looks at whether it is to stop. Half a second: who asks waits at most five.
pub(super) const BEAT: Duration = Duration::from_millis(500);
/// How long an agent has to end by itself once it was asked to.
const GRACE: Duration = Duration::from_secs(3);

/// Characters of each agent's answer that a row keeps.
const MAX_RESULT_CHARS: usize = 30_000;

impl Fleet {
    /// Makes the row of a task that somebody wrote down with a prompt, and begins its agent: the one that runs
    /// tasks. Its `metadata` may say `subagent_type` and `model`; its owner is what the agent is called.
    pub async fn start_prompt(self: &Arc<Self>, task: NewTask, prompt: &str, cx: &Cx<'_>) -> Result<Task, ToolError> {
        let said = |key: &str| task.metadata.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        let order = Order {
            description: task.title.clone(),
            prompt: prompt.to_owned(),
            kind: said("subagent_type"),
            model: said("model"),
            name: task.owner.clone(),
            ..Order::default()
        };
        self.start_task(task, order, cx).await
    }

    /// Makes the row of `task`, whose agent does `order`, and begins it. The row as it is then.
    pub async fn start_task(self: &Arc<Self>, task: NewTask, order: Order, cx: &Cx<'_>) -> Result<Task, ToolError> {
        let crew = self.crew()?;
        self.check(cx.session.id(), order.kind.as_deref(), order.model.as_deref())?;
        self.check_wanted(&order, &crew)?;
        order.check_conversations(cx.session.id(), &crew.state)?;
        self.start(task, Job::One(Box::new(Order { alone: true, ..order })), cx).await
    }

    /// Makes one row for all of `several`, and begins them. `prompt` is what the row shows of them.
    pub(crate) async fn start_several(
        self: &Arc<Self>,
        title: String,
        prompt: String,
        several: Several,
        cx: &Cx<'_>,
    ) -> Result<Task, ToolError> {
        let names = several.names().into_iter().map(serde_json::Value::from).collect();
        let mut task = NewTask { title, ..NewTask::default() };
        task.metadata.insert("subtasks".to_owned(), serde_json::Value::Array(names));
        self.start(task, Job::Several { orders: several.alone(), prompt }, cx).await
    }

    /// Nobody waits, so nobody is asked: every order of a job is `alone`.
    async fn start(self: &Arc<Self>, mut task: NewTask, job: Job, cx: &Cx<'_>) -> Result<Task, ToolError> {
        let (parent, enrolment) = self.member(cx.session.id())?;
        let crew = self.crew()?;
        let db = self.db()?;
        let depth = Fleet::depth(&parent);
        if depth >= self.settings.depth {
            let message = format!("agents stand at most {} deep below one another", self.settings.depth);
            return Err(ToolError::new(code::TOO_MANY_AGENTS, message)
                .hint("do it yourself, or `task_create` without `prompt` keeps it for somebody else"));
        }
        let (id, prompt) = match &job {
            Job::One(order) => {
                let id = self.name_after(parent.id(), &crew.state, order.resume.as_deref())?;
                (Some(id), order.prompt.clone())
            }
            Job::Several { prompt, .. } => (None, prompt.clone()),
        };
        let session = id.clone().unwrap_or_else(|| parent.id().to_owned());
        task.run = Some(NewRun { prompt, session, stance: parent.stance().mode.name().to_owned() });
        let now = cx.clock.unix_ms();
        let row = {
            let db = Arc::clone(&db);
            apart(move || db.add_task(&task, now)).await?.map_err(ToolError::from)?.task
        };
        let cancel = Cancel::default();
        lock(&self.afloat).insert(row.id, (parent.id().to_owned(), cancel.clone()));
        let starter = Starter {
            parent,
            enrolment,
            permit: Arc::clone(cx.permit),
            cancel,
            progress: Arc::new(Silent),
            id,
            seat: None,
        };
        let so_far = SoFar::new(row.id);
        let row_of = Row { db, id: row.id, clock: crew.clock, fleet: Arc::clone(self), open: true, so_far };
        tokio::spawn(row_of.run(job, starter));
        Ok(row)
    }

    pub(crate) fn db(&self) -> Result<Arc<Db>, ToolError> {
        self.settings.db.clone().ok_or_else(|| {
            ToolError::new(code::NO_AGENTS, "this program keeps no tasks, so nothing runs in the background")
                .hint("leave `run_in_background` out")
        })
    }
}

/// What a row is about.
enum Job {
    /// One agent's work.
    One(Box<Order>),
    /// That of several.
    Several {
        orders: Several,
        /// What the row shows of them.
        prompt: String,
    },
}

/// A row whose agents this process runs.
struct Row {
    db: Arc<Db>,
    id: TaskId,
    clock: Arc<dyn Clock>,
    fleet: Arc<Fleet>,
    /// Whether nobody has said yet how it ended.
    open: bool,
    /// What those of several have answered.
    so_far: Arc<SoFar>,
}

impl Row {
    async fn run(mut self, job: Job, starter: Starter) {
        let (parent, cancel) = (starter.parent.id().to_owned(), starter.cancel.clone());
        match self.queue(&cancel).await {
            Ok(Some(seat)) => {
                lock(&self.fleet.seated).insert(self.id);
                let end = self.work(job, Starter { seat: Some(seat), ..starter }, &cancel).await;
                self.end(end).await;
            }
            Ok(None) => self.end(STOPPED).await,
            Err(error) => self.end(failed(&error)).await,
        }
        let row = {
            let (db, id) = (Arc::clone(&self.db), self.id);
            apart(move || db.task(id)).await
        };
        if let Ok(Ok(row)) = row {
            let (id, title) = (self.id, text::preview(&text::harmless(&row.title), 120));
            let answered = row.run.as_ref().is_some_and(|run| run.result.is_some());
            let where_to = if answered { "; `task_output` has its answer" } else { "" };
            let line = format!("task {id} ({title}) has ended: {}{where_to}", row.status);
            lock(&self.fleet.news).entry(parent).or_default().push(line);
        }
        // Last: who waits until nothing is at work finds the news.
        lock(&self.fleet.afloat).remove(&self.id);
        lock(&self.fleet.seated).remove(&self.id);
    }

    /// Waits until the row waits for nothing and there is a seat, then takes both. None when it is to stop.
    async fn queue(&self, cancel: &Cancel) -> Result<Option<Seat>, ToolError> {
        loop {
            if cancel.is_cancelled() || self.beat().await? {
                return Ok(None);
            }
            if let Ok(seat) = self.fleet.seat() {
                let (db, id, now) = (Arc::clone(&self.db), self.id, self.clock.unix_ms());
                let begun = apart(move || match db.task(id)?.status {
                    Status::Blocked => Ok(None),
                    // Refused where somebody else runs it, or it has ended.
                    _ => db.begin_run(id, std::process::id(), now).map(Some),
                });
                let begun = begun.await?.map_err(|error: TaskError| ToolError::from(error))?;
                if begun.is_some() {
                    return Ok(Some(seat));
                }
            }
            tokio::time::sleep(BEAT).await;
        }
    }

    /// Says that it lives; whether it is to stop.
    async fn beat(&self) -> Result<bool, ToolError> {
        let (db, id, now) = (Arc::clone(&self.db), self.id, self.clock.unix_ms());
        let beat = apart(move || db.beat(id, now)).await?.map_err(|error: TaskError| ToolError::from(error))?;
        Ok(beat.stop_asked || !beat.yours)
    }

    async fn work(&mut self, job: Job, starter: Starter, cancel: &Cancel) -> RunEnd {
        match job {
            Job::One(order) => self.work_one(&order, starter, cancel).await,
            Job::Several { orders, .. } => self.work_several(&orders, starter, cancel).await,
        }
    }

    async fn work_one(&mut self, order: &Order, starter: Starter, cancel: &Cancel) -> RunEnd {
        let mut child = match Child::hire(&self.fleet, starter, order).await {
            Ok(child) => child,
            Err(error) => return failed(&error),
        };
        let worked = self.until_stopped(child.work(&order.prompt), cancel).await;
        if cancel.is_cancelled() {
            // Said before what it left is cleared away, which takes its time.
            self.end(STOPPED).await;
        }
        let finished = child.dismiss().await;
        match (worked, finished) {
            (Some(Ok(_)), Ok(finished)) if finished.is_done() => RunEnd::Completed(kept(finished.text())),
            (Some(Ok(_)), Ok(finished)) => {
                let why = finished.ended.why.error().map_or_else(String::new, |error| error.to_string());
                RunEnd::Failed { why, answer: Some(kept(finished.text())) }
            }
            (Some(Err(error)), _) | (_, Err(error)) => failed(&error),
            (None, _) => STOPPED,
        }
    }

    async fn work_several(&self, orders: &Several, starter: Starter, cancel: &Cancel) -> RunEnd {
        let run = orders.run(&self.fleet, starter, Some(Arc::clone(&self.so_far)));
        let brought = self.until_stopped(run, cancel).await;
        let answer = || self.so_far.answer(MAX_RESULT_CHARS);
        match brought {
            None => RunEnd::Stopped { answer: answer() },
            Some(Err(_)) if cancel.is_cancelled() => RunEnd::Stopped { answer: answer() },
            Some(Err(error)) => RunEnd::Failed { why: error.to_string(), answer: answer() },
            Some(Ok(brought)) => {
                let answer = brought.text(MAX_RESULT_CHARS);
                match brought.is_done() {
                    _ if cancel.is_cancelled() => RunEnd::Stopped { answer: Some(answer) },
                    true => RunEnd::Completed(answer),
                    false => RunEnd::Failed { why: brought.counts(), answer: Some(answer) },
                }
            }
        }
    }

    /// What `work` comes to; None where it was asked to stop and did not. Says meanwhile that it lives.
    async fn until_stopped<T>(&self, work: impl Future<Output = T>, cancel: &Cancel) -> Option<T> {
        tokio::pin!(work);
        let mut asked = None;
        loop {
            tokio::select! {
                worked = &mut work => return Some(worked),
                () = tokio::time::sleep(BEAT) => {
                    // A database that cannot be asked for a moment is asked again.
                    if self.beat().await.unwrap_or(false) {
                        cancel.cancel();
                    }
                    if cancel.is_cancelled() {
                        let since = *asked.get_or_insert_with(tokio::time::Instant::now);
                        if since.elapsed() > GRACE {
                            return None;
                        }
                    }
                }
            }
        }
    }

    /// Writes how it ended, the first time that it is said.
    async fn end(&mut self, end: RunEnd) {
        if std::mem::replace(&mut self.open, false) {
            // Refused where somebody took it for dead: then that is how it ended.
            let _ = end_run(&self.db, self.id, end, self.clock.unix_ms()).await;
        }
    }
}

impl Drop for Row {
    /// The process ends, or nobody polls any more.
    fn drop(&mut self) {
        if self.open {
            let why = "the process that ran its agent ended before it was done".to_owned();
            let end = RunEnd::Failed { why, answer: self.so_far.answer(MAX_RESULT_CHARS) };
            let _ = self.db.end_run(self.id, &end, self.clock.unix_ms());
            lock(&self.fleet.afloat).remove(&self.id);
            lock(&self.fleet.seated).remove(&self.id);
        }
    }
}

async fn end_run(db: &Arc<Db>, id: TaskId, end: RunEnd, now: u64) -> Result<(), ToolError> {
    let db = Arc::clone(db);
    apart(move || db.end_run(id, &end, now)).await?.map(drop).map_err(ToolError::from)
}

/// It was asked to stop, and has answered nothing.
const STOPPED: RunEnd = RunEnd::Stopped { answer: None };

fn failed(error: &ToolError) -> RunEnd {
    RunEnd::Failed { why: error.to_string(), answer: None }
}

fn kept(text: String) -> String {
    text::head_and_tail(&text, MAX_RESULT_CHARS).unwrap_or(text)
}
