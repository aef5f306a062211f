//! Values held against schemas, and schemas that promise too much.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::usable::TYPES;
use super::*;

fn found(schema: &Value, value: &Value) -> Vec<String> {
    assert_eq!(check(schema), [], "{schema}");
    validate(schema, value).iter().map(Problem::to_string).collect()
}

#[test]
fn each_keyword_is_held() {
    let cases: &[(Value, &[Value], &[Value])] = &[
        (json!({"type": "integer"}), &[json!(1), json!(1.0), json!(-3)], &[json!(1.5), json!("1"), json!(null)]),
        (json!({"type": "number"}), &[json!(1), json!(1.5)], &[json!("1")]),
        (json!({"type": ["string", "null"]}), &[json!("a"), json!(null)], &[json!(1)]),
        (json!({"type": "boolean"}), &[json!(true)], &[json!(0)]),
        (json!({"const": {"a": [1]}}), &[json!({"a": [1.0]})], &[json!({"a": [1, 2]}), json!({"a": [1], "b": 2})]),
        (json!({"enum": ["a", 1, null]}), &[json!("a"), json!(1.0), json!(null)], &[json!("b"), json!(false)]),
        (json!({"required": ["a"]}), &[json!({"a": null}), json!(3)], &[json!({})]),
        (json!({"properties": {"a": {"type": "string"}}}), &[json!({"b": 1})], &[json!({"a": 1})]),
        (
            json!({"properties": {"a": true}, "additionalProperties": {"type": "string"}}),
            &[json!({"a": 1, "b": "x"})],
            &[json!({"b": 1})],
        ),
        (json!({"additionalProperties": false}), &[json!({})], &[json!({"b": 1})]),
        (json!({"minProperties": 1, "maxProperties": 2}), &[json!({"a": 1})], &[json!({}), json!({"a":1,"b":1,"c":1})]),
        (json!({"items": {"type": "integer"}}), &[json!([]), json!([1, 2])], &[json!([1, "2"])]),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            &[json!(["a"]), json!([])],
            &[json!(["a", "b"]), json!([1])],
        ),
        (json!({"minItems": 1, "maxItems": 2}), &[json!([1])], &[json!([]), json!([1, 2, 3])]),
        (json!({"uniqueItems": true}), &[json!([1, "1"])], &[json!([1, 1.0])]),
        (json!({"minLength": 2, "maxLength": 3}), &[json!("äöü")], &[json!("a"), json!("abcd")]),
        (json!({"pattern": "^a+$"}), &[json!("aa"), json!(1)], &[json!("ab")]),
        (json!({"minimum": 1, "maximum": 2}), &[json!(1), json!(1.5), json!(2.0)], &[json!(0.9), json!(3)]),
        (json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}), &[json!(1.5)], &[json!(1), json!(2)]),
        (json!({"maximum": u64::MAX - 1}), &[json!(u64::MAX - 1)], &[json!(u64::MAX)]),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), &[json!(1)], &[json!(0), json!(3)]),
        (json!({"anyOf": [{"type": "string"}, {"minimum": 5}]}), &[json!("a"), json!(5)], &[json!(4)]),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 2}]}), &[json!(0), json!(3)], &[json!(1)]),
        (json!({"not": {"type": "string"}}), &[json!(1)], &[json!("a")]),
        (json!(true), &[json!(1)], &[]),
        (json!(false), &[], &[json!(1)]),
        (
            json!({"$ref": "#/$defs/n~1m", "$defs": {"n/m": {"type": "string"}}, "maxLength": 1}),
            &[json!("a")],
            &[json!(1), json!("ab")],
        ),
        (json!({"type": "string", "format": "date", "title": "t"}), &[json!("no date")], &[]),
    ];
    for (schema, good, bad) in cases {
        good.iter().for_each(|value| assert_eq!(found(schema, value), Vec::<String>::new(), "{schema} {value}"));
        bad.iter().for_each(|value| assert!(!found(schema, value).is_empty(), "{schema} {value}"));
    }
}

#[test]
fn every_problem_is_named_by_its_path() {
    let schema = json!({
        "type": "object",
        "properties": {
            "passed": {"type": "boolean"},
            "failures": {"type": "array", "items": {"$ref": "#/$defs/failure"}},
            "a b": {"const": 1},
        },
        "required": ["passed", "summary"],
        "additionalProperties": false,
        "$defs": {"failure": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 1}}}},
    });
    let value = json!({"passed": "no", "failures": [{"line": 3}, {"line": 0}, 7], "a b": 2, "extra": 1});
    assert_eq!(
        found(&schema, &value),
        [
            "`summary`: is missing",
            "`passed`: is a string, and must be boolean",
            "`failures[1].line`: is 0, and must be at least 1",
            "`failures[2]`: is a number, and must be object",
            "`[\"a b\"]`: must be 1",
            "`extra`: is not wanted; there are passed, failures, a b",
        ]
    );
    let schema =
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}, {"type": "null"}]});
    assert_eq!(
        found(&schema, &json!({"a": 1, "b": 2})),
        ["fits none of 2 alternatives; nearest: `a` is a number, and must be string"]
    );
}

