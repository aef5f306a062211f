//! Databases. A server is the network and whatever else reads there; a file in the workspace is a file.

use super::super::judge::{Arg, Judge, Stdin, Word};
use super::super::lang::sql;
use super::clients;
use super::effects::{only, reaches, run, runs};
use super::piped::Printed;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style, lists};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    raw(
        "psql mysql mariadb mongosh mongo redis-cli valkey-cli keydb-cli cqlsh clickhouse-client clickhouse influx \
        sqlcmd pgcli mycli usql cypher-shell",
        server,
    ),
    raw(
        "mysqladmin mysqldump mariadb-dump mysqlshow mysqlimport pg_dump pg_dumpall pg_restore pg_isready createdb \
        dropdb createuser dropuser vacuumdb \
        reindexdb pgbench mongodump mongorestore mongoexport mongoimport mongostat mongotop etcdctl \
        cockroach",
        server,
    ),
    raw("sqlite3 sqlite", sqlite),
    // What it makes of the schema are files of the project.
    raw("drizzle-kit", |parsed, judge| match parsed.operands.first().and_then(Arg::exact) {
        Some("generate" | "check" | "export" | "up" | "--version" | "--help") => run(parsed, judge),
        _ => judge.net(None),
    }),
    // Migrations are code of the project, and its settings say which database they are for.
    runs("alembic"),
    Spec {
        names: "duckdb",
        style: Style::OneDash,
        opts: &[
            (
                Does::Flag,
                "readonly csv json line list markdown box table column html ascii jsonlines header \
                noheader bail batch safe quote latex",
            ),
            (Does::Value, "separator nullvalue newline c s"),
            (Does::Info, "version help"),
        ],
        operands: Operands::Custom,
        check: Some(duckdb),
        ..PLAIN
    },
    reaches(
        "presto trino snowsql snow beeline hive impala-shell spark-sql spark-submit bq kafka-topics \
        kafka-topics.sh kafka-console-consumer kafka-console-producer \
        rabbitmqctl rabbitmqadmin rpk nodetool couchbase-cli cbq neo4j-admin pscale turso neonctl supabase flyway \
        liquibase dbmate sqlx \
        diesel goose migrate atlas sequelize knex typeorm influxd memcached-tool \
        zkCli.sh sqlplus isql bsqldb",
    ),
];

