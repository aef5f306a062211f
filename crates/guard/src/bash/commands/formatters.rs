//! Formatters that show what they would change, or change it: `rustfmt --check`, `gofmt -d`.

use super::super::judge::{Arg, Judge};
use super::effects::Opts;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style, lists};

/// The formatter of Rust.
pub(super) const RUSTFMT: Spec = Spec {
    names: "rustfmt",
    opts: &[
        (Does::Flag, "check l files-with-diff v verbose q quiet unstable-features backup skip-children"),
        (Does::Value, "edition color emit style-edition error-on-unformatted config"),
        (Does::Read, "config-path"),
        (Does::Info, "V version h help"),
    ],
    operands: Operands::Custom,
    check: Some(rustfmt),
    ..PLAIN
};

/// The formatter of Go.
pub(super) const GOFMT: Spec = Spec {
    names: "gofmt",
    style: Style::OneDash,
    opts: GOFMT_OPTS,
    operands: Operands::Custom,
    check: Some(gofmt),
    ..PLAIN
};

const GOFMT_OPTS: Opts = &[(Does::Flag, "l d s e w"), (Does::Value, "r")];

/// Settings that say how the text looks, and nothing about where it goes.
const STYLE: &str = "max_width hard_tabs tab_spaces newline_style indent_style use_small_heuristics edition style_edition version \
    color fn_call_width attr_fn_like_width struct_lit_width struct_variant_width array_width chain_width \
    single_line_if_else_max_width single_line_let_else_max_width short_array_element_width_threshold wrap_comments \
    format_code_in_doc_comments doc_comment_code_block_width comment_width normalize_comments normalize_doc_attributes \
    format_strings format_macro_matchers format_macro_bodies hex_literal_case float_literal_trailing_zero \
    empty_item_single_line struct_lit_single_line fn_single_line where_single_line imports_indent imports_layout \
    imports_granularity group_imports reorder_imports reorder_modules reorder_impl_items type_punctuation_density \
    space_before_colon space_after_colon spaces_around_ranges binop_separator remove_nested_parens combine_control_expr \
    overflow_delimited_expr struct_field_align_threshold enum_discrim_align_threshold match_arm_blocks \
    match_arm_leading_pipes match_arm_indent force_multiline_blocks fn_args_layout fn_params_layout brace_style \
    control_brace_style trailing_semicolon trailing_comma match_block_trailing_comma blank_lines_upper_bound \
    blank_lines_lower_bound inline_attribute_width merge_derives use_try_shorthand use_field_init_shorthand \
    force_explicit_abi condense_wildcard_suffixes unstable_features disable_all_formatting skip_children \
    error_on_line_overflow error_on_unformatted";

/// What `--config` sets comes after `--check` and `--emit`, and one of its keys says again that files are written.
fn rustfmt(parsed: &Parsed, judge: &mut Judge<'_>) {
    let is_style =
        |text: &str| text.split(',').all(|set| set.split_once('=').is_some_and(|(key, _)| lists(STYLE, key)));
    let all_style = parsed
        .done()
        .filter(|(name, ..)| *name == "config")
        .all(|(_, value, _)| value.and_then(Arg::exact).is_some_and(is_style));
    let asked = parsed.has("check") || parsed.value("emit").and_then(Arg::exact) == Some("stdout");
    let shows = asked && all_style;
    for file in &parsed.operands {
        if shows { judge.read(file) } else { judge.write_tree(file) }
    }
    if !shows && !parsed.operands.is_empty() {
        judge.write_cwd();
    }
}

fn gofmt(parsed: &Parsed, judge: &mut Judge<'_>) {
    let writes = parsed.has("w") && parsed.switch("w") != Some(false);
    for tree in &parsed.operands {
        if writes { judge.write_tree(tree) } else { judge.read_tree(tree) }
    }
}
