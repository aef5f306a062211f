//! Goals, tasks and scripts that publish, as their names say: `make docker-push`, `npm run deploy`, `mvn scm:tag`.
//!
//! What a goal does stands in a file that is not read. Most keep the name of what they do, so one that is called after
//! publishing is asked about, whoever runs it. A name is cut into words, and these are judged in one place for all runners.

use super::super::judge::{Arg, Judge};
use super::spec::{Parsed, lists};

/// Tools whose operands are goals, each of them run.
pub(super) const WITH_GOALS: &str = "make gmake bmake just task mage rake gradle mvn mvnd ant sbt mill lein mix bazel bazelisk \
    turbo nx lerna rush mkdocs grunt gulp run-s run-p npm-run-all rebar3 invoke inv poe duty";

/// Words that say of a goal that it reaches a server, wherever they stand in its name.
const ACTS: &str =
    "publish publishes deploy deploys upload uploads push republish redeploy reupload unpublish undeploy";

/// First words of goals that only look at what the next words say, or do it for a test.
const LOOKS: &str =
    "test tests check checks lint verify validate dry plan show list view diff help describe explain simulate";

/// First words that leave out, or come before, what the one word behind them says: `no-push`, not `no-cache-push`.
const BEFORE: &str = "no skip pre prepare mock";

/// Ends of files that hold what a goal of their name may be: `deploy.py` is no goal, `deploy.prod` is one.
const FILES: &str = "py sh bash js mjs cjs ts mts tsx jsx rb pl php go rs java kt scala lua ex exs yml yaml json toml xml md txt tf \
    hcl gradle kts mk cmake ps1 bat cmd sql html css c h cc cpp hpp zip tgz gz";

/// Words behind `release` that say what of it is made here.
const OF_A_RELEASE: &str = "notes note build builds check checks test tests lint dry plan local bin binary binaries lib static \
    debug profile mode";

/// Words before `release` that say where it goes, or that it is made for others.
const RELEASES: &str =
    "gh github gitlab npm pypi docker maven helm brew prod production make do create cut draft tag publish new";

/// Whether the words of a name say that something is published by it, or that servers are asked.
pub(super) fn publishes(name: &str) -> bool {
    // A file has an end that says which: `deploy.py`. Tasks have names with dots, too: `docs.deploy`.
    let is_file = name.rsplit_once('.').is_some_and(|(_, end)| lists(FILES, end));
    if is_file || name.starts_with('-') || name.contains(['/', '=', '\\']) {
        return false;
    }
    let words = words(name);
    let has = |list: &str, word: Option<&String>| word.is_some_and(|word| lists(list, word));
    let (first, last) = (words.first(), words.last());
    let only = has(LOOKS, first) || words.len() == 2 && has(BEFORE, first);
    // `test-and-deploy` does both.
    let looks = words.len() > 1 && only && !words.iter().any(|word| word == "and");
    // A script of a group, as `test:deploy`, may be any of them.
    let of_a_group = name.split(':').any(|part| self::words(part).first().is_some_and(|word| lists(ACTS, word)));
    let acts = of_a_group || words.iter().any(|word| lists(ACTS, word)) && !looks;
    let releases = match words.as_slice() {
        [one] => one == "release",
        [one, next, ..] if one == "release" => !lists(OF_A_RELEASE, next),
        _ => last.is_some_and(|last| last == "release") && has(RELEASES, first),
    };
    // Every server that a page names.
    let asks = words.iter().any(|word| matches!(word.as_str(), "linkcheck" | "linkchecker"));
    acts || releases || asks
}