const fn raw(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// Short options that are the version. To most others `-v` is to say more, and go on.
const VERSIONS: &[(&str, &str)] = &[
    (
        "psql pg_dump pg_dumpall pg_restore pg_isready createdb dropdb createuser dropuser vacuumdb reindexdb pgbench \
         mysql mariadb mysqladmin mysqldump mariadb-dump mysqlshow mysqlimport clickhouse-client usql mycli",
        "-V",
    ),
    ("redis-cli valkey-cli keydb-cli pgcli cypher-shell", "-v"),
];

/// A server somewhere: `-h HOST` says where.
fn server(parsed: &Parsed, judge: &mut Judge<'_>) {
    let name = parsed.path.first().map_or("", String::as_str);
    let short = VERSIONS.iter().find(|(names, _)| lists(names, name)).map_or("", |(_, short)| *short);
    if only(parsed, "--version --help -?") || only(parsed, short) {
        return;
    }
    let words: Vec<&str> = parsed.operands.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    if !clients::hosts(parsed, judge) {
        // Where several say it, only the client knows which counts.
        host(&words).into_iter().for_each(|host| judge.net(Some(host)));
        judge.net(None);
        judge.opaque("what its options do is not known");
    }
    let (command, texts) = clients::given(parsed, judge);
    let leads_on_here = command.first().and_then(Arg::exact).is_some_and(|word| leads_on(name, word));
    let texts = texts.iter().filter_map(Arg::exact).chain(words.iter().map(|word| value(word)));
    if leads_on_here || texts.into_iter().any(leaves_the_database) {
        judge.opaque("the text reaches beyond the database");
    }
    match name {
        "psql" | "mysql" | "mariadb" | "mongosh" | "mongo" => told(name, parsed, &words, judge),
        // Each line is a command, which may name another server.
        "redis-cli" | "valkey-cli" | "keydb-cli" => match judge.stdin.clone() {
            Stdin::None => {}
            Stdin::Text(text) if !text.lines().any(|line| leads_on(name, line.trim_start())) => {}
            _ => judge.opaque("what it is told may lead to another server"),
        },
        _ => {}
    }
}

/// In these a line of the text can be a command for a shell, or all of it is a program.
fn told(name: &str, parsed: &Parsed, words: &[&str], judge: &mut Judge<'_>) {
    let (from_files, told) = match &judge.stdin {
        Stdin::None => (false, false),
        Stdin::File { .. } => (true, false),
        Stdin::Pipe { printed: Printed::Files { .. }, .. } => (true, false),
        Stdin::Text(text) | Stdin::Pipe { told: Some(text), .. } => (false, leaves_the_database(text)),
        Stdin::Pipe { .. } | Stdin::Unknown => (false, true),
    };
    let program = name.starts_with("mongo")
        && (words.iter().any(|word| word.starts_with("--eval")) || matches!(judge.stdin, Stdin::Text(_)));
    let behind = |at: usize, options: &[&str]| {
        at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| options.contains(word))
    };
    let is_text = |at| behind(at, &["-c", "--command", "-e", "--execute"]);
    let hidden = parsed.operands.iter().enumerate().any(|(at, word)| match &word.word {
        Word::Exact(_) => false,
        Word::Glob { prefix, .. } | Word::Opaque { prefix, .. } => {
            is_text(at) || ["-c", "-e", "--c", "--e"].iter().any(|start| prefix.starts_with(start))
        }
        Word::OneOf(_) => is_text(at),
    });
    if told || program || hidden {
        judge.opaque("the text that it is given may run commands here");
    }
    let named = |(at, word): (usize, &&str)| {
        behind(at, &["-f", "--file"]) || word.starts_with("-f") && word.len() > 2 || word.starts_with("--file=")
    };
    if from_files || name == "psql" && words.iter().enumerate().any(named) {
        judge.code("runs the text of a file, in which a line may be a command");
    }
}

/// The value in `--option=VALUE` and `-cVALUE`.
fn value(word: &str) -> &str {
    match word.strip_prefix("--") {
        Some(long) => long.split_once('=').map_or(word, |(_, value)| value),
        None if word.starts_with('-') => word.get(2..).unwrap_or(word),
        None => word,
    }
}

/// Whether a command of such a server names another one, or loads code there.
fn leads_on(client: &str, command: &str) -> bool {
    const ON: &str = "connect hello migrate replicaof slaveof module cluster config debug sentinel failover eval evalsha \
        eval_ro evalsha_ro fcall fcall_ro function script shutdown psync sync monitor";
    // A number before it says how often.
    let is_count = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let word = command.split_whitespace().find(|word| !is_count(word)).unwrap_or_default().to_ascii_lowercase();
    matches!(client, "redis-cli" | "valkey-cli" | "keydb-cli")
        && (lists(ON, word.trim_matches(['"', '\''])) || word.contains('\\'))
}

/// Whether a text of SQL does more than a database does: starts a program, reads and writes files.
fn leaves_the_database(text: &str) -> bool {
    /// Commands of a client, at the start of a line.
    const OF_CLIENTS: &str = "system source connect edit tee pager delimiter";
    let own = |statement: &str| {
        let (word, _) = statement.trim_start().split_once(char::is_whitespace).unwrap_or_default();
        lists(OF_CLIENTS, &word.to_ascii_lowercase())
    };
    let text = upright(text);
    let is_text = text.contains(char::is_whitespace);
    let beyond = |why: &sql::Unsaid| matches!(why, sql::Unsaid::Beyond(_) | sql::Unsaid::Client(_));
    text.contains("\\!")
        || is_text && text.contains('\\') && !shows(text)
        || is_text && (text.split([';', '\n']).any(own) || sql::read(text).opaque.as_ref().is_some_and(beyond))
}

/// A command of a client that only shows something, alone: `\d users`.
fn shows(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('\\') && !text.contains('\n') && sql::read(text).opaque.is_none()
}

/// A statement of MySQL without its end that has the answer shown upright.
fn upright(text: &str) -> &str {
    let end = text.trim_end().trim_end_matches(';');
    end.strip_suffix("\\G").unwrap_or(text)
}

