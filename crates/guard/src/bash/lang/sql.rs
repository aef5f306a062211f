//! SQL inside arguments: does it only read, what does it destroy, and what cannot be said?
//!
//! Dialects differ, so nothing here needs to parse SQL: it is cut into tokens, the tokens into statements,
//! and a statement is known by its verb. Reading is an allow-list (verbs, PRAGMAs and functions by name);
//! destroying is looked for in every dialect at once. Strings whose end dialects disagree about, meta
//! commands of the clients and anything that reaches programs or other files is opaque.

use std::collections::HashMap;

use super::super::commands::spec::lists;

/// What a text of SQL does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sql {
    /// The first thing that cannot be had back, in words.
    pub destroys: Option<String>,
    /// The first thing that cannot be said.
    pub opaque: Option<Unsaid>,
    /// What its statements change that are not on the list of reading ones.
    pub writes: Option<Change>,
    /// A name of a file may be put together, or stand between dollar quotes.
    pub computed: bool,
    /// Every string in it: for a client that opens files named by strings.
    pub strings: Vec<String>,
}

/// Why it cannot be said what a text of SQL does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaid {
    /// A command of this name is the client's, not the server's.
    Client(String),
    /// This reaches beyond the database.
    Beyond(String),
    /// Something else, in words.
    Other(String),
}

impl Unsaid {
    /// The reason as a person reads it.
    pub fn text(&self) -> String {
        match self {
            Unsaid::Client(name) => format!("the client command {name}"),
            Unsaid::Beyond(what) => format!("{what} reaches beyond the database"),
            Unsaid::Other(why) => why.clone(),
        }
    }
}

/// What a statement changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing but the database itself.
    Ordinary,
    /// More than that, or it is not known.
    More,
}

impl Change {
    /// What a statement with this verb, or with this word in it, changes.
    fn by(word: &str) -> Change {
        if ORDINARY.iter().any(|verb| word.starts_with(verb)) { Change::Ordinary } else { Change::More }
    }
}

impl Sql {
    /// Whether it is proved to read only.
    pub fn reads_only(&self) -> bool {
        self.destroys.is_none() && self.opaque.is_none() && self.writes.is_none()
    }
}

/// A piece of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A keyword, a bare name or a number, upper case.
    Word(String),
    /// A quoted name, upper case.
    Name(String),
    /// A string and its text.
    Text(String),
    /// A body between dollar quotes.
    Body(String),
    /// Any other character.
    Mark(char),
    /// A line for the client, not the server: `\d users`, `.tables`.
    Meta(String),
}

/// Reads `text`.
pub fn read(text: &str) -> Sql {
    read_at(text, 0)
}

fn read_at(text: &str, depth: usize) -> Sql {
    let mut sql = Sql::default();
    let tokens = tokens(text, &mut sql);
    sql.strings = tokens
        .iter()
        .filter_map(|token| if let Token::Text(text) = token { Some(text.clone()) } else { None })
        .collect();
    sql.computed = computed(&tokens);
    for statement in tokens.split(|token| *token == Token::Mark(';')) {
        for part in split_meta(statement) {
            match part {
                [Token::Meta(line)] => meta(line, &mut sql),
                [] => {}
                statement => judge(statement, depth, &mut sql),
            }
        }
    }
    sql
}

/// Whether a function that reads a file gets anything but one string first, or a string stands between dollars.
fn computed(tokens: &[Token]) -> bool {
    let reads = |word: &str| word.starts_with("READ_") || word.starts_with("PARQUET_") || word == "GLOB";
    tokens.iter().enumerate().any(|(at, token)| match token {
        Token::Body(_) => true,
        Token::Word(word) if reads(word) && tokens.get(at + 1) == Some(&Token::Mark('(')) => {
            let plain = matches!(tokens.get(at + 2), Some(Token::Text(_)))
                && matches!(tokens.get(at + 3), Some(Token::Mark(')' | ',')));
            let number =
                matches!(tokens.get(at + 2), Some(Token::Word(word)) if word.bytes().all(|b| b.is_ascii_digit()));
            !plain && !number && word != "GLOB"
        }
        _ => false,
    })
}

/// Meta lines stand alone; what is between them is SQL.
fn split_meta(tokens: &[Token]) -> Vec<&[Token]> {
    tokens.chunk_by(|a, b| !matches!(a, Token::Meta(_)) && !matches!(b, Token::Meta(_))).collect()
}

