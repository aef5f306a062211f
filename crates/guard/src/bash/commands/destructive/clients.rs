//! What the client of a server asks it to remove: SQL, scripts of a database, requests, and commands that are typed.

use super::super::super::fact::Category;
use super::super::super::lang::sql;
use super::super::spec::lists;
use super::Hit;
use super::words::{Line, fits};

/// Clients that take SQL as an option, an operand or on standard input.
pub(super) const SQL_CLIENTS: &str = "psql mysql mssql-cli mariadb sqlite3 sqlite duckdb cockroach cqlsh \
    clickhouse-client \
    clickhouse-local clickhouse bq sqlcmd \
    snowsql snow presto trino spark-sql hive beeline impala-shell mysqlsh mycli pgcli litecli usql influx isql \
    ysqlsh vsql \
    sqlplus wrangler turso d1 osqueryi databricks athena supabase surreal dolt ksql crash mclient db2 bteq hdbsql \
    tsql rqlite \
    dsql nzsql gsql ycqlsh hbase phoenix-sqlline sqlline exaplus spanner-cli edgedb gel steampipe taos";

/// What asks a server to delete, in the place or the body of a request.
const DELETING: &[&str] = &[
    "/_delete_by_query",
    "drop%20table",
    "drop+table",
    "drop table",
    "drop%20database",
    "drop+database",
    "drop database",
    "drop measurement",
    "truncate table",
    "<delete><query>",
    "\"remove_index\"",
    "/delete_series",
    "/clean_tombstones",
    "action=unload",
    "command=delete",
    "flushall",
    "deletecollection",
];

pub(super) fn delete_request(line: &Line, _: Option<&str>) -> Option<Hit> {
    let method = line.values("-X --request --method").last().map(|piece| piece.text.to_ascii_uppercase());
    // What is sent is data, unless a database is told it.
    let sent: Vec<&str> =
        line.values("-d --data --data-raw --data-binary --data-urlencode").map(|piece| piece.text.as_ref()).collect();
    let base = line.operands.iter().any(|piece| {
        let place = piece.text.to_ascii_lowercase();
        [":8123", ":9200", ":5984", ":8086", "sql", "clickhouse", "elastic", "solr", "couch", "influx", "query", "db"]
            .iter()
            .any(|part| place.contains(part))
    });
    let body = |wanted: &[&str]| {
        line.raw.iter().filter(|word| base || !sent.contains(&word.text.as_ref())).any(|word| {
            let lower = word.text.to_ascii_lowercase();
            wanted.iter().any(|wanted| lower.contains(wanted))
        })
    };
    if method.as_deref() == Some("DELETE") {
        let search = body(&[":9200", "elastic", "opensearch", "couch", ":5984", ":8123", "solr"]);
        let category = if search { Category::Database } else { Category::Cloud };
        return Some((category, "asks a server to delete".to_owned()));
    }
    body(DELETING).then(|| (Category::Database, "asks a database to delete".to_owned()))
}

/// Clients whose statement may be several words.
const JOINED: &str = "influx db2";

/// Consoles that hand SQL on, and the operands in front of it: elsewhere their words are no SQL.
const CONSOLES: &[(&str, &str)] = &[
    ("wp", "db query|cli"),
    ("drush", "sql:query|sqlq|sql-query|sql:cli|sql-cli"),
    ("drush", "@* sql:query|sqlq|sql-query|sql:cli|sql-cli"),
    ("console", "dbal:run-sql|doctrine:query:sql|doctrine:query:dql"),
    ("symfony", "console dbal:run-sql|doctrine:query:sql"),
    ("manage.py django django-admin", "dbshell"),
    ("prisma", "db execute"),
    ("heroku", "pg:psql|psql"),
    ("aws", "athena|rds-data|redshift-data|dynamodb|timestream-query|cloudtrail *"),
    ("gcloud", "spanner|sql *"),
    ("rails", "db|dbconsole"),
    ("artisan", "db"),
    ("magento n98-magerun n98-magerun2", "db:query"),
    ("fly flyctl", "postgres|pg|mpg *"),
    ("neonctl neon pscale", "sql|shell"),
];

