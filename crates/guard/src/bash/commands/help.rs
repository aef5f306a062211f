//! Whether a command line asks nothing of a program but what it says of itself: `NAME [SUBCOMMAND…] --help`, `NAME help`.
//!
//! That is harmless where the program knows the subcommand, and the programs are many that run another one for a word that
//! they do not know. So most of it is said by tables.

use super::super::judge::Arg;
use super::spec::{Does, Spec, lists};

/// Programs that know all their subcommands and print the help of each without doing anything first.
const OF_SUBS: &[&str] = &["ruff", "go", "terraform", "tofu", "rustup", "uv"];

/// Programs that run another one for a subcommand that they do not have, and what they have. With a group before it, only
/// that one does so.
const OF_OWN: &[(&str, &[&str], &str)] = &[
    (
        "docker podman",
        &[],
        "attach build builder buildx checkpoint commit compose config container context cp create diff events exec export \
         history image images import info inspect kill load login logout logs manifest network node pause plugin port ps pull \
         push rename restart rm rmi run save search secret service stack start stats stop swarm system tag top trust unpause \
         update version volume wait machine pod",
    ),
    (
        "kubectl",
        &[],
        "annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion config cordon cp \
         create debug delete describe diff drain edit events exec explain expose get kustomize label logs options patch plugin \
         port-forward proxy replace rollout run scale set taint top uncordon version wait",
    ),
    (
        "kubectl oc",
        &["create"],
        "clusterrole clusterrolebinding configmap cm cronjob cj deployment deploy ingress ing job namespace ns \
         poddisruptionbudget pdb priorityclass pc quota resourcequota role rolebinding secret service svc serviceaccount sa \
         token",
    ),
    (
        "helm",
        &[],
        "completion create dependency dep env get history hist install lint list ls package plugin pull fetch push registry \
         repo rollback search show inspect status template test uninstall del delete un upgrade verify version",
    ),
];

/// Groups of subcommands of such programs, of which each prints its help, too. Not `run` and `exec`, which pass it on.
const OF_GROUPS: &[(&str, &str)] = &[
    (
        "docker podman nerdctl",
        "compose image container volume network system buildx builder context service stack swarm config secret plugin \
         manifest node trust pod machine",
    ),
    (
        "kubectl oc",
        "rollout config set auth top certificate apply get describe logs delete explain scale edit label annotate \
         patch expose wait cordon uncordon drain taint api-resources",
    ),
    ("helm", "show get repo dependency plugin registry search"),
    (
        "gh",
        "pr issue repo run workflow release auth config alias gist secret variable label cache search ruleset project \
         codespace ssh-key gpg-key org",
    ),
    ("terraform tofu", "state workspace providers metadata"),
    ("go", "mod work"),
    ("rustup", "toolchain target component override self"),
    ("uv", "pip tool python cache self"),
];

/// Programs of providers that print the help of whatever plain words stand before it.
const OF_ALL: &[(&str, &[&str])] =
    &[("aws", &["help"]), ("gcloud", &["--help", "-h"]), ("az", &["--help", "-h"]), ("gsutil", &["--help"])];

/// Programs that print their help, or that of the subcommand behind it, when that is their first word.
const FIRST: &str = "rustup pnpm uv kubectl oc helm svn brew";

/// Words that list what the program can do, what is known by another name, or what the person has set up here.
const LISTS: &[(&str, &str)] = &[("gh", "alias list"), ("openssl", "list -providers")];

/// They know no `--help`, and run or look up what their standard input says.
const READ_ON: &str = "tclsh wish expect erl batch csh nslookup";

/// The words behind a program, the last of them apart.
struct Asked<'a> {
    program: &'a str,
    path: &'a [Arg],
    last: &'a Arg,
}

/// Whether `argv` only asks for help or the version.
pub(super) fn is_info(spec: &Spec, argv: &[Arg]) -> bool {
    let Some((last, path)) = argv.get(1..).and_then(|rest| rest.split_last()) else { return false };
    let program = argv.first().and_then(Arg::exact).unwrap_or_default();
    let asked = Asked { program, path, last };
    asked.begins_with_it() || asked.is_of_a_subcommand() || asked.is_of_anything() || asked.is_in_table(spec)
}

impl Asked<'_> {
    /// Whether the last word is one of these.
    fn ends(&self, words: &[&str]) -> bool {
        self.last.exact().is_some_and(|text| words.contains(&text))
    }

    /// `kubectl help get`, `gh alias list`.
    fn begins_with_it(&self) -> bool {
        let all = || self.path.iter().chain([self.last]);
        let first = all().next().and_then(Arg::exact);
        let help = || all().all(is_plain) && lists(FIRST, self.program);
        // It says which algorithms it knows before it reads anything.
        let algorithms = || self.program == "ssh" && self.path.len() == 1 && is_plain(self.last);
        let are = |words: &str| all().map(|word| word.exact().unwrap_or_default()).eq(words.split(' '));
        first == Some("help") && help()
            || first == Some("-Q") && algorithms()
            || LISTS.iter().any(|(program, words)| *program == self.program && are(words))
    }

    /// `NAME SUB --help`, `NAME GROUP SUB --help`.
    fn is_of_a_subcommand(&self) -> bool {
        let Some((sub, before)) = self.path.split_last().filter(|_| self.ends(&["--help", "-h", "-help"])) else {
            return false;
        };
        let is_letters = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        };
        let known = |word: &Arg, names: &str| word.exact().is_some_and(|word| lists(names, word));
        let of_any = || OF_SUBS.contains(&self.program) && before.is_empty() && sub.exact().is_some_and(is_letters);
        let of_a_group = |(names, groups): &(&str, &str)| {
            lists(names, self.program) && matches!(before, [group] if known(group, groups)) && is_plain(sub)
        };
        let of_own = |(names, group, subs): &(&str, &[&str], &str)| {
            let within = before.iter().map(Arg::exact).eq(group.iter().map(|word| Some(*word)));
            lists(names, self.program) && within && known(sub, subs)
        };
        of_any() || OF_GROUPS.iter().any(of_a_group) || OF_OWN.iter().any(of_own)
    }

    /// `aws s3 ls help`.
    fn is_of_anything(&self) -> bool {
        let here = |(name, words): &(&str, &[&str])| *name == self.program && self.ends(words);
        // Of what is configured, `help` may be the value.
        let sets = self.path.first().and_then(Arg::exact) == Some("configure");
        OF_ALL.iter().any(here) && self.path.iter().all(is_plain) && !sets
    }

    /// By the table of the program: each word a subcommand, and then an option that it has, or has none by that name.
    fn is_in_table(&self, spec: &Spec) -> bool {
        let mut leaf = spec;
        for word in self.path {
            let Some(sub) = word.exact().and_then(|name| leaf.sub(name)) else { return false };
            leaf = sub;
        }
        let Some(asked @ ("--help" | "--version")) = self.last.exact() else { return false };
        let name = self.program.rsplit('/').next().unwrap_or_default();
        !lists(READ_ON, name)
            && matches!(leaf.option(asked.trim_start_matches('-')), None | Some(Does::Info | Does::Flag))
    }
}

/// Whether it is a word of small letters, digits and dashes, and no option.
fn is_plain(word: &Arg) -> bool {
    word.exact().is_some_and(|text| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}