fn tokens(text: &str, sql: &mut Sql) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let tags = Tags::of(&chars);
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut out = Vec::new();
    let mut index = 0;
    let mut fresh = true; // nothing but blanks since the start of the line
    while index < chars.len() {
        let c = at(index);
        // Within a statement it is none, but what ends one is the client's to say (`go`).
        if c == '.' && fresh && !is_closed(&out) && at(index + 1).is_ascii_alphabetic() {
            opaque(sql, "a line that may be a command of the client");
        }
        match c {
            '\n' => {
                fresh = true;
                index += 1;
                continue;
            }
            c if c.is_whitespace() => {
                index += 1;
                continue;
            }
            '-' if at(index + 1) == '-' => {
                while index < chars.len() && at(index) != '\n' {
                    index += 1;
                }
                continue;
            }
            // MySQL runs what stands in `/*! … */`, so it is read as if the comment were not there.
            '/' if at(index + 1) == '*' && at(index + 2) == '!' => {
                opaque(sql, "a comment that MySQL runs");
                index += 3;
                while at(index).is_ascii_digit() {
                    index += 1;
                }
                continue;
            }
            '*' if at(index + 1) == '/' => {
                index += 2;
                continue;
            }
            '/' if at(index + 1) == '*' => {
                index += 2;
                while index < chars.len() && !(at(index) == '*' && at(index + 1) == '/') {
                    if at(index) == '/' && at(index + 1) == '*' {
                        opaque(sql, "a comment inside a comment, whose end dialects disagree about");
                    }
                    index += 1;
                }
                if index >= chars.len() {
                    opaque(sql, "a comment without an end");
                }
                index += 2;
                continue;
            }
            // psql: everywhere outside strings. sqlite3: a dot at the start of a line.
            '\\' | '.' if c == '\\' || (fresh && is_closed(&out) && at(index + 1).is_ascii_alphabetic()) => {
                let start = index;
                while index < chars.len() && at(index) != '\n' {
                    index += 1;
                }
                out.push(Token::Meta(chars.get(start..index).unwrap_or_default().iter().collect()));
                continue;
            }
            '\'' | '"' | '`' => {
                let (text, next) = quoted(&chars, index, c, sql);
                out.push(if c == '\'' { Token::Text(text) } else { Token::Name(text.to_uppercase()) });
                index = next;
            }
            '[' if at(index + 1).is_ascii_alphabetic() => {
                let start = index + 1;
                while index < chars.len() && at(index) != ']' {
                    index += 1;
                }
                let name: String = chars.get(start..index).unwrap_or_default().iter().collect();
                index += 1;
                out.push(Token::Name(name.to_uppercase()));
            }
            '$' => match tags.body(&chars, index) {
                Some((body, next)) => {
                    out.push(Token::Body(body));
                    index = next;
                }
                None => {
                    out.push(Token::Mark('$'));
                    index += 1;
                }
            },
            c if c.is_alphanumeric() || c == '_' => {
                let start = index;
                while at(index).is_alphanumeric() || at(index) == '_' {
                    index += 1;
                }
                let word: String = chars.get(start..index).unwrap_or_default().iter().collect();
                out.push(Token::Word(word.to_uppercase()));
            }
            c => {
                out.push(Token::Mark(c));
                index += 1;
            }
        }
        fresh = false;
    }
    out
}

/// Whether no statement is open: sqlite3 reads a line that begins with a dot as a command only then.
fn is_closed(tokens: &[Token]) -> bool {
    matches!(tokens.last(), None | Some(Token::Mark(';') | Token::Meta(_)))
}

/// A quoted piece from `start`: its text and where it ends. Doubled quotes stay inside.
fn quoted(chars: &[char], start: usize, quote: char, sql: &mut Sql) -> (String, usize) {
    let mut text = String::new();
    let mut index = start + 1;
    loop {
        match chars.get(index) {
            None => {
                opaque(sql, "a quote without an end");
                return (text, index);
            }
            Some(&c) if c == quote => {
                if chars.get(index + 1) == Some(&quote) {
                    text.push(quote);
                    index += 2;
                    continue;
                }
                return (text, index + 1);
            }
            Some(&'\\') => {
                opaque(sql, "a backslash in quotes, which dialects read in two ways");
                text.push('\\');
                index += 1;
                // The reading in which it escapes; the other one ends the string earlier and is opaque anyway.
                if let Some(&c) = chars.get(index) {
                    text.push(c);
                    index += 1;
                }
            }
            Some(&c) => {
                text.push(c);
                index += 1;
            }
        }
    }
}