/// The programs of [`CONSOLES`].
pub(super) const SQL_CONSOLES: &str = "wp drush console symfony manage.py django django-admin prisma heroku aws \
    gcloud rails artisan \
    magento n98-magerun n98-magerun2 fly flyctl neonctl neon pscale";

/// SQL behind the subcommand of a console that takes it.
pub(super) fn sql_console(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    let takes = CONSOLES.iter().any(|(names, path)| lists(names, &line.program) && line.leads(path).is_some());
    takes.then(|| sql_client(line, stdin)).flatten()
}

/// SQL wherever a client may take it: every known word and option value is read as SQL. A word that is not
/// SQL destroys nothing, so it does no harm to read them all.
pub(super) fn sql_client(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    // What is only in memory is gone with the client anyway.
    let attaches = |text: &str| text.to_ascii_lowercase().contains("attach") || text.contains(".open");
    let in_memory = lists("sqlite3 sqlite duckdb", &line.program) && line.operand(0) == ":memory:";
    if in_memory && !line.raw.iter().map(|piece| piece.text.as_ref()).chain(stdin).any(attaches) {
        return None;
    }
    let values = line.flags.iter().filter_map(|flag| flag.value.as_ref());
    let words = line.raw.iter().chain(values).map(|piece| piece.text.as_ref());
    let texts = words.chain(stdin).filter(|text| text.contains([' ', ';', '\t', '\n']));
    let why = texts.filter_map(|text| sql::read(text).destroys).next();
    let split =
        || sql::read(&line.operands.iter().map(|piece| piece.text.as_ref()).collect::<Vec<_>>().join(" ")).destroys;
    let why = why.or_else(|| lists(JOINED, &line.program).then(split).flatten())?;
    Some((Category::Database, why))
}

pub(super) fn mongo(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    /// Calls that remove as a whole.
    const ALWAYS: &[&str] = &[
        ".drop(",
        ".dropDatabase(",
        ".dropIndex(",
        ".dropIndexes(",
        ".dropUser(",
        ".dropAllUsers(",
        ".dropRole(",
        ".shutdownServer(",
        "dropDatabase:",
        "drop:",
        ".dropAllRoles(",
        ".dropSearchIndex(",
        "shutdown:1",
        "._drop(",
        "._dropDatabase(",
        "._truncate(",
        ".truncate()",
        "fsyncLock(",
        "rs.stepDown(",
    ];
    /// Calls that remove or change what their filter says: without one, everything.
    const FILTERED: &[&str] = &[".deleteMany(", ".remove(", ".updateMany(", ".bulkWrite([{deleteMany"];
    let words = line.raw.iter().chain(line.flags.iter().filter_map(|flag| flag.value.as_ref()));
    for text in words.map(|piece| piece.text.as_ref()).chain(stdin) {
        let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        if ALWAYS.iter().any(|call| text.contains(call)) {
            return Some((Category::Database, "drops a collection, an index or a database".to_owned()));
        }
        let all = FILTERED.iter().any(|call| {
            text.match_indices(call).any(|(at, _)| {
                let rest = text.get(at + call.len()..).unwrap_or_default();
                let statement = text.get(..at).and_then(|before| before.rsplit(';').next()).unwrap_or_default();
                // What is explained is not run.
                (rest.starts_with(')') || rest.starts_with("{}")) && !statement.contains(".explain(")
            })
        });
        if all {
            return Some((Category::Database, "removes or changes every document".to_owned()));
        }
    }
    None
}