#[test]
fn a_schema_that_cannot_be_kept_is_a_problem_before_any_value() {
    for (schema, path) in [
        (json!({"patternProperties": {}}), "patternProperties"),
        (json!({"properties": {"a": {"if": true}}}), "properties.a.if"),
        (json!({"items": [{"type": "string"}]}), "items"),
        (json!({"type": "text"}), "type"),
        (json!({"type": []}), "type"),
        (json!({"pattern": "("}), "pattern"),
        (json!({"pattern": "(?=a)"}), "pattern"),
        (json!({"pattern": ".{1000}{1000}"}), "pattern"),
        (json!({"required": "a"}), "required"),
        (json!({"minLength": -1}), "minLength"),
        (json!({"enum": []}), "enum"),
        (json!({"$ref": "other.json#/a"}), "$ref"),
        (json!({"$ref": "#/$defs/a"}), "$ref"),
        (json!({"anyOf": [{"$ref": "#/anyOf"}]}), "anyOf[0].$ref"),
        (json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}), ""),
        (json!({"$ref": "#"}), ""),
        (json!({"properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}}), "properties.a"),
        (json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}), "$defs.a"),
        (json!("string"), ""),
    ] {
        let problems = check(&schema);
        assert!(problems.iter().any(|problem| problem.path == path), "{schema}: {problems:?}");
        // Held against anyway, it says no or yes, and comes to an end.
        validate(&schema, &json!({"a": [1]}));
    }
}

#[test]
fn what_refers_to_itself_below_is_a_tree() {
    let tree =
        json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "required": ["n"]});
    assert_eq!(found(&tree, &json!({"n": 1, "left": {"n": 2, "right": {"n": 3}}})), Vec::<String>::new());
    assert_eq!(found(&tree, &json!({"n": 1, "left": {"right": {"n": 3}}})), ["`left.n`: is missing"]);
}

#[test]
fn alternatives_that_multiply_end_with_a_no() {
    let both = json!({"anyOf": [{"items": {"$ref": "#"}, "maxItems": 1}, {"items": {"$ref": "#"}, "minItems": 1}],
        "type": ["array", "null"]});
    let mut value = json!(1);
    for _ in 0..60 {
        value = json!([value]);
    }
    let problems = validate(&both, &value);
    assert!(!problems.is_empty() && problems.len() < 10, "{problems:?}");
    assert!(!validate(&json!({"not": both}), &value).is_empty());
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9i64..9).prop_map(Value::from),
        (-9f64..9.0).prop_map(Value::from),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(TYPES).prop_map(|name| json!({"type": name})),
        (-5i64..5).prop_map(|n| json!({"minimum": n})),
        (0u64..4).prop_map(|n| json!({"maxLength": n, "maxItems": n, "maxProperties": n})),
        values().prop_map(|value| json!({"const": value})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            list().prop_map(|all| json!({"allOf": all})),
            list().prop_map(|all| json!({"anyOf": all})),
            list().prop_map(|all| json!({"oneOf": all})),
            list().prop_map(|all| json!({"prefixItems": all})),
            inner.clone().prop_map(|one| json!({"not": one})),
            inner.clone().prop_map(|one| json!({"items": one})),
            inner.clone().prop_map(|one| json!({"properties": {"a": one}, "required": ["a"]})),
            inner.clone().prop_map(|one| json!({"additionalProperties": one})),
        ]
    })
}

/// The value with some of it left out, of which the type is known or not.
fn hide(value: &Value, hidden: u8) -> Part<'static> {
    let kinds: &'static [&'static str] = match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(_) => &["number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    match (hidden, value) {
        (0, _) => Part::Open(&[]),
        (1, _) => Part::Open(kinds),
        (2, _) => Part::Open(&["null", "boolean", "number", "string", "array", "object"]),
        (_, Value::Array(items)) => Part::List(items.iter().map(|item| hide(item, hidden / 2)).collect()),
        (_, Value::Object(fields)) => {
            Part::Object(fields.iter().map(|(name, value)| (name.clone(), hide(value, hidden / 2))).collect())
        }
        (_, value) => Part::known_as(value.clone()),
    }
}