/// Where each tag of a dollar quote stands: `$$`, `$tag$`.
struct Tags<'t>(HashMap<&'t [char], Vec<usize>>);

impl<'t> Tags<'t> {
    fn of(chars: &'t [char]) -> Tags<'t> {
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        for (start, _) in chars.iter().enumerate().filter(|(_, c)| **c == '$') {
            if let Some(tag) = tag(chars, start) {
                places.entry(tag).or_default().push(start);
            }
        }
        Tags(places)
    }

    /// `$tag$ … $tag$` from `start`: what stands between, and where it ends.
    fn body(&self, chars: &[char], start: usize) -> Option<(String, usize)> {
        let tag = tag(chars, start)?;
        let from = start + tag.len();
        let places = self.0.get(tag)?;
        let end = *places.get(places.partition_point(|place| *place < from))?;
        Some((chars.get(from..end)?.iter().collect(), end + tag.len()))
    }
}

/// The tag of a dollar quote that begins at `start`, with its dollars.
fn tag(chars: &[char], start: usize) -> Option<&[char]> {
    let rest = chars.get(start..)?;
    let length = rest.iter().skip(1).take_while(|c| c.is_alphanumeric() || **c == '_').count();
    (rest.get(length + 1) == Some(&'$')).then(|| rest.get(..length + 2)).flatten()
}

fn opaque(sql: &mut Sql, why: &str) {
    unsaid(sql, Unsaid::Other(why.to_owned()));
}

fn unsaid(sql: &mut Sql, why: Unsaid) {
    sql.opaque.get_or_insert(why);
}

fn destroys(sql: &mut Sql, why: impl Into<String>) {
    sql.destroys.get_or_insert_with(|| why.into());
}

/// Meta commands that only show something. psql's begin with a backslash, sqlite3's with a dot.
const SHOWING: &str = "\
    \\d* \\l \\l+ \\z \\sf \\sv \\conninfo \\x \\timing \\pset \\a \\t \\H \\q \\? \\h \\echo \\encoding \
    \\errverbose .tables .schema .fullschema .mode .headers .header .databases .dbinfo .indexes .indices .separator \
    .width .nullvalue .timer .print .quit .exit .help .show .stats .eqp .changes .explain .limit .version .dump \
    .tabs";

fn meta(line: &str, sql: &mut Sql) {
    let name = line.split_whitespace().next().unwrap_or_default();
    let known = SHOWING.split(' ').any(|shown| match shown.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == shown,
    });
    // One line may hold several backslash commands, and a bar makes a command of the rest.
    let plain = !line.contains('|') && !line.contains('`') && line.matches('\\').count() <= 1;
    if !known || !plain {
        unsaid(sql, Unsaid::Client(name.to_owned()));
    }
}

/// Verbs that read.
const READING: &[&str] =
    &["SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE", "PRAGMA", "FROM"];

/// PRAGMAs that only answer, when they are given no new value.
const PRAGMAS: &str = "TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST \
    DATABASE_LIST \
    COLLATION_LIST FUNCTION_LIST COMPILE_OPTIONS INTEGRITY_CHECK QUICK_CHECK FOREIGN_KEY_CHECK USER_VERSION \
    SCHEMA_VERSION \
    PAGE_COUNT PAGE_SIZE FREELIST_COUNT ENCODING JOURNAL_MODE FOREIGN_KEYS APPLICATION_ID SHOW_TABLES VERSION \
    DATABASE_SIZE";

