//! What a template names, and of what type that is: a walk over minijinja's tree.
//!
//! Only what is sure is said: a name that nobody gives, a key that a known shape does not have, a number that is walked
//! through. Everything else is of an unknown type, and left to the run.

use std::ops::Range;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::{parse, parse_expr};
use minijinja::value::Value as Held;

use super::engine::syntax;
use super::filters::{FILTERS, FUNCTIONS, Gives, HAS, TESTS};
use super::source::Source;
use crate::check::Type;
use crate::read::meant;

/// What is wrong in a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub suggestion: Option<String>,
    /// In the original text.
    pub at: Range<usize>,
}

/// Of which class a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It cannot be read.
    Syntax,
    /// It names what nobody gives.
    Unknown,
    /// A value is not what is asked of it.
    Type,
    /// It names an environment variable that `permits.env` does not.
    Env,
}

/// What a walk found.
#[derive(Debug)]
pub(crate) struct Walked {
    /// Of the value of a whole expression; text of anything else.
    pub kind: Type,
    pub faults: Vec<Fault>,
    /// What it names of `secrets` and `env`: the root and the name.
    taken: Vec<(&'static str, String)>,
    /// Roots that it names: `use`, `inputs`, ….
    pub roots: Vec<String>,
}

impl Walked {
    /// What it names below a root, `secrets` or `env`.
    pub fn below(&self, root: &str) -> Vec<String> {
        self.taken.iter().filter(|(of, _)| *of == root).map(|(_, name)| name.clone()).collect()
    }
}

/// Walks over a source. `known` is an object of what templates see.
pub(crate) fn walk(source: &Source, known: &[(String, Type)]) -> Walked {
    let mut walk = Walk {
        source,
        scopes: vec![known.to_vec()],
        known: 1,
        faults: Vec::new(),
        taken: Vec::new(),
        roots: Vec::new(),
    };
    let kind = if source.whole {
        match parse_expr(&source.text) {
            Ok(expr) => walk.expr(&expr, false),
            Err(error) => walk.syntax(&error),
        }
    } else {
        match parse(&source.text, "template", syntax()) {
            Ok(Stmt::Template(template)) => walk.block(&template.children),
            Ok(_) => {}
            Err(error) => _ = walk.syntax(&error),
        }
        Type::Text
    };
    Walked { kind, faults: walk.faults, taken: walk.taken, roots: walk.roots }
}

/// The first path in a source that leads nowhere, for the message of a run that failed on it.
pub(crate) fn missing(source: &Source, held: &Held) -> Option<String> {
    let mut paths = Vec::new();
    if source.whole {
        gather(&parse_expr(&source.text).ok()?, &mut paths);
    } else if let Ok(Stmt::Template(template)) = parse(&source.text, "template", syntax()) {
        gather_block(&template.children, &mut paths);
    }
    paths.into_iter().find_map(|path| {
        let mut value = held.clone();
        let mut shown = String::new();
        for step in path {
            let next = match &step {
                Step::Key(key) => value.get_attr(key).ok(),
                Step::Item(item) => value.get_item(item).ok(),
            };
            match &step {
                Step::Key(key) if shown.is_empty() => shown.push_str(key),
                Step::Key(key) => shown.push_str(&format!(".{key}")),
                Step::Item(item) => shown.push_str(&format!("[{}]", serde_json::to_string(item).unwrap_or_default())),
            }
            match next {
                Some(next) if !next.is_undefined() => value = next,
                _ => return Some(shown),
            }
        }
        None
    })
}

enum Step {
    Key(String),
    Item(Held),
}

/// The path that an expression is, when it is one.
fn path(expr: &Expr<'_>) -> Option<Vec<Step>> {
    match expr {
        Expr::Var(var) => Some(vec![Step::Key(var.id.to_owned())]),
        Expr::GetAttr(get) => {
            let mut steps = path(&get.expr)?;
            steps.push(Step::Key(get.name.to_owned()));
            Some(steps)
        }
        Expr::GetItem(get) => {
            let mut steps = path(&get.expr)?;
            steps.push(Step::Item(get.subscript_expr.as_const()?));
            Some(steps)
        }
        _ => None,
    }
}

/// Paths of an expression that are not asked whether they are there.
fn gather(expr: &Expr<'_>, found: &mut Vec<Vec<Step>>) {
    if let Some(path) = path(expr) {
        found.push(path);
        return;
    }
    let guard = |expr: &Expr<'_>| matches!(expr, Expr::Test(test) if matches!(test.name, "defined" | "undefined"));
    match expr {
        // What stands behind a question is asked about.
        Expr::IfExpr(cond) if calls_has(&cond.test_expr) => {
            if let Some(other) = &cond.false_expr {
                gather(other, found);
            }
        }
        Expr::Filter(filter) if matches!(filter.name, "default" | "d") => {}
        other if guard(other) => {}
        other => children(other, &mut |child| gather(child, found)),
    }
}

fn gather_block(block: &[Stmt<'_>], found: &mut Vec<Vec<Step>>) {
    for stmt in block {
        match stmt {
            Stmt::EmitExpr(emit) => gather(&emit.expr, found),
            // Names inside are of the loop, too: only what it walks over is sure.
            Stmt::ForLoop(each) => gather(&each.iter, found),
            Stmt::IfCond(cond) => {
                gather(&cond.expr, found);
                gather_block(&cond.true_body, found);
                gather_block(&cond.false_body, found);
            }
            _ => {}
        }
    }
}

/// Whether an expression asks what `??` asks.
fn calls_has(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::BinOp(op) => calls_has(&op.left) || calls_has(&op.right),
        Expr::Call(call) => matches!(&call.expr, Expr::Var(var) if var.id == HAS),
        _ => false,
    }
}

/// Calls `each` with the expressions directly below one.
fn children(expr: &Expr<'_>, each: &mut dyn FnMut(&Expr<'_>)) {
    let args = |args: &[CallArg<'_>], each: &mut dyn FnMut(&Expr<'_>)| {
        for arg in args {
            match arg {
                CallArg::Pos(expr) | CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                    each(expr);
                }
            }
        }
    };
    match expr {
        Expr::Var(_) | Expr::Const(_) => {}
        Expr::Slice(slice) => {
            each(&slice.expr);
            [&slice.start, &slice.stop, &slice.step].into_iter().flatten().for_each(&mut *each);
        }
        Expr::UnaryOp(op) => each(&op.expr),
        Expr::BinOp(op) => {
            each(&op.left);
            each(&op.right);
        }
        Expr::Compare(compare) => {
            each(&compare.expr);
            compare.ops.iter().for_each(|op| each(&op.expr));
        }
        Expr::IfExpr(cond) => {
            each(&cond.test_expr);
            each(&cond.true_expr);
            cond.false_expr.iter().for_each(&mut *each);
        }
        Expr::Filter(filter) => {
            filter.expr.iter().for_each(&mut *each);
            args(&filter.args, each);
        }
        Expr::Test(test) => {
            each(&test.expr);
            args(&test.args, each);
        }
        Expr::GetAttr(get) => each(&get.expr),
        Expr::GetItem(get) => {
            each(&get.expr);
            each(&get.subscript_expr);
        }
        Expr::Call(call) => {
            each(&call.expr);
            args(&call.args, each);
        }
        Expr::List(list) => list.items.iter().for_each(each),
        Expr::Tuple(tuple) => tuple.items.iter().for_each(each),
        Expr::Map(map) => {
            map.keys.iter().for_each(&mut *each);
            map.values.iter().for_each(each);
        }
    }
}