proptest! {
    #[test]
    fn the_laws_of_its_own_words_hold((one, other, value) in (schemas(), schemas(), values())) {
        let fits = |schema: &Value| validate(schema, &value).is_empty();
        prop_assert_eq!(check(&one), []);
        let (a, b) = (fits(&one), fits(&other));
        prop_assert_eq!(fits(&json!({"not": one})), !a);
        prop_assert_eq!(fits(&json!({"allOf": [one, other]})), a && b);
        prop_assert_eq!(fits(&json!({"anyOf": [one, other]})), a || b);
        prop_assert_eq!(fits(&json!({"oneOf": [one, other]})), a != b);
        prop_assert_eq!(fits(&json!({"$ref": "#/$defs/x", "$defs": {"x": one}})), a);
        let all_items = value.as_array().is_none_or(|items| items.iter().all(|item| validate(&one, item).is_empty()));
        prop_assert_eq!(fits(&json!({"items": one})), all_items);
    }

    #[test]
    fn what_is_refuted_of_a_part_does_not_fit_as_a_whole((schema, value, hidden) in (schemas(), values(), 0u8..8)) {
        let part = hide(&value, hidden);
        if !refute(&schema, &part).is_empty() {
            prop_assert!(!validate(&schema, &value).is_empty(), "{schema} {value} {part:?}");
        }
        prop_assert_eq!(refute(&schema, &Part::of(&value)).is_empty(), validate(&schema, &value).is_empty());
    }

    #[test]
    fn any_value_as_a_schema_is_answered((schema, value) in (values(), values())) {
        check(&schema);
        validate(&schema, &value);
    }

    #[test]
    fn a_value_fits_itself_and_nothing_else((one, other) in (values(), values())) {
        let itself = json!({"const": one});
        prop_assert!(validate(&itself, &one).is_empty());
        prop_assert_eq!(validate(&json!({"enum": [one]}), &other).is_empty(), same(&one, &other));
    }
}

#[test]
fn only_what_is_sure_is_said_of_what_is_not_all_known() {
    let text = || Part::Open(&["string"]);
    let of = |value: Value| Part::known_as(value);
    let object = |entries: Vec<(&str, Part<'static>)>| {
        Part::Object(entries.into_iter().map(|(name, part)| (name.to_owned(), part)).collect())
    };
    let modes = json!({"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]});
    let changes = json!({"oneOf": [
        {"type": "object", "properties": {"op": {"const": "edit"}, "to": {"type": "string"}}, "required": ["op", "to"], "additionalProperties": false},
        {"type": "object", "properties": {"op": {"const": "drop"}}, "required": ["op"], "additionalProperties": false},
    ]});
    for (schema, part, want) in [
        (modes.clone(), text(), None),
        (modes.clone(), of(json!("b")), None),
        (modes.clone(), of(json!("c")), Some("must be one of \"a\", \"b\"")),
        (modes.clone(), of(json!(1)), Some("must be string")),
        (modes, Part::Open(&["number"]), Some("must be string")),
        (json!({"type": "integer"}), Part::Open(&["number"]), None),
        (json!({"type": "integer"}), text(), Some("is string, and must be integer")),
        (json!({"type": "string"}), Part::Open(&[]), None),
        (json!({"type": "string", "minLength": 3}), text(), None),
        (json!({"enum": [1, 2]}), text(), Some("is string, and must be one of 1, 2")),
        (json!({"not": {"type": "string"}}), text(), Some("is what it must not be")),
        (json!({"not": {"type": "string", "minLength": 3}}), text(), None),
        (json!({"not": {"if": true}}), of(json!(1)), None),
        (json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}), text(), None),
        (json!({"oneOf": [{"type": "string"}, true]}), text(), Some("fits 2 of 2")),
        (json!({"minItems": 3}), Part::List(vec![text(), of(json!(1))]), Some("has 2 items")),
        (json!({"items": {"type": "integer"}}), Part::List(vec![of(json!(1)), text()]), Some("`[1]`: is string")),
        (json!({"items": {"type": "integer"}}), Part::Open(&["array"]), None),
        (changes.clone(), object(vec![("op", text())]), None),
        (changes.clone(), object(vec![("op", of(json!("edit")))]), Some("`to`: is missing")),
        (changes, object(vec![("op", of(json!("edit"))), ("to", Part::Open(&["number"]))]), Some("`to`: is number")),
        (json!({"$ref": "other.json"}), of(json!(1)), None),
        (json!({"pattern": "(?=a)"}), of(json!("b")), None),
        (json!({"patternProperties": {"^x": {}}, "additionalProperties": false}), of(json!({"xa": 1})), None),
        (json!("no schema"), of(json!(1)), None),
    ] {
        let found: Vec<String> = refute(&schema, &part).iter().map(Problem::to_string).collect();
        match want {
            None => assert!(found.is_empty(), "{schema} {part:?}: {found:?}"),
            Some(want) => assert!(found.len() == 1 && found[0].contains(want), "{schema} {part:?}: {found:?}"),
        }
    }
}