/// What may stand before a parenthesis in a reading statement: functions without effect, and keywords.
const CALLS: &str = "ABS ALL AND ANY ARRAY_AGG AS AVG BETWEEN BIT_COUNT BY CASE CAST CEIL CEILING CHAR COALESCE \
    CONCAT CONCAT_WS COUNT \
    CUME_DIST CURRENT_DATE DATE DATE_DIFF DATE_PART DATE_TRUNC DATETIME DAY DENSE_RANK DISTINCT ELSE EXCEPT EXISTS \
    EXP EXTRACT \
    FILTER FIRST FIRST_VALUE FLOOR FORMAT FROM GLOB GROUP_CONCAT HAVING HEX IFNULL IIF IN INSTR INTERSECT JOIN JSON \
    JSON_ARRAY JSON_ARRAY_LENGTH JSON_EACH JSON_EXTRACT JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSON_OBJECT JSON_TREE \
    JSON_TYPE \
    JSON_VALID JULIANDAY LAG LAST LAST_VALUE LEAD LENGTH LEFT LIKE LIKELIHOOD LIKELY LIMIT LN LOG LOG10 LOG2 LOWER \
    LPAD LTRIM MAX MEDIAN \
    MIN MOD MODE MONTH NOT NTH_VALUE NTILE NULLIF NUMERIC DECIMAL OFFSET ON OR OVER PARTITION PERCENT_RANK POW POWER \
    PRAGMA_TABLE_INFO PRAGMA_INDEX_LIST PRAGMA_TABLE_LIST PRINTF QUANTILE QUANTILE_CONT QUOTE RANDOM RANK \
    REGEXP_MATCHES REPLACE REVERSE \
    RIGHT ROUND ROW_NUMBER RPAD RTRIM SELECT SIGN SOME SQLITE_VERSION SQRT STDDEV STRFTIME STRING_AGG STRPTIME \
    SUBSTR SUBSTRING \
    SUM THEN TIME TOTAL TRIM TYPEOF UNICODE UNION UNIXEPOCH UNNEST UPPER USING VALUES VARCHAR VARIANCE WHEN WHERE \
    YEAR \
    READ_CSV READ_CSV_AUTO READ_PARQUET READ_JSON READ_JSON_AUTO PARQUET_SCHEMA PARQUET_METADATA";

/// Words that make a statement more than reading, or reach beyond the database, wherever they stand bare.
const BEYOND: &str = "INSERT UPDATE DELETE MERGE DROP ALTER CREATE TRUNCATE ATTACH DETACH COPY INTO OUTFILE \
    DUMPFILE PROGRAM LOAD \
    LOAD_FILE LOAD_EXTENSION WRITEFILE READFILE EDIT FSDIR ZIPFILE SQLAR_UNCOMPRESS SHELL SYSTEM INSTALL EXPORT \
    IMPORT CALL \
    EXEC EXECUTE XP_CMDSHELL PG_READ_FILE PG_LS_DIR LO_IMPORT LO_EXPORT DBLINK GETENV FILE URL S3 REMOTE INFILE \
    FTS3_TOKENIZER";

/// Words that are never names of columns, and reach files, programs and servers.
const OUTSIDE: &str = "LOAD_FILE OUTFILE DUMPFILE INFILE XP_CMDSHELL LO_IMPORT LO_EXPORT PG_READ_FILE PG_READ_BINARY_FILE \
    PG_LS_DIR PG_STAT_FILE LOAD_EXTENSION DBLINK DBLINK_CONNECT DBLINK_EXEC WRITEFILE READFILE FSDIR ZIPFILE";

/// Names in quotes, with those that are written as texts where a table stands: `FROM 'fsdir'`.
fn quoted_names(statement: &[Token]) -> impl Iterator<Item = &str> {
    let before = std::iter::once(None).chain(statement.iter().map(Some));
    statement.iter().zip(before).filter_map(|(token, before)| match token {
        Token::Name(name) => Some(name.as_str()),
        Token::Text(text) => {
            let is_table = match before {
                Some(Token::Word(word)) => matches!(word.as_str(), "FROM" | "JOIN" | "INTO" | "USING" | "UPDATE"),
                Some(Token::Mark(mark)) => *mark == ',',
                _ => false,
            };
            let known = OUTSIDE.split_whitespace().find(|name| name.eq_ignore_ascii_case(text));
            known.filter(|_| is_table)
        }
        _ => None,
    })
}

/// How the verbs begin that change nothing but the database itself.
const ORDINARY: &[&str] = &[
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "ALTER",
    "REPLACE",
    "BEGIN",
    "COMMIT",
    "END",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "ANALYZE",
    "REINDEX",
];

/// Commands of MySQL's client, which it reads where a statement begins.
const OF_CLIENTS: &str = "SYSTEM SOURCE CONNECT EDIT TEE PAGER DELIMITER";

/// Languages of functions that only the database runs.
const LANGUAGES: &str = "SQL PLPGSQL";

