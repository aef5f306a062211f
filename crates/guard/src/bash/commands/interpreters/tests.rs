//! What interpreters do with their words.

use super::super::super::fact::Fact;
use super::super::testing::{all_harmless, facts, none_harmless};

fn any(line: &str, wanted: fn(&Fact) -> bool) -> bool {
    facts(line).iter().any(wanted)
}

#[test]
fn versions_and_checks_are_harmless() {
    all_harmless(&[
        "python --version",
        "python3 -V",
        "python3 --help",
        "python3 -VV",
        "python3.11 --version",
        "node --version",
        "node -v",
        "node -h",
        "nodejs --version",
        "deno --version",
        "ruby -v",
        "ruby --version",
        "perl -v",
        "perl -V",
        "perl -V:version",
        "php -v",
        "php -m",
        "php --ini",
        "lua -v",
        "Rscript --version",
        "julia --version",
        "java -version",
        "java --version",
        "pwsh --version",
        "scala -version",
        "elixir --version",
        "node --check src/a.js",
        "node -c src/a.js",
        "php -l a.php",
        "ruby -c a.rb",
        "ruby -wc a.rb",
        "python -m json.tool",
        "python3 -m json.tool data.json",
        "python3 -m json.tool --indent 2 --sort-keys data.json",
        "python3 -m json.tool -",
    ]);
}

#[test]
fn code_in_words_or_on_standard_input_is_opaque() {
    let lines = [
        "python",
        "python -",
        "python3 -u -",
        "python -c 'print(1)'",
        "python -cprint",
        "python -Bc 'print(1)'",
        "python -i script.py",
        "python $x",
        "python *.py",
        "python \"$x\"",
        "python /srv/x.py",
        "python ../x.py",
        "python -m $x",
        "python -m timeit 'x'",
        "python -V -c 'x'",
        "python --frob",
        "node",
        "node -e 1",
        "node -pe 1",
        "node --eval=1",
        "node -p process.version",
        "node --inspect=0.0.0.0:9229 x.js",
        "node -r /srv/x.js a.js",
        "deno eval 'x'",
        "deno run https://example.com/x.ts",
        "ruby -e 'x'",
        "ruby -ne 'print' f",
        "ruby -i -pe '$_' f",
        "perl -e 'system 1'",
        "perl -ne 'print `id`' f",
        "perl -pe 's/a/b/e' f",
        "perl -i -pe 'open X' f",
        "perl -i -pe 's/a/b/e' f",
        "perl -pie 's/a/b/' f",
        "perl -pi -e 's/a/b/e' f",
        "perl -Mstrict x.pl",
        "php -r 'x'",
        "php -a",
        "php -d auto_prepend_file=x a.php",
        "lua -e 'x'",
        "Rscript -e 'x'",
        "R -e x",
        "R",
        "julia -e x",
        "java -javaagent:x.jar Main",
        "java @args",
        "osascript -e x",
        "pwsh -c ls",
        "pwsh -Command ls",
        "scala -e x",
        "elixir -e x",
        "irb",
    ];
    for line in lines {
        assert!(any(line, |fact| matches!(fact, Fact::Opaque(_))), "{line}: {:?}", facts(line));
    }
}

#[test]
fn files_of_the_workspace_are_code() {
    let lines = [
        "python script.py",
        "python3 -u scripts/check.py --flag value",
        "python -B -X dev ./a.py",
        "python -m pytest -x -q",
        "python -m unittest discover",
        "python3 -O -m mypy src",
        "python -m black --check .",
        "python -m venv .venv",
        "node script.js --port 1",
        "node --test",
        "node --test tests/",
        "node --no-warnings --max-old-space-size=4096 build.mjs",
        "node -r ts-node/register a.ts",
        "node --import=tsx a.ts",
        "deno test -A",
        "deno run -A main.ts",
        "ruby -Ilib test/a_test.rb",
        "ruby a.rb",
        "perl -w a.pl",
        "perl -Ilib t/a.t",
        "php artisan.php test",
        "php vendor/bin/phpunit",
        "lua a.lua",
        "Rscript --vanilla a.R",
        "julia --project=. test/runtests.jl",
        "runghc Main.hs",
        "java -jar build/app.jar",
        "java -cp out Main",
        "java Main.java",
        "elixir -S mix",
        "pwsh -NoProfile -File a.ps1",
    ];
    for line in lines {
        let facts = facts(line);
        let known = facts.iter().all(|fact| matches!(fact, Fact::Code(_) | Fact::Read(_) | Fact::Write(_)));
        assert!(known && facts.iter().any(|fact| matches!(fact, Fact::Code(_))), "{line}: {facts:?}");
    }
    none_harmless(&lines);
}

#[test]
fn modules_write_where_they_say() {
    assert!(any("python -m json.tool a.json b.json", |fact| matches!(fact, Fact::Write(_))));
    assert!(any("python -m venv .venv", |fact| matches!(fact, Fact::Write(_))));
    let serves = |fact: &Fact| matches!(fact, Fact::Opaque(why) if why.contains("serves"));
    assert!(any("python -m http.server", serves));
    none_harmless(&["python -m json.tool a b", "python -m pip install x", "python -m venv x"]);
}
