//! Miller: `mlr --icsv --ojson head -n 2 then cut -f a data.csv`.
//!
//! Verbs that write (`tee`, `split`) are not here, and of `put` and `filter` those texts alone that only compute. What a verb
//! is given is not told from the files behind it: all of it is read.

use super::super::judge::{Arg, Judge};
use super::spec::{self, Operands, PLAIN, Parsed, Spec, Style};

pub(super) const MLR: Spec =
    Spec { names: "mlr", style: Style::Raw, operands: Operands::Custom, check: Some(mlr), ..PLAIN };

const VERBS: &str = "cat head tail sort uniq count count-distinct count-similar cut stats1 stats2 merge-fields top nest reorder \
    rename tac label regularize unsparsify fill-down fill-empty decimate histogram nothing summary sec2gmt sec2gmtdate \
    most-frequent least-frequent altkv flatten unflatten json-parse json-stringify group-by group-like having-fields \
    reshape sort-within-records step utf8-to-latin1 format-values gap join put filter";

/// In front of the verb; those behind the bar take the next word.
const FLAGS: &str = "--icsv --ocsv --csv -c --ijson --ojson --json -j --itsv --otsv --tsv -t --oxtab --ixtab --xtab --opprint \
    --ipprint --pprint -p --omd --imd --ijsonl --ojsonl --jsonl -l --inidx --onidx --nidx --idkvp --odkvp --dkvp --c2j --c2t \
    --c2p --c2x --c2m --c2l --c2b --c2d --c2n --t2c --t2j --t2p --t2x --t2m --j2c --j2t --j2p --j2x --j2m --j2l --l2c --l2j \
    --x2j --x2c --barred --right --headerless-csv-input --hi --headerless-csv-output --ho --implicit-csv-header \
    --allow-ragged-csv-input --ragged --jvstack --no-jvstack --jlistwrap --no-auto-flatten --no-auto-unflatten -n -S -A -O \
    --records-per-batch --no-color -M --always-color -C --quote-all --skip-comments --pass-comments";
const VALUED: &str = "--ifs --ofs --fs --ips --ops --ps --irs --ors --rs --ofmt --nr-progress-mod";

fn mlr(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut words = parsed.operands.iter();
    let verb = loop {
        match words.next().map(Arg::exact) {
            Some(Some(flag)) if spec::lists(FLAGS, flag) => {}
            Some(Some("--from")) => match words.next() {
                Some(file) => spec::read(file, judge),
                None => break None,
            },
            Some(Some(flag))
                if spec::lists(VALUED, flag) && words.next().is_some_and(|value| value.exact().is_some()) => {}
            Some(Some("--version" | "version" | "--help" | "help")) if parsed.operands.len() == 1 => return,
            found => break found.flatten(),
        }
    };
    let known = |verb: Option<&str>| verb.is_some_and(|verb| spec::lists(VERBS, verb));
    let rest = words.as_slice();
    let chained = rest.windows(2).filter(|pair| pair.first().and_then(Arg::exact) == Some("then"));
    let last = rest.last().and_then(Arg::exact) == Some("then");
    if !known(verb) || last || !chained.map(|pair| pair.get(1).and_then(Arg::exact)).all(known) {
        return judge.opaque("what `mlr` is told to do is not known");
    }
    let mut each = rest.split(|word| word.exact() == Some("then")).enumerate().map(|(at, words)| match words {
        _ if at == 0 => (verb, words),
        [verb, rest @ ..] => (verb.exact(), rest),
        [] => (None, words),
    });
    if each.any(|(verb, words)| matches!(verb, Some("put" | "filter")) && !only_computes(words)) {
        return judge.opaque("the text of `mlr` may reach further");
    }
    for word in rest {
        match word.exact() {
            // One of these writes, or starts a program that reads the file.
            Some(text) if text.starts_with("--") && text.contains("pipe") => judge.opaque("it starts a program"),
            // Behind the verb's own words Miller's flags may stand again: `-- -I` writes the files.
            Some("--" | "-I" | "-s" | "--load" | "--mload" | "--from") => {
                judge.opaque("flags of `mlr` behind its verb")
            }
            Some(text) if text.starts_with('-') => {}
            // Flags of Miller itself are not read behind the verb, and a verb takes no unknown one.
            _ => spec::read(word, judge),
        }
    }
}

/// Whether the text behind these flags of `put` and `filter` computes and does no more: it neither runs nor writes, and looks
/// into no environment.
fn only_computes(words: &[Arg]) -> bool {
    const FURTHER: &[&str] = &["system", "exec", "tee", "emit", "print", "dump", "ENV", "hostname"];
    let mut words = words.iter().skip_while(|word| matches!(word.exact(), Some("-q" | "-x" | "-S" | "-F")));
    words
        .next()
        .and_then(Arg::exact)
        .is_some_and(|text| !text.starts_with('-') && !FURTHER.iter().any(|word| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn verbs_that_only_look_pass_and_others_do_not() {
        all_harmless(&[
            "mlr --icsv --ojson head -n 2 data.csv",
            "mlr --csv stats1 -a mean -f x -g y data.csv",
            "mlr --csv sort -f name then head -n 2 data.csv",
            "mlr --c2p --ifs ; cat data.csv",
            "mlr --version",
            "mlr --icsv --opprint --from a.csv head -n 4 then put '$z = $x . $y'",
            "mlr --csv filter -x '$x > 1 && $y =~ \"^a\"' then cut -f x a.csv",
            "mlr --csv join -j id -f a.csv b.csv",
        ]);
        none_harmless(&[
            "mlr --csv put '$x=system(1)' a.csv",
            "mlr --csv head then put -q 'tee > $a, $*' a.csv",
            "mlr -I --csv head a.csv",
            "mlr --csv tee out.csv a.csv",
            "mlr --csv split -g a a.csv",
            "mlr --prepipe gunzip --csv cat a.csv",
            "mlr --csv join --prepipe x -f a b",
            "mlr -s file",
            "mlr --load x --csv cat a.csv",
            "mlr --csv head then $x a.csv",
            "mlr --csv cat /etc/shadow",
            "mlr --csv cat https://x.example/a.csv",
            "mlr --csv",
            "mlr --csv --from",
            "mlr --from /etc/shadow cat",
            "mlr --csv put -f x.mlr a.csv",
            "mlr --csv head then filter 'true; tee > $a.csv, $*' a.csv",
            "mlr --csv put '$z = ENV[\"X\"]' a.csv",
            "mlr --csv put -s x=1 '$z = 1' a.csv",
            "mlr --csv put",
            "mlr --csv filter \"$x\" a.csv",
            "mlr --csv join -f /etc/shadow a.csv",
            "mlr --csv sort -f a -- -I a.csv",
            "mlr --csv sort -f a then cat -I a.csv",
        ]);
    }
}