/// What a statement has the server do beyond its tables.
fn of_the_server(verb: &str, statement: &[Token], words: &[&str]) -> Option<String> {
    let behind = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
    let from_or_to = |word: &Token| matches!(word, Token::Word(word) if word == "FROM" || word == "TO");
    let files = || statement.windows(2).any(|two| from_or_to(&two[0]) && matches!(two[1], Token::Text(_)));
    let makes = verb == "DO" || words.iter().take(4).any(|word| matches!(*word, "FUNCTION" | "PROCEDURE"));
    let inner = || {
        statement.iter().find_map(|token| match token {
            Token::Body(text) | Token::Text(text) => {
                let text = text.to_uppercase();
                let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.find(|word| lists(OUTSIDE, word) || lists("COPY EXECUTE PROGRAM", word)).map(str::to_owned)
            }
            _ => None,
        })
    };
    match verb {
        "COPY" if words.contains(&"PROGRAM") || files() => Some("COPY".to_owned()),
        "DO" | "CREATE" if makes && inner().is_some() => Some("a body with COPY, EXECUTE or more".to_owned()),
        "ALTER" if words.get(1) == Some(&"SYSTEM") => Some("ALTER SYSTEM".to_owned()),
        "DO" | "CREATE" => {
            behind("LANGUAGE").filter(|name| !lists(LANGUAGES, name)).map(|name| format!("LANGUAGE {name}"))
        }
        _ => None,
    }
}

/// What may stand before a parenthesis where a statement defines and changes: keywords, types and modules.
const DEFINES: &str = "KEY UNIQUE CHECK DEFAULT ALWAYS CONFLICT SET RETURNING VALUES TABLE RECURSIVE INTEGER INT BIGINT SMALLINT \
    TINYINT CHARACTER NCHAR NVARCHAR TEXT BLOB REAL DOUBLE FLOAT PRECISION BINARY VARBINARY BIT BOOLEAN TIMESTAMP ENUM \
    COLUMNS MATERIALIZED";
const MODULES: &str = "FTS3 FTS4 FTS5 RTREE";

/// A function that a writing statement calls and that may do more than compute.
fn called<'t>(statement: &'t [Token], words: &[&str]) -> Option<&'t str> {
    let makes_index = words.iter().take(4).any(|word| *word == "INDEX");
    let word = |at: Option<usize>| match at.and_then(|at| statement.get(at)) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let opens = (0..statement.len()).filter(|at| statement.get(*at) == Some(&Token::Mark('(')));
    opens.filter_map(|open| open.checked_sub(1)).find_map(|at| {
        let name = match statement.get(at)? {
            Token::Word(word) => word.as_str(),
            Token::Name(_) | Token::Text(_) => "a quoted name",
            _ => return None,
        };
        // `main.t (`
        let mut start = at;
        while start >= 2 && statement.get(start - 1) == Some(&Token::Mark('.')) {
            start -= 2;
        }
        let before = word(start.checked_sub(1));
        let is_table =
            matches!(before, "INTO" | "TABLE" | "EXISTS" | "REFERENCES" | "VIEW" | "WITH" | "RECURSIVE" | "FUNCTION")
                || before == "ON" && makes_index
                || before == "USING" && lists(MODULES, name);
        (!is_table && !lists(CALLS, name) && !lists(DEFINES, name)).then_some(name)
    })
}

fn judge(statement: &[Token], depth: usize, sql: &mut Sql) {
    let words: Vec<&str> = statement
        .iter()
        .filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
        .collect();
    let Some(&verb) = words.first() else {
        sql.writes.get_or_insert(Change::More);
        return;
    };
    if let Some(why) = destruction(statement, depth) {
        destroys(sql, why);
    }
    if let Some(reach) = words.iter().copied().chain(quoted_names(statement)).find(|word| lists(OUTSIDE, word)) {
        unsaid(sql, Unsaid::Beyond(reach.to_owned()));
    }
    if let Some(what) = of_the_server(verb, statement, &words) {
        unsaid(sql, Unsaid::Beyond(what));
    }
    if verb == "ATTACH" || verb == "LOAD" || verb == "INSTALL" {
        opaque(sql, &format!("{verb} opens something else"));
    }
    if lists(OF_CLIENTS, verb) {
        unsaid(sql, Unsaid::Client(verb.to_owned()));
    }
    if !READING.contains(&verb)
        && let Some(name) = called(statement, &words)
    {
        opaque(sql, &format!("{name}(…) is not on the list of functions that only compute"));
    }
    if let Some(change) = change(verb, statement, &words).filter(|_| sql.writes != Some(Change::More)) {
        sql.writes = Some(change);
    }
}