/// Commands of redis that remove. The first word of the command is the first operand.
pub(super) fn redis(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    const REMOVING: &str = "FLUSHALL FLUSHDB DEL UNLINK GETDEL SHUTDOWN SWAPDB RESTORE HDEL SREM ZREM LTRIM XDEL \
        XTRIM ZREMRANGEBYRANK \
        ZREMRANGEBYSCORE SPOP";
    const REMOVING_PAIRS: &str = "CONFIG:SET CONFIG:REWRITE SCRIPT:FLUSH FUNCTION:FLUSH FUNCTION:DELETE \
        CLUSTER:RESET CLUSTER:FORGET \
        CLUSTER:FLUSHSLOTS ACL:DELUSER XGROUP:DESTROY DEBUG:SEGFAULT DEBUG:RELOAD CLIENT:KILL MEMORY:PURGE \
        JSON.DEL:*";
    let removes = |first: &str, second: &str| {
        let (first, pair) = (first.to_ascii_uppercase(), format!("{first}:{second}").to_ascii_uppercase());
        REMOVING.split_whitespace().any(|known| known == first)
            || REMOVING_PAIRS.split_whitespace().any(|known| fits(known, &pair))
    };
    let given = removes(line.operand(0), line.operand(1));
    let typed = stdin.is_some_and(|text| {
        // `printf 'FLUSHALL\n'`: what its backslashes mean is not looked at before.
        text.replace("\\n", "\n").lines().any(|row| {
            let mut words = row.split_whitespace();
            removes(words.next().unwrap_or_default(), words.next().unwrap_or_default())
        })
    });
    let scripted = line.operand(0).eq_ignore_ascii_case("EVAL") && {
        let script = line.operand(1).to_ascii_uppercase();
        ["FLUSHALL", "FLUSHDB", "'DEL'", "\"DEL\"", "'UNLINK'"].iter().any(|call| script.contains(call))
    };
    (given || typed || scripted).then(|| (Category::Database, "removes keys or changes the server".to_owned()))
}

pub(super) fn cypher(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    let texts = line.raw.iter().map(|piece| piece.text.as_ref()).chain(stdin);
    let hit = texts.map(str::to_ascii_uppercase).any(|text| {
        let words = || {
            text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
        };
        // `MATCH (n:Person {id: 1}) DELETE n` names what goes; without a label, a property or WHERE it is everything.
        let named = text.contains(" WHERE ") || text.contains('{');
        let bare = words().any(|word| word == "DELETE") && !named;
        let dropped =
            |pair: (&str, &str)| pair.0 == "DROP" && lists("DATABASE CONSTRAINT INDEX USER ROLE ALIAS GRAPH", pair.1);
        text.contains("DETACH DELETE") || bare || words().zip(words().skip(1)).any(dropped)
    });
    hit.then(|| (Category::Database, "deletes nodes with all their relations".to_owned()))
}

/// Programs that take commands on standard input or behind an option, and the words that remove there.
const TYPED: &[(&str, &str)] = &[
    ("nc ncat netcat telnet socat", "flush_all FLUSHALL FLUSHDB flushall flushdb SHUTDOWN shutdown"),
    ("sftp ftp lftp smbclient tftp", "rm del delete mdelete mrm rmdir rmtree deltree glob"),
    ("bconsole", "delete purge prune"),
    ("zkCli.sh zkcli zookeeper-shell zookeeper-shell.sh", "delete deleteall rmr"),
    ("hbase", "drop drop_all disable disable_all truncate truncate_preserve delete deleteall drop_namespace"),
    ("ldapmodify", "changetype:delete delete:"),
    ("gfsh", "destroy shutdown remove stop"),
    ("etcdctl", "del"),
    ("fdbcli", "clear clearrange writemode exclude kill"),
    ("rabbitmqctl", "purge_queue delete_queue"),
    ("diskpart", "clean delete format"),
];

/// The programs of [`TYPED`].
pub(super) const TAKE_COMMANDS: &str = "nc ncat netcat telnet socat sftp ftp lftp smbclient tftp bconsole zkCli.sh \
    zkcli zookeeper-shell \
    zookeeper-shell.sh hbase ldapmodify gfsh etcdctl fdbcli rabbitmqctl diskpart";

/// A command that removes, typed into a program.
pub(super) fn typed(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    let (_, removing) = TYPED.iter().find(|(names, _)| lists(names, &line.program))?;
    let given = line.values("-c -e -x --exec --command").map(|piece| piece.text.as_ref());
    let removes = |text: &str| {
        text.split([';', '\n']).any(|row| {
            let row = row.trim_start().trim_start_matches('-').replace(": ", ":");
            row.split_whitespace().next().is_some_and(|word| lists(removing, word))
        })
    };
    given.chain(stdin).any(removes).then(|| (Category::Database, format!("tells `{}` to remove", line.program)))
}