/// The innermost block that is begun and not ended: where it begins, and its word.
fn open_block(text: &str) -> Option<(Range<usize>, &'static str)> {
    let mut open: Vec<(Range<usize>, &'static str)> = Vec::new();
    for (at, _) in text.match_indices("{%") {
        let end = text[at..].find("%}").map_or(text.len(), |end| at + end + 2);
        let word = text[at + 2..end].trim_start_matches(['-', '+']).split_whitespace().next().unwrap_or_default();
        match word {
            "for" => open.push((at..end, "for")),
            "if" => open.push((at..end, "if")),
            // What is between these is no template.
            "raw" => return None,
            "endfor" | "endif" => _ = open.pop().filter(|(_, begun)| word.ends_with(begun))?,
            _ => {}
        }
    }
    open.pop()
}

struct Walk<'s> {
    source: &'s Source,
    /// What is named, the innermost last.
    scopes: Vec<Vec<(String, Type)>>,
    /// How many of the scopes are ours, and not made by a loop inside the template.
    known: usize,
    faults: Vec<Fault>,
    taken: Vec<(&'static str, String)>,
    roots: Vec<String>,
}

impl Walk<'_> {
    fn fault(&mut self, kind: FaultKind, span: Range<usize>, message: String, suggestion: Option<String>) {
        let at = self.source.original(span);
        let fault = Fault { kind, message, suggestion, at };
        // What `??` repeats is said once.
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    fn syntax(&mut self, error: &minijinja::Error) -> Type {
        let text = &self.source.text;
        if let Some((at, word)) = open_block(text) {
            let message = format!("the template cannot be read: `{{% {word} … %}}` has no end");
            let suggestion = format!("`{{% end{word} %}}` stands behind what it is about");
            self.fault(FaultKind::Syntax, at, message, Some(suggestion));
            return Type::Unknown;
        }
        let range = error.range().unwrap_or(0..text.len());
        let detail = error.detail().map_or_else(|| error.to_string(), str::to_owned);
        let unclosed = self.source.text.contains("{{") && !self.source.text.contains("}}");
        let suggestion = unclosed.then(|| "`{{` begins a template, and `}}` ends it".to_owned());
        self.fault(FaultKind::Syntax, range, format!("the template cannot be read: {detail}"), suggestion);
        Type::Unknown
    }

    fn block(&mut self, block: &[Stmt<'_>]) {
        for stmt in block {
            match stmt {
                Stmt::EmitRaw(_) => {}
                Stmt::Template(inner) => self.block(&inner.children),
                Stmt::EmitExpr(emit) => _ = self.expr(&emit.expr, false),
                Stmt::IfCond(cond) => {
                    self.expr(&cond.expr, false);
                    self.block(&cond.true_body);
                    self.block(&cond.false_body);
                }
                Stmt::ForLoop(each) => {
                    let over = self.expr(&each.iter, false);
                    self.walked_through(&over, &each.iter);
                    let mut scope = vec![("loop".to_owned(), Type::Unknown)];
                    targets(&each.target, over.element(), &mut scope);
                    self.scopes.push(scope);
                    if let Some(filter) = &each.filter_expr {
                        self.expr(filter, false);
                    }
                    self.block(&each.body);
                    self.scopes.pop();
                    self.block(&each.else_body);
                }
                other => {
                    let (what, span) = match other {
                        Stmt::WithBlock(stmt) => ("with", stmt.span()),
                        Stmt::Set(stmt) => ("set", stmt.span()),
                        Stmt::SetBlock(stmt) => ("set", stmt.span()),
                        Stmt::AutoEscape(stmt) => ("autoescape", stmt.span()),
                        Stmt::FilterBlock(stmt) => ("filter", stmt.span()),
                        Stmt::Do(stmt) => ("do", stmt.span()),
                        _ => continue,
                    };
                    let message = format!("templates here have no `{{% {what} %}}`");
                    let known = Some("there is `{% for … in … %}` and `{% if … %}`".to_owned());
                    self.fault(FaultKind::Syntax, span_of(span), message, known);
                }
            }
        }
    }

    /// The type of an expression. `asked`: it may lead nowhere, as somebody asks whether it does.
    fn expr(&mut self, expr: &Expr<'_>, asked: bool) -> Type {
        match expr {
            Expr::Var(var) => self.var(var.id, span_of(var.span()), asked),
            Expr::Const(constant) => {
                serde_json::to_value(&constant.value).map_or(Type::Unknown, |value| Type::of(&value))
            }
            Expr::GetAttr(get) => {
                let of = self.expr(&get.expr, asked);
                self.step(expr, &get.expr, &of, get.name, asked)
            }
            Expr::GetItem(get) => {
                let of = self.expr(&get.expr, asked);
                self.expr(&get.subscript_expr, false);
                match get.subscript_expr.as_const() {
                    Some(key) if key.as_str().is_some() => {
                        self.step(expr, &get.expr, &of, key.as_str().unwrap_or_default(), asked)
                    }
                    Some(_) if matches!(of, Type::Number | Type::Bool | Type::Null) && !asked => {
                        let message = format!("{} is {}, and has no elements", self.said(&get.expr), of.name());
                        self.fault(FaultKind::Type, span_of(expr.span()), message, None);
                        Type::Unknown
                    }
                    Some(_) => of.element(),
                    None => Type::Unknown,
                }
            }
            Expr::IfExpr(cond) => {
                let has = calls_has(&cond.test_expr);
                // The question repeats the path, whose names are looked at in what it guards.
                if !has {
                    self.expr(&cond.test_expr, false);
                }
                let yes = self.expr(&cond.true_expr, has || asked);
                match &cond.false_expr {
                    Some(other) => {
                        let no = self.expr(other, asked);
                        yes.or(no)
                    }
                    None => Type::Unknown,
                }
            }
            Expr::Test(test) => {
                let asks = matches!(test.name, "defined" | "undefined");
                self.expr(&test.expr, asks);
                self.args(&test.args);
                if !TESTS.iter().any(|(name, _)| *name == test.name) {
                    let known = meant(test.name, TESTS.iter().map(|(name, _)| *name));
                    self.fault(
                        FaultKind::Unknown,
                        span_of(test.span()),
                        format!("there is no test `{}`", test.name),
                        known,
                    );
                }
                Type::Bool
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Call(call) => self.call(call),
            Expr::UnaryOp(op) => {
                let of = self.expr(&op.expr, false);
                match op.op {
                    minijinja::machinery::ast::UnaryOpKind::Not => Type::Bool,
                    minijinja::machinery::ast::UnaryOpKind::Neg => {
                        self.calculates(&of, &op.expr);
                        Type::Number
                    }
                }
            }
            Expr::BinOp(op) => {
                let (left, right) = (self.expr(&op.left, false), self.expr(&op.right, false));
                self.binary(op.op, (&left, &op.left), (&right, &op.right))
            }
            Expr::Compare(_) => {
                children(expr, &mut |child| _ = self.expr(child, false));
                Type::Bool
            }
            Expr::List(list) => {
                let mut of: Option<Type> = None;
                for item in &list.items {
                    let item = self.expr(item, false);
                    of = Some(match of {
                        Some(of) => of.or(item),
                        None => item,
                    });
                }
                Type::List(Box::new(of.unwrap_or(Type::Unknown)))
            }
            Expr::Map(map) => {
                let mut fields = Vec::new();
                let mut open = false;
                for (key, value) in map.keys.iter().zip(&map.values) {
                    let kind = self.expr(value, false);
                    match key.as_const().as_ref().and_then(Held::as_str) {
                        Some(key) => fields.push((key.to_owned(), kind)),
                        None => {
                            self.expr(key, false);
                            open = true;
                        }
                    }
                }
                Type::Object { fields, open }
            }
            Expr::Slice(slice) => {
                let of = self.expr(&slice.expr, false);
                [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                    .for_each(|bound| _ = self.expr(bound, false));
                match of {
                    Type::List(_) | Type::Text => of,
                    _ => Type::Unknown,
                }
            }
            Expr::Tuple(tuple) => {
                tuple.items.iter().for_each(|item| _ = self.expr(item, false));
                Type::List(Box::new(Type::Unknown))
            }
        }
    }

    fn var(&mut self, name: &str, span: Range<usize>, asked: bool) -> Type {
        for (depth, scope) in self.scopes.iter().enumerate().rev() {
            if let Some((_, kind)) = scope.iter().find(|(known, _)| known == name) {
                let kind = kind.clone();
                if depth < self.known && !self.roots.iter().any(|root| root == name) {
                    self.roots.push(name.to_owned());
                }
                return kind;
            }
        }
        if asked && name == HAS {
            return Type::Unknown;
        }
        let names: Vec<String> = self.scopes.iter().flatten().map(|(name, _)| name.clone()).collect();
        // A bare alias is the most usual slip: `found` for `use.found`.
        let below = self.scopes[0].iter().find_map(|(root, kind)| match kind {
            Type::Object { fields, .. } if fields.iter().any(|(field, _)| field == name) => {
                Some(format!("`{root}.{name}`?"))
            }
            _ => None,
        });
        let suggestion = below.or_else(|| meant(name, names.iter().map(String::as_str)));
        self.fault(FaultKind::Unknown, span, format!("`{name}` is not a name that templates have here"), suggestion);
        Type::Unknown
    }

    /// `of.key`
    fn step(&mut self, expr: &Expr<'_>, below: &Expr<'_>, of: &Type, key: &str, asked: bool) -> Type {
        let span = span_of(expr.span());
        let root = match below {
            Expr::Var(var) if self.scopes[self.known..].iter().flatten().all(|(name, _)| name != var.id) => {
                Some(var.id)
            }
            _ => None,
        };
        let watched = ["secrets", "env"].into_iter().find(|watched| root == Some(watched));
        if let Some(watched) =
            watched.filter(|watched| !self.taken.iter().any(|(of, name)| of == watched && name == key))
        {
            self.taken.push((watched, key.to_owned()));
        }
        match of {
            Type::Object { fields, open } => match fields.iter().find(|(name, _)| name == key) {
                Some((_, kind)) => kind.clone(),
                None if *open => Type::Unknown,
                // A name that the document would have to give is missed even where somebody asks for it.
                None if root.is_some_and(|root| ROOTS.contains(&root)) => {
                    let root = root.unwrap_or_default();
                    let kind = if root == "env" { FaultKind::Env } else { FaultKind::Unknown };
                    let message = match root {
                        "env" => format!("`env.{key}` is read, and `permits.env` does not state it"),
                        "inputs" => format!("`inputs.{key}` is not one of the workflow's inputs"),
                        "secrets" => format!("`secrets.{key}` is not one of the workflow's secrets"),
                        "tasks" => format!("`tasks.{key}` is not the id of a task"),
                        _ => format!("`use.{key}` is not in this task's `use`"),
                    };
                    let near = meant(key, fields.iter().map(|(name, _)| name.as_str()));
                    let suggestion = match root {
                        "env" => Some(format!("env: [{key}] in `permits`")),
                        "use" if fields.is_empty() => Some(format!("use: {{{key}: TASK}} names another task's output")),
                        _ => near,
                    };
                    self.fault(kind, span, message, suggestion);
                    Type::Unknown
                }
                None if asked => Type::Unknown,
                None => {
                    let near = meant(key, fields.iter().map(|(name, _)| name.as_str()));
                    let message = format!("{} has no `{key}`", self.said(below));
                    self.fault(FaultKind::Type, span, message, near);
                    Type::Unknown
                }
            },
            Type::Unknown => Type::Unknown,
            _ if asked => Type::Unknown,
            other => {
                let hint = match other {
                    Type::List(_) => {
                        Some("an element is `[0]`; all are walked through with `for_each` or `map`".to_owned())
                    }
                    Type::Text => Some("a command's output is read as JSON with `capture: json`".to_owned()),
                    _ => None,
                };
                let message = format!("{} is {}, and has no `{key}`", self.said(below), other.name());
                self.fault(FaultKind::Type, span, message, hint);
                Type::Unknown
            }
        }
    }

    /// The words of an expression, as they were written.
    fn said(&self, expr: &Expr<'_>) -> String {
        let span = span_of(expr.span());
        let text = self.source.text.get(span).unwrap_or_default().trim();
        if text.is_empty() || text.chars().count() > 60 { "this".to_owned() } else { format!("`{text}`") }
    }

    fn args(&mut self, args: &[CallArg<'_>]) {
        for arg in args {
            match arg {
                CallArg::Pos(expr) | CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                    self.expr(expr, false);
                }
            }
        }
    }

    fn filter(&mut self, filter: &minijinja::machinery::ast::Spanned<minijinja::machinery::ast::Filter<'_>>) -> Type {
        let asks = matches!(filter.name, "default" | "d");
        let of = filter.expr.as_ref().map_or(Type::Unknown, |expr| self.expr(expr, asks));
        self.args(&filter.args);
        let Some(known) = FILTERS.iter().find(|known| known.name == filter.name) else {
            let known = meant(filter.name, FILTERS.iter().map(|known| known.name));
            self.fault(
                FaultKind::Unknown,
                span_of(filter.span()),
                format!("there is no filter `{}`", filter.name),
                known,
            );
            return Type::Unknown;
        };
        // Filters that only take what has elements.
        const WALKS: &[&str] =
            &["join", "length", "count", "first", "last", "map", "select", "reject", "sort", "unique", "sum"];
        if WALKS.contains(&filter.name)
            && let Some(expr) = &filter.expr
        {
            self.walked_through(&of, expr);
        }
        match known.gives {
            Gives::Unknown => Type::Unknown,
            Gives::Text => Type::Text,
            Gives::Number => Type::Number,
            Gives::Bool => Type::Bool,
            Gives::List => Type::List(Box::new(Type::Unknown)),
        }
    }

    fn call(&mut self, call: &minijinja::machinery::ast::Spanned<minijinja::machinery::ast::Call<'_>>) -> Type {
        self.args(&call.args);
        match &call.expr {
            Expr::Var(var) if FUNCTIONS.contains(&var.id) || var.id == HAS => Type::List(Box::new(Type::Number)),
            Expr::Var(var) => {
                let known = meant(var.id, FUNCTIONS.iter().copied());
                self.fault(
                    FaultKind::Unknown,
                    span_of(call.span()),
                    format!("there is no function `{}`", var.id),
                    known,
                );
                Type::Unknown
            }
            other => {
                self.expr(other, false);
                let message = "values of templates have no methods".to_owned();
                let hint = Some("write a filter: `text | upper`".to_owned());
                self.fault(FaultKind::Unknown, span_of(call.span()), message, hint);
                Type::Unknown
            }
        }
    }

    fn binary(&mut self, op: BinOpKind, left: (&Type, &Expr<'_>), right: (&Type, &Expr<'_>)) -> Type {
        match op {
            BinOpKind::Concat => Type::Text,
            BinOpKind::ScAnd | BinOpKind::ScOr => left.0.clone().or(right.0.clone()),
            BinOpKind::Sub | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem | BinOpKind::Pow => {
                self.calculates(left.0, left.1);
                self.calculates(right.0, right.1);
                Type::Number
            }
            BinOpKind::Add => {
                let mixed = |one: &Type, two: &Type| matches!((one, two), (Type::Text, Type::Number));
                if mixed(left.0, right.0) || mixed(right.0, left.0) {
                    let message = "a text and a number cannot be added".to_owned();
                    let hint = Some("`~` puts texts together, `| int` makes a number".to_owned());
                    self.fault(FaultKind::Type, span_of(left.1.span()), message, hint);
                }
                if left.0 == right.0 { left.0.clone() } else { Type::Unknown }
            }
            BinOpKind::Mul => Type::Unknown,
            _ => Type::Bool,
        }
    }

    /// A value that is calculated with.
    fn calculates(&mut self, kind: &Type, expr: &Expr<'_>) {
        if matches!(kind, Type::Text | Type::List(_) | Type::Object { .. } | Type::Null) {
            let message = format!("{} is {}, and cannot be calculated with", self.said(expr), kind.name());
            let hint = matches!(kind, Type::Text).then(|| "`| int` or `| float` makes a number of it".to_owned());
            self.fault(FaultKind::Type, span_of(expr.span()), message, hint);
        }
    }

    /// A value whose elements are walked through.
    fn walked_through(&mut self, kind: &Type, expr: &Expr<'_>) {
        if matches!(kind, Type::Number | Type::Bool) {
            let message = format!("{} is {}, and has no elements", self.said(expr), kind.name());
            self.fault(FaultKind::Type, span_of(expr.span()), message, None);
        }
    }
}

/// Roots whose names the document gives.
const ROOTS: &[&str] = &["inputs", "use", "secrets", "env", "tasks"];

fn span_of(span: minijinja::machinery::Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// Names that a loop gives.
fn targets(target: &Expr<'_>, kind: Type, scope: &mut Vec<(String, Type)>) {
    match target {
        Expr::Var(var) => scope.push((var.id.to_owned(), kind)),
        Expr::List(list) => list.items.iter().for_each(|item| targets(item, Type::Unknown, scope)),
        Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| targets(item, Type::Unknown, scope)),
        _ => {}
    }
}
