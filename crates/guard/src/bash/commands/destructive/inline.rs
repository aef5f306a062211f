//! Code on the command line that removes trees, or empties a database. It needs a question anyway; this says what it is
//! about.
//!
//! Reads no language: it looks for the calls. What stands in a comment, in a text that is only printed, or in one that no
//! call hands to a shell removes nothing.

use super::super::super::fact::Category;
use super::Hit;
use super::words::Line;

/// Programs that take code on the command line.
pub(super) const LANGUAGES: &str = "python python2 python3 node nodejs deno bun perl ruby php lua pwsh powershell rails artisan manage.py django \
    Rscript R julia wp drush console iex elixir";

/// Calls that remove whole trees.
const TREES: &[&str] = &[
    "shutil.rmtree",
    "import rmtree",
    "rmtree(",
    "rmtree \"",
    "rmtree '",
    ".rmtree",
    "fs.rm(",
    "rmSync(",
    "rmdirSync(",
    "promises.rm(",
    "promises').rm(",
    "promises\").rm(",
    "fsPromises.rm(",
    "removeSync(",
    "emptyDir",
    "FileUtils.rm_r",
    "FileUtils.rm_f",
    "FileUtils.remove_dir",
    "FileUtils.remove_entry",
    "File.rm_rf",
    "Deno.remove",
    "remove_tree(",
    "remove_tree \"",
    "remove_tree '",
    "Remove-Item",
    "os.removedirs(",
    "rimraf",
    "unlink glob",
    "unlink(glob",
    "unlink <",
];

/// Two that do it together: what the code has to have one of, and what else.
const TOGETHER: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "glob",
            "iterdir(",
            "os.walk(",
            "listdir(",
            "scandir",
            "readdir",
            "Dir[",
            "Dir.each",
            "Dir.children",
            "<*",
            "DirectoryIterator",
        ],
        &[
            "os.remove(",
            "os.remove,",
            "os.unlink,",
            ".unlink",
            "import remove",
            "import unlink",
            "unlinkSync",
            "File.delete",
            "File.unlink",
            "FileUtils.rm(",
            "unlink(",
            "unlink ",
            "\"unlink\"",
            "'unlink'",
            "os.rmdir(",
        ],
        "removes whatever it lists",
    ),
    (&["fs-extra"], &["remove("], "removes trees"),
    // As an option of the call, in JavaScript, Julia and R.
    (
        &["recursive:true", "recursive=true", "recursive=TRUE", "recursive=T"],
        &["rm(", "rmdir(", "unlink("],
        "removes trees",
    ),
    // A text that a call hands to a shell, or the words of a command.
    (
        &[
            "system",
            "exec",
            "spawn",
            "popen",
            "Popen",
            "subprocess",
            "`",
            "qx",
            "%x",
            "shell",
            "run(",
            "call(",
            "check_output(",
            "getoutput(",
            "Command",
            "passthru",
            "sh(",
            "cmd(",
            "cmd/",
            "\"|",
            "'|",
        ],
        &["rm -rf", "rm -fr", "rm -r ", "'rm','-r", "\"rm\",\"-r", "rm('-r", "rm(\"-r"],
        "removes trees",
    ),
];

/// Calls of a database, and of the models and the schema of a framework.
const EMPTIES: &[&str] = &[
    "::truncate()",
    ".delete_all",
    ".destroy_all",
    "(&:destroy",
    "(&:delete",
    ".objects.all().delete()",
    "Schema::drop",
    ".drop_all(",
    "->truncate()",
    "::query()->delete()",
    ".deleteMany()",
    ".deleteMany({})",
    "drop_table(",
    " drop_table ",
    "DROP TABLE",
    "DROP DATABASE",
    "TRUNCATE TABLE",
    "Repo.delete_all",
    ".flushall(",
    ".flushdb(",
    ".flushAll(",
    ".flushDb(",
    ".flushDB(",
];

/// What inline code removes, on the command line or on standard input.
pub(super) fn inline(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    let values = line.values("-c -e -E --eval --execute -p --print -r -Command -c -ne -pe -le");
    let code = values.chain(line.raw.iter()).map(|piece| piece.text.as_ref()).chain(stdin);
    code.filter(|text| text.contains(['(', ' ', '.', ':']) && !prints(text)).find_map(|text| removes(&obeyed(text)))
}

fn removes(code: &str) -> Option<Hit> {
    let tight = code.replace(' ', "");
    let any = |calls: &[&str]| {
        calls.iter().any(|call| code.contains(call) || call.contains(['=', ':', ',']) && tight.contains(call))
    };
    let files = |what: &str| Some((Category::Files, format!("inline code that {what}")));
    if any(TREES) {
        return files("removes trees");
    }
    if let Some((.., what)) = TOGETHER.iter().find(|(with, calls, _)| any(with) && any(calls)) {
        return files(what);
    }
    any(EMPTIES).then(|| (Category::Database, "inline code that empties tables or keys".to_owned()))
}

/// The lines that are not comments as a whole.
fn obeyed(text: &str) -> String {
    let comment = |line: &&str| line.trim_start().starts_with(['#']) || line.trim_start().starts_with("//");
    text.lines().filter(|line| !comment(line)).collect::<Vec<_>>().join("\n")
}

/// Whether the code is one call that prints: one that holds no other, or a text into which nothing is put.
fn prints(text: &str) -> bool {
    const CALLS: &[&str] = &["print(", "console.log(", "puts ", "puts(", "print ", "echo ", "say ", "p "];
    let text = text.trim().trim_end_matches(';');
    let Some(rest) = CALLS.iter().find_map(|call| text.strip_prefix(call)) else { return false };
    let one = text.contains('(') && text.matches('(').count() == 1 && !text.contains([';', '\n', '`']);
    let rest = rest.trim().trim_end_matches(')').trim_end();
    let literal = ['"', '\''].iter().any(|quote| {
        let inner = rest.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote));
        inner.is_some_and(|inner| !inner.contains(*quote) && !["#{", "${", "@{"].iter().any(|put| inner.contains(put)))
    });
    one && ["print(", "console.log("].iter().any(|call| text.starts_with(call)) || literal
}
