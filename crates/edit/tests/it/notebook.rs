//! Notebooks keep every byte that is not edited.

use nika_edit::notebook::{CellEdit, CellKind, NotebookError, Op, Output, plan, read};

const SAMPLE: &str = include_str!("../../src/notebook/sample.ipynb");

fn edit<'a>(
    op: Op,
    id: Option<&'a str>,
    index: Option<usize>,
    kind: Option<CellKind>,
    source: Option<&'a str>,
) -> CellEdit<'a> {
    CellEdit { op, id, index, kind, source, new_id: "fresh" }
}

#[track_caller]
fn after(file: &str, edit: &CellEdit<'_>) -> String {
    let change = plan(file.as_bytes(), edit).unwrap();
    let bytes = change.plan.apply(file.as_bytes());
    assert_eq!(change.plan.inverse(file.as_bytes()).apply(&bytes), file.as_bytes());
    let text = String::from_utf8(bytes).unwrap();
    serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).unwrap();
    text
}

#[test]
fn cells_are_read_with_their_outputs() {
    let notebook = read(SAMPLE.as_bytes()).unwrap();
    assert_eq!((notebook.nbformat, notebook.nbformat_minor, notebook.language.as_deref()), (4, 5, Some("python")));
    let cell = &notebook.cells[1];
    assert_eq!((cell.id.as_deref(), cell.execution_count), (Some("load"), Some(3)));
    assert!(matches!(&cell.outputs[1], Output::Image(image) if image.bytes() == 8));
    expect_test::expect![[r#"
        === cell 1 code [3] id=load
        import os

        print(1)
        print(2)
        --- stdout
        1
        2
        --- image
        [image/png, 8 bytes]
        --- result
        <Figure>
        --- error
        Traceback
        ValueError: no
    "#]]
    .assert_eq(&cell.render());
}

#[test]
fn a_replaced_source_changes_its_lines_and_clears_outputs() {
    let change =
        plan(SAMPLE.as_bytes(), &edit(Op::Replace, Some("load"), None, None, Some("import os\n\nprint(3)\nprint(2)")))
            .unwrap();
    assert_eq!((change.index, change.cleared_outputs, change.cleared_execution_count), (1, 3, true));
    let text = String::from_utf8(change.plan.apply(SAMPLE.as_bytes())).unwrap();
    let (head, rest) = SAMPLE.split_once("\"execution_count\": 3,\n   \"id\"").unwrap();
    let outputs_end = rest.find("   \"source\": [\n    \"import").unwrap();
    let (metadata, _) = rest.split_once("\"outputs\": [").unwrap();
    let expected = format!(
        "{head}\"execution_count\": null,\n   \"id\"{metadata}\"outputs\": [],\n{}",
        rest[outputs_end..].replace("print(1)", "print(3)")
    );
    assert_eq!(text, expected);
}

#[test]
fn new_cells_look_like_their_neighbours() {
    let text = after(SAMPLE, &edit(Op::Insert, Some("intro"), None, Some(CellKind::Code), Some("x = 1\ny = \"é\"")));
    let cell = "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"fresh\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x = 1\\n\",\n    \"y = \\\"é\\\"\"\n   ]\n  },\n";
    assert_eq!(text.replacen(cell, "", 1), SAMPLE);
    let text = after(SAMPLE, &edit(Op::Insert, None, None, Some(CellKind::Markdown), Some("")));
    assert!(text.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"fresh\",\n   \"metadata\": {},\n   \"source\": []\n  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"intro\""));
    let at_end = plan(SAMPLE.as_bytes(), &edit(Op::Insert, None, Some(3), Some(CellKind::Raw), Some("r"))).unwrap();
    assert_eq!((at_end.index, at_end.cells, at_end.id.as_deref()), (3, 4, Some("fresh")));
}

#[test]
fn compact_and_old_notebooks() {
    let compact = r#"{"cells":[{"cell_type":"code","source":"a = \"\u00e9\"","metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":4}"#;
    let text = after(compact, &edit(Op::Insert, Some("cell-0"), None, Some(CellKind::Code), Some("é\n")));
    let added = r#",{"cell_type":"code","source":"\u00e9\n","metadata":{},"outputs":[],"execution_count":null}"#;
    assert_eq!(text.replacen(added, "", 1), compact, "no id before format 4.5, same order of keys, same escapes");
    let none = "{\"cells\": [], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}";
    let text = after(none, &edit(Op::Insert, None, None, Some(CellKind::Markdown), Some("# x")));
    assert_eq!(
        text,
        "{\"cells\": [{\"cell_type\": \"markdown\", \"id\": \"fresh\", \"metadata\": {}, \"source\": [\"# x\"]}], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}"
    );
    let old = r#"{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["a\n","b"],"prompt_number":2,"language":"python","outputs":[{"output_type":"pyout","text":["2"],"png":"AAAA"}]}]}]}"#;
    let notebook = read(old.as_bytes()).unwrap();
    assert_eq!(
        (notebook.cells[0].source.as_str(), notebook.cells[0].outputs.len(), notebook.language.as_deref()),
        ("a\nb", 2, Some("python"))
    );
    assert_eq!(
        plan(old.as_bytes(), &edit(Op::Delete, None, Some(0), None, None)).unwrap_err(),
        NotebookError::OldFormat { nbformat: 3 }
    );
}

#[test]
fn deleting_and_inserting_again_gives_the_same_bytes() {
    for index in 0..3 {
        let text = after(SAMPLE, &edit(Op::Delete, None, Some(index), None, None));
        assert_eq!(read(text.as_bytes()).unwrap().cells.len(), 2);
        assert!(text.ends_with("}\n"));
    }
    let mut text = SAMPLE.to_owned();
    for _ in 0..3 {
        text = after(&text, &edit(Op::Delete, None, Some(0), None, None));
    }
    assert!(text.starts_with("{\n \"cells\": [],\n"));
}

#[test]
fn a_change_of_type_adds_or_takes_what_belongs_to_it() {
    let text = after(SAMPLE, &edit(Op::Replace, Some("load"), None, Some(CellKind::Markdown), None));
    let cell = &read(text.as_bytes()).unwrap().cells[1];
    assert_eq!((cell.kind.as_str(), cell.outputs.len(), cell.execution_count), ("markdown", 0, None));
    assert!(!text.contains("stdout") && text.contains("{\"keep\":   \"me\"}"));
    let back = after(&text, &edit(Op::Replace, Some("load"), None, Some(CellKind::Code), None));
    assert!(back.contains("\"print(2)\"\n   ],\n   \"execution_count\": null,\n   \"outputs\": []\n  }"));
}

/// What nbformat lets each type of cell have.
#[test]
fn a_cell_of_another_type_keeps_nothing_that_the_new_one_may_not_have() {
    let notebook =
        |cell: &str| format!(r#"{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}"#);
    let (code, markdown, raw) = (CellKind::Code, CellKind::Markdown, CellKind::Raw);
    // (cell, becomes, cell, attachments that were dropped)
    for (was, kind, becomes, dropped) in [
        (
            r#"{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "x", "attachments": {"x.png": {}, "y.png": {}}}"#,
            code,
            r#"{"cell_type": "code", "id": "a", "metadata": {}, "source": "x", "execution_count": null, "outputs": []}"#,
            2,
        ),
        (
            r#"{"attachments": {"x.png": {}}, "cell_type": "raw", "id": "a", "metadata": {}, "source": "x"}"#,
            code,
            r#"{"cell_type": "code", "id": "a", "metadata": {}, "source": "x", "execution_count": null, "outputs": []}"#,
            1,
        ),
        (
            r#"{"cell_type": "raw", "attachments": {"x.png": {}}, "source": "x"}"#,
            markdown,
            r#"{"cell_type": "markdown", "attachments": {"x.png": {}}, "source": "x"}"#,
            0,
        ),
        (
            r#"{"cell_type": "code", "execution_count": 3, "outputs": [], "source": "x"}"#,
            raw,
            r#"{"cell_type": "raw", "source": "x"}"#,
            0,
        ),
        (
            r#"{"cell_type": "markdown", "execution_count": 3, "outputs": [], "source": "x"}"#,
            raw,
            r#"{"cell_type": "raw", "source": "x"}"#,
            0,
        ),
        (r#"{"attachments": {}}"#, code, r#"{"cell_type": "code", "execution_count": null, "outputs": []}"#, 0),
    ] {
        let (file, edit) = (notebook(was), edit(Op::Replace, None, Some(0), Some(kind), None));
        assert_eq!(after(&file, &edit), notebook(becomes));
        assert_eq!(plan(file.as_bytes(), &edit).unwrap().dropped_attachments, dropped, "{was}");
    }
}

#[test]
fn marks_crlf_and_tabs_are_kept() {
    let file = format!("\u{feff}{}", SAMPLE.replace('\n', "\r\n").replace("\r\n ", "\r\n\t"));
    let text = after(&file, &edit(Op::Replace, Some("intro"), None, None, Some("# Title\nnew")));
    assert_eq!(text, file.replace("Some *text* é", "new"));
    let text = after(&file, &edit(Op::Insert, Some("intro"), None, Some(CellKind::Raw), Some("r")));
    assert_eq!(text.matches("\r\n").count(), text.matches('\n').count());
}

#[test]
fn refusals_say_what_would_work() {
    let refused = |edit: &CellEdit<'_>| plan(SAMPLE.as_bytes(), edit).unwrap_err().to_string();
    assert_eq!(
        refused(&edit(Op::Delete, Some("nope"), None, None, None)),
        "no cell has the id 'nope'; ids: intro, load, last"
    );
    assert_eq!(
        refused(&edit(Op::Delete, None, Some(3), None, None)),
        "there is no cell 3; the notebook has 3 cells, counted from 0"
    );
    assert_eq!(
        refused(&edit(Op::Delete, Some("a"), Some(3), None, None)),
        "both cell id and index are given; give one"
    );
    assert_eq!(
        refused(&edit(Op::Insert, None, None, None, Some("x"))),
        "a new cell needs a cell_type: code or markdown"
    );
    assert_eq!(
        refused(&edit(Op::Replace, Some("last"), None, None, Some(""))),
        "cell 2 already has this source and type; there is nothing to change"
    );
    assert_eq!(
        plan(b"{\n\"cells\": [1,]}", &edit(Op::Delete, None, Some(0), None, None)).unwrap_err().to_string(),
        "not a notebook: no JSON value starts here (line 2); fix the JSON first, with edit"
    );
    assert_eq!(read(b"[1]").unwrap_err(), NotebookError::NotNotebook("it has no list of cells"));
    assert!(read("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn a_notebook_of_countless_values_is_none() {
    let with = |values: usize| {
        let many = "0,".repeat(values);
        let text = format!(
            "{{\"nbformat\":4,\"nbformat_minor\":5,\"metadata\":{{}},\"cells\":[],\"x\":[{}]}}",
            many.trim_end_matches(',')
        );
        read(text.as_bytes()).map(|read| read.cells.len()).map_err(|error| error.to_string())
    };
    assert_eq!(with(900_000), Ok(0));
    let error = with(1_000_000).expect_err("the values around them count, too");
    assert!(error.contains("more than a million values"), "{error}");
}