/// What stands behind `-h`, of clients that have no table.
fn host<'w>(words: &[&'w str]) -> Option<&'w str> {
    let host = words.iter().enumerate().find_map(|(at, word)| match *word {
        "-h" | "--host" => words.get(at + 1).copied(),
        word => word.strip_prefix("--host="),
    });
    let plain = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte))
    };
    host.filter(plain)
}

/// Options of sqlite3 that change only how rows look.
const SHOWN: &str = "-readonly -csv -json -line -list -markdown -box -table -column -html -quote -tabs -ascii \
    -header -noheader -bail -batch -safe -stats";

/// `sqlite3 [OPTIONS] FILE [SQL…]`.
fn sqlite(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(parsed, "-version --version -help --help") {
        return;
    }
    let mut words = parsed.operands.iter();
    let (mut file, mut text, mut readonly) = (None, String::new(), false);
    while let Some(arg) = words.next() {
        match arg.exact() {
            // Both `-csv` and `--csv` are read.
            Some(option) if option.starts_with('-') && file.is_none() => {
                let name = option.strip_prefix('-').filter(|rest| rest.starts_with('-')).unwrap_or(option);
                if SHOWN.split(' ').any(|shown| shown == name) {
                    readonly |= name == "-readonly";
                    continue;
                }
                match (name, words.next().and_then(Arg::exact)) {
                    ("-separator" | "-nullvalue" | "-newline" | "-maxsize", Some(_)) => {}
                    ("-cmd", Some(sql)) => text.push_str(&whole(sql)),
                    _ => return judge.opaque(format!("`{option}` is not an option the analysis knows")),
                }
            }
            Some(option) if option.starts_with('-') => {
                return judge.opaque("an option after the database is not read by all versions in the same way");
            }
            Some(sql) if file.is_some() => text.push_str(&whole(sql)),
            None if file.is_some() => return judge.opaque("the SQL is not known"),
            _ => file = Some(arg),
        }
    }
    if let Stdin::Text(sql) = &judge.stdin {
        text.push_str(sql);
    } else if let (Stdin::File { .. }, Some(file), true) = (&judge.stdin, file, text.trim().is_empty()) {
        // A file of statements and dot commands: code of whoever wrote it, as a script is.
        judge.code("runs the SQL of a file");
        judge.write(file);
        return judge.write_cwd();
    } else if text.trim().is_empty() {
        return judge.opaque("the SQL is not known");
    }
    let Some(file) = file else { return judge.opaque("there is no database") };
    let text = dot_commands(&text, file, judge);
    // `file:x?mode=ro` opens this one alone for reading: what SQL attaches or opens beside it is not.
    if let Some(path) = file.exact().and_then(opened_for_reading) {
        let lower = text.to_ascii_lowercase();
        let alone = !lower.contains("attach") && !lower.contains(".open") && !lower.contains(".connection");
        return match alone {
            true => settle(&sql::read(&text), &file.with(path), true, judge),
            false => judge.opaque("another database is opened beside it"),
        };
    }
    if file.exact() == Some(":memory:") {
        return settle_text(&sql::read(&text), judge);
    }
    // `file:x?mode=…` is a name of another kind.
    let plain = match &file.word {
        Word::Exact(name) => !name.contains(':') && !name.is_empty(),
        _ => false,
    };
    if !plain {
        return judge.opaque("the database is not a file that is named");
    }
    settle(&sql::read(&text), file, readonly, judge);
}