/// What the statement changes, where it is not on the list of reading ones.
fn change(verb: &str, statement: &[Token], words: &[&str]) -> Option<Change> {
    if !READING.contains(&verb) {
        // `VACUUM INTO` writes a file.
        let within = verb == "VACUUM" && !words.contains(&"INTO");
        return Some(if within { Change::Ordinary } else { Change::by(verb) });
    }
    if verb == "PRAGMA" {
        // `PRAGMA main.table_info(t)`: the name may follow the database's.
        let known = words.iter().skip(1).take(2).any(|word| PRAGMAS.split_whitespace().any(|name| name == *word));
        let set = statement.contains(&Token::Mark('='));
        let call = statement.contains(&Token::Mark('('));
        let answers =
            words.iter().any(|word| word.ends_with("_INFO") || word.ends_with("_XINFO") || word.ends_with("_LIST"));
        return (!known || set || (call && !answers)).then_some(Change::Ordinary);
    }
    if let Some(word) = words.iter().skip(1).find(|word| lists(BEYOND, word)) {
        return Some(Change::by(word));
    }
    let mut before: Option<&Token> = None;
    for token in statement {
        if *token == Token::Mark('(') {
            match before {
                Some(Token::Word(word)) if !lists(CALLS, word) => return Some(Change::More),
                Some(Token::Name(_) | Token::Text(_)) => return Some(Change::More),
                _ => {}
            }
        }
        before = Some(token);
    }
    None
}

/// What kinds of things DROP drops.
const DROPPED: &str = "TABLE DATABASE SCHEMA VIEW INDEX USER ROLE COLUMN KEYSPACE COLLECTION MATERIALIZED SEQUENCE \
    FUNCTION PROCEDURE \
    TRIGGER TYPE EXTENSION CONSTRAINT PARTITION MEASUREMENT SERIES BUCKET TABLESPACE OWNED LOGIN SHARD RETENTION \
    DOMAIN \
    AGGREGATE FOREIGN POLICY PUBLICATION SUBSCRIPTION SERVER WAREHOUSE STAGE STREAM PIPE TASK DICTIONARY";