/// Asks about a script whose own name begins with what it does to a server, `deploy-prod.sh`, `release`, unless it is only
/// asked for help. Where the word stands further back (`check-release.sh`) or another says that it is no more than looked at
/// (`deploy_test.py`), the script is about publishing and does not do it. To push and to upload is what many a part of a
/// program is about (`upload.js`), so it counts only with a place to go to: `push-to-prod.sh`.
pub(super) fn script_publishes(path: &str, words: &[Arg], judge: &mut Judge<'_>) {
    const PARTS: &str = "upload uploads push reupload";
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').filter(|(_, end)| lists(FILES, end)).map_or(name, |(stem, _)| stem);
    let parts = self::words(stem);
    let begins = match parts.as_slice() {
        [part, rest @ ..] if lists(PARTS, part) => rest.first().is_some_and(|word| word == "to"),
        [word, ..] => word == "release" || lists(ACTS, word),
        [] => false,
    };
    let looks = parts.iter().any(|word| lists(LOOKS, word)) && !parts.iter().any(|word| word == "and");
    let helps = matches!(words, [one] if matches!(one.exact(), Some("--help" | "-h" | "help" | "--version")));
    if begins && publishes(stem) && !looks && !helps {
        judge.net(None);
    }
}

/// Whether the words of sphinx-build name the builder that asks every server that a page names: `-b linkcheck`, `-blinkcheck`,
/// `--builder=linkcheck`, `-M linkcheck`.
pub(super) fn checks_links(words: &[Arg]) -> bool {
    const NAMES: &[&str] = &["-b=", "-b", "-M", "--builder="];
    let named = |text: &str| NAMES.iter().filter_map(|name| text.strip_prefix(name)).any(|rest| rest == "linkcheck");
    words.iter().filter_map(Arg::exact).any(|text| text == "linkcheck" || named(text))
}

/// The words of a name in small letters: `docker-push`, `docs:publish`, `dockerPush`, and `publish2` without its number.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && small {
            words.push(String::new());
        }
        small = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Words that are no options, and no values of the runner's own.
pub(super) fn plain<'w>(words: &'w [Arg], valued: &'static str) -> impl Iterator<Item = &'w str> {
    let mut value = false;
    words.iter().filter_map(move |word| {
        let text = word.exact().unwrap_or_default();
        let is_value = std::mem::replace(&mut value, lists(valued, text));
        (!is_value && !text.starts_with('-')).then_some(text)
    })
}

/// Asks about a script of a project that publishes, by its name: `deploy`, `release:beta`. The first word that is no option.
pub(super) fn script_reaches(words: &[Arg], judge: &mut Judge<'_>) {
    const VALUED: &str = "-w --workspace --prefix -C --dir --filter -F --cwd --package --makefile --profile -e --env -l --loglevel \
        --manifest-path --project --config";
    if plain(words, VALUED).next().is_some_and(publishes) {
        judge.net(None);
    }
}

/// `cargo run -p xtask -- deploy`, `cargo run -p xtask deploy`: tasks of the project, under the name that cargo knows the
/// package by. The first word that is not cargo's own begins those of the program.
pub(super) fn tasks_of_cargo(parsed: &Parsed, judge: &mut Judge<'_>) {
    const VALUED: &str = "-p --package --bin --example --profile -F --features --target --target-dir --manifest-path -j --jobs \
        --message-format --color --config -Z --lockfile-path --artifact-dir -C";
    let mut value = false;
    let own = |word: &&Arg| {
        let text = word.exact().unwrap_or_default();
        let is_value = std::mem::replace(&mut value, lists(VALUED, text));
        text != "--" && (is_value || text.starts_with('-'))
    };
    let own = parsed.operands.iter().take_while(own).count();
    let (own, words) = parsed.operands.split_at(own);
    if own.iter().any(|word| word.exact().is_some_and(|text| text.ends_with("xtask"))) {
        script_reaches(words, judge);
    }
}

/// Whether a target of MSBuild goes to a server, or a property says so: `-t:PublishContainer`,
/// `/p:PublishProfile=DefaultContainer`. `Publish` alone fills a directory.
pub(super) fn targets_of_msbuild(words: &[Arg]) -> bool {
    let goes = |target: &str| !target.eq_ignore_ascii_case("publish") && publishes(target);
    let sets = |set: &str| {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        name.eq_ignore_ascii_case("ContainerRegistry")
            || name.eq_ignore_ascii_case("PublishProfile") && value.to_ascii_lowercase().contains("container")
    };
    words.iter().filter_map(Arg::exact).filter_map(|word| word.trim_start_matches(['-', '/']).split_once(':')).any(
        |(name, value)| match name.to_ascii_lowercase().as_str() {
            "t" | "target" => value.split([';', ',']).any(goes),
            "p" | "property" => value.split([';', ',']).any(sets),
            _ => false,
        },
    )
}

