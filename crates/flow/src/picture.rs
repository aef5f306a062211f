//! The graph of a workflow as a picture: SVG in layers, or Mermaid's text. Ours is drawn by hand, as a page that shows
//! it has to fetch nothing, and every text in it is escaped: a workflow may come from anybody.

use std::fmt::Write as _;

use crate::graph::layers;
use crate::model::{Flow, Index, Task, Verb};

/// Tasks that are drawn one by one. A page of more is no picture any more.
pub const MOST_TASKS: usize = 400;

/// Tasks beside each other.
const ROW: usize = 8;
const WIDTH: usize = 190;
const HEIGHT: usize = 48;
const ACROSS: usize = 28;
const DOWN: usize = 56;
const EDGE: usize = 24;

/// Mermaid's `flowchart`.
pub fn mermaid(flow: &Flow) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (index, task) in flow.tasks.iter().enumerate() {
        // Quotes end a label and `#` begins an entity; nothing else means anything inside them.
        let label = format!("{}<br/>{}", mermaid_text(&task.id.value), mermaid_text(&about(task)));
        let (open, close) = match task.verb {
            Verb::Infer(_) | Verb::Agent(_) => ("([", "])"),
            Verb::Exec(_) => ("[", "]"),
            Verb::Fetch(_) => ("{{", "}}"),
            Verb::Invoke(_) => ("[[", "]]"),
        };
        let _ = writeln!(text, "  t{index}{open}\"{label}\"{close}");
    }
    for (index, task) in flow.tasks.iter().enumerate() {
        for before in &task.after {
            let arrow = if is_soft(task, *before) { "-.->" } else { "-->" };
            let _ = writeln!(text, "  t{before} {arrow} t{index}");
        }
    }
    text
}