/// What the statement destroys, in words.
fn destruction(statement: &[Token], depth: usize) -> Option<String> {
    let mut level = 0usize;
    let mut top: Vec<&Token> = Vec::new(); // outside parentheses
    for token in statement {
        match token {
            Token::Mark('(') => level += 1,
            Token::Mark(')') => level = level.saturating_sub(1),
            token if level == 0 => top.push(token),
            _ => {}
        }
    }
    let word = |index: usize| match top.get(index) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let mut verb = 0;
    if word(0) == "EXPLAIN" {
        // EXPLAIN alone plans; EXPLAIN ANALYZE runs.
        if word(1) != "ANALYZE" && word(1) != "ANALYSE" {
            return None;
        }
        verb = 2;
    }
    if word(verb) == "DO" && depth < 4 {
        return statement.iter().find_map(|token| match token {
            Token::Body(body) => body.split([';', '\n']).find_map(|part| inner(part, depth)),
            _ => None,
        });
    }
    if matches!(word(verb), "EXECUTE" | "EXEC" | "PREPARE") && depth < 4 {
        return statement.iter().find_map(|token| match token {
            Token::Text(text) | Token::Body(text) => read_at(text, depth + 1).destroys,
            _ => None,
        });
    }
    if word(verb) == "WITH" {
        // What is named there runs, too: `WITH gone AS (DELETE FROM t RETURNING *) SELECT 1`.
        if let Some(why) =
            groups(statement).into_iter().filter(|_| depth < 4).find_map(|part| destruction(part, depth + 1))
        {
            return Some(why);
        }
        verb = (verb..top.len()).find(|at| matches!(word(*at), "DELETE" | "UPDATE" | "SELECT" | "INSERT" | "MERGE"))?;
    }
    let from = |name: &str| (verb..top.len()).find(|at| word(*at) == name);
    let everything = |what: &str| match from("WHERE") {
        None => Some(format!("{what} every row: there is no WHERE")),
        Some(at) if always(top.get(at + 1..).unwrap_or_default()) => {
            Some(format!("{what} every row: its WHERE is always true"))
        }
        Some(_) => None,
    };
    match word(verb) {
        "SELECT" | "SHOW" | "DESCRIBE" | "DESC" | "COMMENT" | "GRANT" | "REVOKE" | "CALL" | "COPY" | "PRAGMA"
        | "VALUES" => None,
        "INSERT" => (word(verb + 1) == "OVERWRITE").then(|| "INSERT OVERWRITE replaces what is there".to_owned()),
        "CREATE" => {
            (word(verb + 1) == "OR" && word(verb + 2) == "REPLACE" && from("TABLE").is_some_and(|at| at <= verb + 4))
                .then(|| "CREATE OR REPLACE TABLE drops the table that is there".to_owned())
        }
        "TRUNCATE" => Some("TRUNCATE empties a table".to_owned()),
        "DROP" => Some(format!("DROP {} cannot be undone", word(verb + 1)).replace("DROP  ", "DROP ")),
        "DELETE" => everything("DELETE removes"),
        "UPDATE" => from("SET").and_then(|_| everything("UPDATE changes")),
        "REMOVE" => matches!(word(verb + 1), "TABLE" | "DATABASE" | "NAMESPACE" | "FIELD" | "INDEX" | "USER")
            .then(|| format!("REMOVE {} cannot be undone", word(verb + 1))),
        "PURGE" => Some("PURGE removes for good".to_owned()),
        "SHUTDOWN" => Some("SHUTDOWN stops the server".to_owned()),
        "RESET" => (word(verb + 1) == "MASTER").then(|| "RESET MASTER deletes the logs".to_owned()),
        "ALTER" => {
            if from("DELETE").is_some() {
                return everything("ALTER … DELETE removes");
            }
            let drop = from("DROP").or_else(|| from("TRUNCATE"))?;
            let kept = matches!(word(drop + 1), "DEFAULT" | "NOT" | "IDENTITY" | "EXPRESSION")
                || (drop > 0 && word(drop) == "DROP" && matches!(word(drop + 2), "DEFAULT" | "NOT"));
            (!kept).then(|| format!("ALTER … {} cannot be undone", word(drop)))
        }
        // Dialects without semicolons between statements, and blocks.
        _ => {
            let drop = (verb..top.len()).find(|at| {
                word(*at) == "DROP" && DROPPED.split_whitespace().any(|kind| kind == word(at + 1))
                    || word(*at) == "TRUNCATE" && word(at + 1) == "TABLE"
            });
            if let Some(at) = drop {
                return Some(format!("{} {} cannot be undone", word(at), word(at + 1)));
            }
            let deletes = from("DELETE").is_some_and(|at| word(at + 1) == "FROM");
            if deletes { everything("DELETE removes") } else { None }
        }
    }
}

/// What stands between the outermost parentheses.
fn groups(statement: &[Token]) -> Vec<&[Token]> {
    let (mut level, mut start, mut found) = (0usize, 0, Vec::new());
    for (at, token) in statement.iter().enumerate() {
        match token {
            Token::Mark('(') => {
                level += 1;
                start = if level == 1 { at + 1 } else { start };
            }
            Token::Mark(')') => {
                found.extend(statement.get(start..at).filter(|_| level == 1));
                level = level.saturating_sub(1);
            }
            _ => {}
        }
    }
    found
}

/// A line of a block's body: behind BEGIN, THEN, LOOP or ELSE stands a statement.
fn inner(part: &str, depth: usize) -> Option<String> {
    let mut rest = part.trim();
    for opener in ["begin", "then", "loop", "else"] {
        let lower = rest.to_ascii_lowercase();
        if let Some(at) = lower.find(opener) {
            rest = rest.get(at + opener.len()..).unwrap_or_default().trim();
        }
    }
    read_at(rest, depth + 1).destroys
}

/// A condition that every row meets: `1=1`, `true`, `1`, `'a'='a'`.
fn always(condition: &[&Token]) -> bool {
    let condition = match condition.iter().position(|token| {
        matches!(token, Token::Word(word) if matches!(word.as_str(), "RETURNING" | "LIMIT" | "ORDER" | "ALLOW"))
    }) {
        Some(at) => condition.get(..at).unwrap_or_default(),
        None => condition,
    };
    let literal = |token: &Token| match token {
        Token::Word(word) => word.parse::<u64>().is_ok(),
        Token::Text(_) => true,
        _ => false,
    };
    match condition {
        [] => false, // in parentheses
        [Token::Word(word)] => word == "TRUE" || word.parse::<u64>().is_ok_and(|number| number != 0),
        [left, Token::Mark('='), right] => left == right && literal(left),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