/// Whether a label that is run says that it publishes, or the package that it is the one target of: `//deploy`,
/// `//tools:deploy`, `//deploy:all`.
fn label_publishes(label: &str) -> bool {
    let Some((package, target)) = label.rsplit_once(':') else {
        return label.rsplit('/').next().is_some_and(publishes);
    };
    let looks = words(target).first().is_some_and(|word| lists(LOOKS, word));
    publishes(target) || !looks && package.rsplit('/').next().is_some_and(|last| publishes(&format!("{last}:{target}")))
}

/// Names of targets, environments and sessions that publish, of the tools that have a way of their own to name them, and
/// what swift fetches.
pub(super) fn reaches_by_name(parsed: &Parsed) -> bool {
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or_default()).collect();
    let behind_options = |starts: &[&str]| {
        words.iter().take_while(|word| **word != "--").any(|word| {
            let names = starts.iter().find_map(|start| word.strip_prefix(start)).unwrap_or(word);
            names.split(',').any(publishes)
        })
    };
    match parsed.path.first().map(String::as_str) {
        Some("tox" | "nox") => behind_options(&["-e", "-s", "--env=", "--session=", "--sessions="]),
        Some("nx") => behind_options(&["--target=", "--targets=", "-t="]),
        Some("bazel" | "bazelisk" | "buck" | "buck2" | "please" | "plz") => {
            // What stands behind `--` is for the program.
            let own = parsed.operands.split(|word| word.exact() == Some("--")).next().unwrap_or_default();
            let mut own = plain(own, "-c --compilation_mode --config -j --jobs --platforms --run_under --output_base");
            own.any(|word| word == "run") && own.next().is_some_and(label_publishes)
        }
        Some("swift") => matches!(words.as_slice(), ["package", "update" | "resolve", ..]),
        Some("ninja" | "samu" | "autoninja") => plain(&parsed.operands, "-C -f -j -k -l -d -t -w").any(publishes),
        Some("doit" | "nps") => plain(&parsed.operands, "-f --file -d --dir -c --config").any(publishes),
        Some("meson") => {
            words.first() == Some(&"compile")
                && plain(&parsed.operands, "-C -j --jobs -l --load-average").any(publishes)
        }
        Some("sphinx-build") => checks_links(&parsed.operands),
        // Its tasks run on the servers of the stage before them. Of the same name is a tool that has no stages.
        Some("cap") => {
            let told = || plain(&parsed.operands, "-f --rakefile -r --require -I --libdir -R --rakelibdir");
            let dry = words.iter().any(|word| matches!(*word, "-n" | "--dry-run"));
            !dry && told().any(|word| matches!(word, "production" | "staging") || publishes(word))
        }
        Some("cmake") => targets(&parsed.operands).any(publishes),
        _ => false,
    }
}

/// What `cmake --build` is told to make: `--target A B`, `--target=A`, `-t A`, `-tA`; behind `--` the builder is told.
pub(super) fn targets(words: &[Arg]) -> impl Iterator<Item = &str> {
    let (mut named, mut builder) = (false, false);
    let builds = words.first().and_then(Arg::exact) == Some("--build");
    words.iter().map(|word| word.exact().unwrap_or_default()).filter_map(move |word| {
        let attached =
            word.strip_prefix("--target=").or_else(|| word.strip_prefix("-t").filter(|name| !name.is_empty()));
        if builder || word == "--" {
            let target = builder && builds && !word.starts_with('-');
            builder = true;
            return target.then_some(word);
        }
        if word.starts_with('-') {
            named = attached.is_some() || matches!(word, "--target" | "-t");
            return attached;
        }
        named.then_some(word)
    })
}