fn mermaid_text(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "#quot;".to_owned(),
            '#' => "#35;".to_owned(),
            '<' => "#lt;".to_owned(),
            '>' => "#gt;".to_owned(),
            '&' => "#amp;".to_owned(),
            '`' | '\\' => "'".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

/// An SVG of the graph, top to bottom. Tasks that wait for nothing stand in the first row.
pub fn svg(flow: &Flow) -> String {
    let shown = flow.tasks.len().min(MOST_TASKS);
    let layer = layers(flow).unwrap_or_else(|| (0..flow.tasks.len()).collect());
    let rows = rows(flow, &layer, shown);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let left_out = flow.tasks.len() - shown;
    let width = (2 * EDGE + columns * (WIDTH + ACROSS) - ACROSS).max(2 * EDGE + 320);
    let top = EDGE + 44;
    let height = top + rows.len() * (HEIGHT + DOWN) - DOWN + EDGE + if left_out > 0 { 24 } else { 0 };
    let mut place = vec![None; flow.tasks.len()];
    for (row, tasks) in rows.iter().enumerate() {
        let taken = tasks.len() * (WIDTH + ACROSS) - ACROSS;
        let start = (width - taken) / 2;
        for (column, task) in tasks.iter().enumerate() {
            place[*task] = Some((start + column * (WIDTH + ACROSS), top + row * (HEIGHT + DOWN)));
        }
    }
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{}\">\n{STYLE}",
        escaped(&format!("The tasks of {}", flow.name))
    );
    let _ = writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{EDGE}\" y=\"{}\">{}</text>",
        EDGE + 14,
        escaped(&cut(&flow.name, 60))
    );
    for (index, task) in flow.tasks.iter().enumerate() {
        for before in &task.after {
            if let (Some(from), Some(to)) = (place[*before], place[index]) {
                out.push_str(&edge(from, to, is_soft(task, *before)));
            }
        }
    }
    for (index, task) in flow.tasks.iter().enumerate() {
        if let Some(at) = place[index] {
            out.push_str(&node(task, at));
        }
    }
    if left_out > 0 {
        let _ = writeln!(
            out,
            "<text class=\"about\" x=\"{EDGE}\" y=\"{}\">and {left_out} more tasks</text>",
            height - EDGE
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Light and dark, by what the page that shows it prefers.
const STYLE: &str = "<style>\
.page{fill:#fff}.title{font:600 16px sans-serif;fill:#1a1a1a}.id{font:600 13px sans-serif;fill:#1a1a1a}\
.about{font:11px sans-serif;fill:#555}.edge{fill:none;stroke:#888;stroke-width:1.5}.soft{stroke-dasharray:5 4}\
.box{stroke-width:1.5}.exec{fill:#e8f1fb;stroke:#3b78b5}.fetch{fill:#e6f5ee;stroke:#2f8f63}\
.invoke{fill:#f3ecfa;stroke:#7d55ad}.infer{fill:#fdf1e1;stroke:#b9761d}.agent{fill:#fbe9ec;stroke:#b5485b}\
@media(prefers-color-scheme:dark){.page{fill:#16181c}.title,.id{fill:#f0f0f0}.about{fill:#b5b8be}.edge{stroke:#8a8f98}\
.exec{fill:#17314a}.fetch{fill:#14382a}.invoke{fill:#2e2140}.infer{fill:#3f2d12}.agent{fill:#421f27}}\
</style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#888\"/></marker></defs>\n";

/// Rows of tasks, each row ordered so that a task stands below what it waits for.
fn rows(flow: &Flow, layer: &[usize], shown: usize) -> Vec<Vec<Index>> {
    let deepest = layer.iter().take(shown).max().copied().unwrap_or(0);
    let mut rows: Vec<Vec<Index>> = vec![Vec::new(); deepest + 1];
    for index in 0..shown {
        rows[layer[index]].push(index);
    }
    let mut position = vec![0.0f64; flow.tasks.len()];
    for row in &mut rows {
        // The middle of what a task waits for: one pass from the top takes most crossings out.
        let middle = |index: Index, position: &[f64]| {
            let after = &flow.tasks[index].after;
            let sum: f64 = after.iter().map(|before| position[*before]).sum();
            if after.is_empty() { index as f64 } else { sum / after.len() as f64 }
        };
        row.sort_by(|one, two| middle(*one, &position).total_cmp(&middle(*two, &position)).then(one.cmp(two)));
        let count = row.len();
        for (column, index) in row.iter().enumerate() {
            position[*index] = column as f64 - (count as f64 - 1.0) / 2.0;
        }
    }
    // A row of many is broken: a page is seldom wider.
    rows.iter().flat_map(|row| row.chunks(ROW)).map(<[Index]>::to_vec).collect()
}

fn edge(from: (usize, usize), to: (usize, usize), soft: bool) -> String {
    let (x1, y1) = (from.0 + WIDTH / 2, from.1 + HEIGHT);
    let (x2, y2) = (to.0 + WIDTH / 2, to.1);
    let middle = (y1 + y2) / 2;
    let soft = if soft { " soft" } else { "" };
    format!(
        "<path class=\"edge{soft}\" marker-end=\"url(#tip)\" d=\"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}\"/>\n"
    )
}

fn node(task: &Task, (x, y): (usize, usize)) -> String {
    let verb = task.verb.name();
    let mut out = format!(
        "<g><title>{}</title><rect class=\"box {verb}\" x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>",
        escaped(task.description.as_deref().unwrap_or(&task.id.value))
    );
    let middle = x + WIDTH / 2;
    let _ = writeln!(
        out,
        "<text class=\"id\" text-anchor=\"middle\" x=\"{middle}\" y=\"{}\">{}</text>\
         <text class=\"about\" text-anchor=\"middle\" x=\"{middle}\" y=\"{}\">{}</text></g>",
        y + 20,
        escaped(&cut(&task.id.value, 24)),
        y + 37,
        escaped(&cut(&about(task), 32)),
    );
    out
}

/// What a task does, in a few words.
fn about(task: &Task) -> String {
    use crate::model::{Called, Command};
    let what = match &task.verb {
        Verb::Infer(_) => "asks a model".to_owned(),
        Verb::Agent(_) => "an agent".to_owned(),
        Verb::Exec(exec) => match &exec.command {
            Command::Words(words) => words.iter().take(3).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
            Command::Shell(text) => nika_contract::text::preview(&text.value, 40),
        },
        Verb::Fetch(fetch) => fetch.url.text.clone(),
        Verb::Invoke(invoke) => match &invoke.what {
            Called::Tool(name) => name.value.clone(),
            Called::Resource { server, .. } => format!("a resource of {}", server.value),
            Called::Workflow(path) => path.value.clone(),
        },
    };
    let each = if task.for_each.is_some() { "each: " } else { "" };
    format!("{each}{what}")
}

/// Whether a task begins although the one before it failed or was skipped.
fn is_soft(task: &Task, before: Index) -> bool {
    let mut uses = task.uses.iter().filter(|binding| binding.task == before).peekable();
    uses.peek().is_some() && uses.all(|binding| binding.default.is_some())
}

fn cut(text: &str, most: usize) -> String {
    nika_contract::text::preview(text, most)
}

/// Text for XML: markup and characters that it cannot hold.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    fn flow() -> Flow {
        let text = "schema: nika/workflow@1\nname: '<b>&\"x'\ntasks:\n  - {id: a, exec: [ls, \"</text><script>\"]}\n  - {id: b, depends_on: a, fetch: \"https://a.org/#\"}\n  - {id: c, use: {x: \"a ?? 1\"}, infer: hi}\n  - {id: d, depends_on: [b, c], invoke: {tool: read}}\n";
        read(text, "x").expect("it reads")
    }

    #[test]
    fn a_picture_holds_no_markup_of_the_document() {
        let svg = svg(&flow());
        assert!(!svg.contains("<script>") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;"), "{svg}");
        assert_eq!(svg.matches("class=\"edge").count(), 4);
        assert_eq!(svg.matches("edge soft").count(), 1);
    }

    #[test]
    fn mermaid_has_a_line_a_task_and_a_line_an_edge() {
        let text = mermaid(&flow());
        assert_eq!(text.lines().count(), 1 + 4 + 4, "{text}");
        assert!(text.contains("t0 -.-> t2") && text.contains("t0 --> t1"), "{text}");
        assert!(text.contains("https://a.org/#35;"), "{text}");
    }
}