/// Takes the lines out of `text` that name a file, and notes what they do with it: where no statement is open, for only there
/// they are read so. Such a line is of letters that end no string and no comment.
fn dot_commands(text: &str, database: &Arg, judge: &mut Judge<'_>) -> String {
    let plain = |line: &str| line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ./_-".contains(&byte));
    let is_memory = database.exact() == Some(":memory:");
    let mut rest = String::new();
    let mut open = false;
    for line in text.lines() {
        let words: Vec<&str> = if open { Vec::new() } else { line.split_whitespace().collect() };
        match words.as_slice() {
            [".timeout" | ".echo" | ".bail", _] if plain(line) => {}
            [".read", file] if plain(line) => {
                judge.read(&database.with(file));
                judge.code("runs the SQL of a file");
                judge.write_cwd();
            }
            [".import", file, _]
            | [".import", "--csv", file, _]
            | [".import", "--csv", "--skip", _, file, _]
            | [".import", "--skip", _, file, _]
                if plain(line) && !file.starts_with('-') =>
            {
                judge.read(&database.with(file));
                if !is_memory {
                    judge.write(database);
                }
            }
            [".once" | ".output" | ".backup" | ".save", file] if plain(line) && !file.starts_with('-') => {
                judge.write(&database.with(file));
            }
            _ => {
                // Behind a comment nobody looks for where it ends.
                let is_command = !open && line.starts_with('.');
                let has_comment =
                    rest.contains("--") || rest.contains("/*") || line.contains("--") || line.contains("/*");
                let is_blank = line.trim().is_empty();
                open = has_comment || if is_blank { open } else { !is_command && !line.trim_end().ends_with(';') };
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    rest
}

/// One argument of SQL: it ends with itself, whatever it ends with.
fn whole(sql: &str) -> String {
    let end = if sql.starts_with('.') { "\n" } else { "\n;\n" };
    format!("{sql}{end}")
}

/// The path in `file:PATH?mode=ro`, with `immutable=1` or without.
fn opened_for_reading(name: &str) -> Option<&str> {
    let (path, query) = name.strip_prefix("file:")?.split_once('?')?;
    let mut settings = query.split('&');
    let fine =
        settings.clone().any(|one| one == "mode=ro") && settings.all(|one| matches!(one, "mode=ro" | "immutable=1"));
    let path = path.strip_prefix("//").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    (fine && !path.is_empty() && !path.starts_with("//") && !path.contains(['%', '#', ':'])).then_some(path)
}

fn duckdb(parsed: &Parsed, judge: &mut Judge<'_>) {
    let texts: Vec<&Arg> = parsed
        .opts
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "c" | "s"))
        .filter_map(|(_, value)| value.as_ref())
        .collect();
    let Some(texts) = texts.iter().map(|arg| arg.exact()).collect::<Option<Vec<_>>>() else {
        return judge.opaque("the SQL is not known");
    };
    let (file, more) = match parsed.operands.split_first() {
        Some((file, more)) => (Some(file), more),
        None => (None, [].as_slice()),
    };
    let Some(more) = more.iter().map(Arg::exact).collect::<Option<Vec<_>>>() else {
        return judge.opaque("the SQL is not known");
    };
    let text: String = texts.into_iter().chain(more).map(whole).collect();
    if text.trim().is_empty() {
        return judge.opaque("the SQL is not known");
    }
    let read = sql::read(&text);
    // A string may be a file, a pattern or an address, and a quoted name is one too.
    if text.contains("://") || text.contains('"') || text.contains("~") {
        return judge.opaque("a name in the SQL may be a file or an address");
    }
    if read.computed {
        return judge.opaque("the name of a file in the SQL is not written out");
    }
    let here = Arg { word: Word::Exact(String::new()), span: judge.span.clone() };
    for name in &read.strings {
        let start = name.split(['*', '?', '[', '{']).next().unwrap_or_default();
        if start.len() == name.len() {
            judge.read(&here.with(name));
        } else {
            judge.read_tree(&here.with(start.rsplit_once('/').map_or(".", |(above, _)| above)));
        }
    }
    match file.and_then(Arg::exact) {
        None if file.is_some() => judge.opaque("the database is not a file that is named"),
        Some(name) if name.contains(':') && name != ":memory:" => judge.opaque(
            "the database is not a file that is \
            named",
        ),
        Some(":memory:") | None => {
            if !read.reads_only() {
                judge.opaque("the SQL does more than read");
            }
        }
        Some(_) => {
            if let Some(file) = file {
                settle(&read, file, parsed.has("readonly"), judge);
            }
        }
    }
}

/// What SQL does to a database in a file. To look into one that is not there makes it, unless `-readonly` says no.
fn settle(read: &sql::Sql, file: &Arg, readonly: bool, judge: &mut Judge<'_>) {
    judge.read(file);
    if read.opaque.is_none() && (!readonly || !read.reads_only()) {
        judge.write(file);
    }
    settle_text(read, judge);
}

/// Reading verbs are allow-listed, and the functions that any other may call.
fn settle_text(read: &sql::Sql, judge: &mut Judge<'_>) {
    if let Some(why) = &read.opaque {
        judge.opaque(why.text());
    } else if read.writes == Some(sql::Change::More) {
        judge.opaque("what this SQL does cannot be said");
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fact::Fact;
    use super::super::testing::{all_harmless, facts, none_harmless};

    #[test]
    fn files_that_are_only_read() {
        all_harmless(&[
            "sqlite3 -readonly app.db 'SELECT * FROM users LIMIT 5'",
            "sqlite3 -readonly app.db .tables",
            "sqlite3 --readonly app.db .schema",
            "sqlite3 -readonly -header -csv app.db 'SELECT count(*) FROM t'",
            "sqlite3 --readonly data/app.db \
                '.schema users'",
            "sqlite3 -readonly app.db 'PRAGMA table_info(users);'",
            "sqlite3 -separator , -readonly app.db 'select 1'",
            "sqlite3 \
                --version",
            "psql --version",
            "mysql --version",
            "redis-cli --version",
            "psql -V",
            "duckdb --version",
            "duckdb -c 'SELECT count(*) FROM read_csv(1)'",
            "duckdb -readonly app.db 'SELECT 1'",
            "duckdb \
                -c \"SELECT * FROM 'data.csv' LIMIT 5\"",
        ]);
    }

    #[test]
    fn servers_and_changes() {
        none_harmless(&[
            "psql -c 'SELECT 1'",
            "psql -l",
            "mysql -e 'SHOW TABLES'",
            "redis-cli GET key",
            "mongosh --eval \
                'db.x.find()'",
            "pg_dump app",
            "createdb x",
            "sqlite3 new.db .schema",
            "sqlite3 app.db 'SELECT 1'",
            "duckdb app.db 'SELECT 1'",
            "sqlite3 app.db",
            "sqlite3 app.db 'DROP TABLE \
                t'",
            "sqlite3 app.db 'INSERT INTO t VALUES (1)'",
            "sqlite3 app.db '.shell ls'",
            "sqlite3 app.db '.output x'",
            "sqlite3 app.db \"SELECT writefile('x', \
                'y')\"",
            "sqlite3 -init x app.db 'SELECT 1'",
            "sqlite3 -cmd '.shell ls' app.db 'SELECT \
                1'",
            "sqlite3 /home/dev/x.db 'SELECT 1'",
            "sqlite3 app.db $SQL",
            "sqlite3 $DB 'SELECT 1'",
            "sqlite3 'file:app.db?mode=rw' 'SELECT 1'",
            "sqlite3 \
                -A -f x",
            "sqlite3 app.db \"ATTACH 'x' AS y\"",
            "duckdb -c \"COPY t TO 'x'\"",
            "duckdb -c \"SELECT \
                * FROM '/etc/passwd'\"",
            "duckdb -c \"SELECT * FROM 'https://x/y.csv'\"",
            "duckdb -unsigned -c 'SELECT 1'",
            "duckdb -c \"SELECT \
                getenv('x')\"",
            "duckdb",
            "sqlite3 app.db 'VACUUM INTO x'",
            "sqlite3 app.db 'SELECT \
                load_extension(1)'",
            "sqlite3 app.db .dump .read",
            "sqlite3 app.db 'SELECT 1' -cmd x",
        ]);
    }

    #[test]
    fn writes_are_writes_and_the_rest_is_opaque() {
        let opaque = |line: &str| facts(line).iter().any(|fact| matches!(fact, Fact::Opaque(_)));
        for line in [
            "sqlite3 app.db 'INSERT INTO t VALUES (1)'",
            "sqlite3 app.db 'CREATE TABLE t (a \
            int)'",
            "sqlite3 app.db 'DELETE FROM t WHERE id = 1'",
        ] {
            assert!(!opaque(line), "{line}: {:?}", facts(line));
            assert!(facts(line).iter().any(|fact| matches!(fact, Fact::Write(_))), "{line}");
        }
        for line in ["sqlite3 app.db '.system id'", "sqlite3 app.db \"ATTACH 'x' AS y\"", "psql -c '\\! id'"] {
            assert!(opaque(line), "{line}: {:?}", facts(line));
        }
    }
}