/// What ctest sends its results for: a whole dashboard, or the last of its steps.
pub(super) fn submits(word: &str) -> bool {
    let what = word.trim_start_matches("-D").trim_start_matches("-T");
    matches!(what, "Experimental" | "Nightly" | "Continuous") || what.ends_with("Submit")
}

/// Goals of a build tool, of which any may be the one that reaches the network: `clean deploy`, `:app:publish`,
/// `deploy-docs`, `do clean, deploy`. `net`: those that its table names.
pub(super) fn goal_reaches(word: &str, net: &str) -> bool {
    if word.starts_with('-') {
        return false;
    }
    let by_plugin = maven(word);
    let word = by_plugin.as_deref().unwrap_or(word);
    const CUTS: &[char] = &[',', ';', ' ', ':', '/', '+'];
    const LOCAL: &[&str] = &["publishToMavenLocal", "publishLocal", "publishM2", "publishLocalSigned"];
    let known = |from: &str, part: &str| {
        net.split_whitespace().any(|goal| match goal.strip_suffix('*') {
            Some(start) => part.starts_with(start),
            // What stands behind it may say that it is only made here: `release:build`.
            None if goal == "release" && part.starts_with(goal) => publishes(from),
            None => part.strip_prefix(goal).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', ':'])),
        })
    };
    let local = |part: &str| LOCAL.contains(&part);
    let mut from =
        std::iter::once(0).chain(word.match_indices(CUTS).map(|(at, _)| at + 1)).filter_map(|at| word.get(at..));
    !word.split(CUTS).any(local) && (known(word, word) || publishes(word))
        || from.any(|from| from.split(CUTS).next().is_some_and(|part| !local(part) && known(from, part)))
}

/// A goal of Maven as its prefix and its name: `jib:build` for `com.google.cloud.tools:jib-maven-plugin:3.4.0:build@id`.
fn maven(word: &str) -> Option<String> {
    let (goal, _) = word.split_once('@').unwrap_or((word, ""));
    let parts: Vec<&str> = goal.split(':').collect();
    let [_, plugin, .., name] = parts.as_slice() else { return (goal != word).then(|| goal.to_owned()) };
    let prefix = plugin
        .strip_suffix("-maven-plugin")
        .or_else(|| plugin.strip_prefix("maven-").and_then(|rest| rest.strip_suffix("-plugin")))?;
    Some(format!("{prefix}:{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_does() {
        for name in [
            "publish",
            "deploy",
            "docker-push",
            "image-publish",
            "docs:deploy",
            "dockerPush",
            "gh-release",
            "release",
            "release:beta",
            "prod_deploy",
            "build-and-push",
            "test-and-deploy",
            "db:push",
            "deploy-docs",
            "test:deploy",
            "linkcheck",
            "docs-linkcheck",
        ] {
            assert!(publishes(name), "{name}");
        }
        for name in [
            "release-notes",
            "release-build",
            "build-release",
            "deployable",
            "lint:release",
            "pushy",
            "check-deploy-docs",
            "src/deploy",
            "deploy.py",
            "TAG=push",
            "--push",
            "prerelease-check",
        ] {
            assert!(!publishes(name), "{name}");
        }
    }

    #[test]
    fn goals_of_maven_are_those_of_their_plugins() {
        for (word, goal) in [
            ("com.google.cloud.tools:jib-maven-plugin:3.4.0:build", Some("jib:build")),
            ("com.google.cloud.tools:jib-maven-plugin:build", Some("jib:build")),
            ("org.apache.maven.plugins:maven-deploy-plugin:3.1.1:deploy", Some("deploy:deploy")),
            ("spring-boot:build-image@x", Some("spring-boot:build-image")),
            ("jib:build", None),
            ("verify", None),
        ] {
            assert_eq!(maven(word).as_deref(), goal, "{word}");
        }
    }
}
