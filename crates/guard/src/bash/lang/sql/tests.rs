//! What SQL is said to do, verb by verb.

use super::*;

#[test]
fn reading_is_proved() {
    for text in [
        "SELECT * FROM users",
        "select count(*), max(id) from t where name = 'drop table x' -- delete from t",
        "SELECT a FROM t WHERE b IN (SELECT c FROM d) LIMIT 5;",
        "WITH recent AS (SELECT * FROM t) SELECT * FROM recent",
        "PRAGMA table_info(users)",
        "PRAGMA user_version;",
        "EXPLAIN QUERY PLAN SELECT 1",
        ".tables",
        ".schema users",
        ".mode csv\nSELECT 1;",
        "SELECT replace(name, 'a', 'b') FROM t /* drop */",
        "VALUES (1)",
        "SELECT \"drop\" FROM t",
    ] {
        assert!(read(text).reads_only(), "{text}: {:?}", read(text));
    }
}

#[test]
fn more_than_reading_is_not() {
    for text in [
        "INSERT INTO t VALUES (1)",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "SELECT writefile('x', 'y')",
        "SELECT load_extension('./x')",
        "SELECT edit('x', 'sh')",
        "SELECT readfile('/etc/passwd')",
        "SELECT * FROM fsdir WHERE path = '/'",
        "SELECT * FROM \"fsdir\"('/')",
        "SELECT 1; ATTACH 'x.db' AS y",
        "PRAGMA user_version = 5",
        "PRAGMA journal_mode(WAL)",
        "PRAGMA writable_schema=1",
        ".shell ls",
        ".system ls",
        ".output x",
        ".once x",
        ".read x",
        ".import a b",
        ".load ./x",
        "SELECT 1;\n.shell id",
        "\\! id",
        "select 1 \\g | sh",
        "\\dt \\! id",
        "COPY t TO PROGRAM 'sh'",
        "SELECT 'a\\' ; DELETE FROM t; --'",
        "SELECT 'open",
        "/*!50000 DROP TABLE t */",
        "SELECT 1 /* /* */ */",
        "VACUUM INTO 'x'",
        "CREATE TABLE t (a)",
        "frobnicate",
        "SELECT system('id')",
    ] {
        assert!(!read(text).reads_only(), "{text}");
    }
}

#[test]
fn writing_statements_may_call_what_only_computes() {
    for text in [
        "INSERT INTO t(a, b) VALUES (1, lower('x')), (2, date('now'))",
        "insert into main.t (a) select max(b) from u where c in (1, 2)",
        "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, n VARCHAR(20), p DECIMAL(10,2), CHECK (p > 0))",
        "CREATE TABLE u(t_id INT REFERENCES t(id), UNIQUE (t_id))",
        "create unique index if not exists i on t(a, b)",
        "CREATE VIRTUAL TABLE d USING fts5(title, body)",
        "UPDATE t SET a = a + 1, b = replace(b, 'x', 'y') WHERE id = 3",
        "INSERT INTO t VALUES (1) ON CONFLICT(id) DO UPDATE SET a = 2",
        "DELETE FROM t WHERE id IN (SELECT id FROM u)",
    ] {
        assert_eq!(read(text).opaque, None, "{text}");
    }
    for text in [
        "insert into t values(edit('x', 'touch y'))",
        "create table u as select edit('x', 'y')",
        "delete from t where edit('x', 'y') = 1",
        "insert into t values(writefile('a', 'b'))",
        "update t set a = readfile('.env')",
        "insert into t values(\"edit\"('x', 'y'))",
        "insert into t select name from fsdir('/')",
        "insert into t select name from fsdir where path = '/'",
        "create trigger r after insert on t begin select edit('x', 'y'); end",
        "create virtual table z using zipfile('a.zip')",
        "create view v as select load_extension('./x')",
        "insert into t values(1) returning edit('x', 'y')",
    ] {
        assert!(read(text).opaque.is_some(), "{text}");
    }
}

#[test]
fn what_leaves_the_tables_of_a_server_is_found() {
    for text in [
        "COPY t TO PROGRAM 'sh'",
        "copy t from '/etc/passwd'",
        "select pg_read_binary_file('/etc/passwd')",
        "alter system set archive_command = 'x'",
        "do language plpython3u $$ import os $$",
        "create function f() returns int language c as 'x', 'y'",
        "load data\nlocal  infile '.env' into table t",
        "/* a */ system id",
        "select 1; source x.sql",
        "delimiter //",
        "connect db evil",
    ] {
        assert!(matches!(read(text).opaque, Some(Unsaid::Beyond(_) | Unsaid::Client(_))), "{text}");
    }
    for text in
        ["copy t to stdout", "select program, source from radio", "create function f() language sql as $$ select 1 $$"]
    {
        assert_eq!(read(text).opaque, None, "{text}");
    }
}

#[test]
fn destruction_is_found() {
    for text in [
        "DROP TABLE users",
        "drop database if exists app;",
        "SELECT 1; DROP TABLE t",
        "TRUNCATE users",
        "truncate table a, b cascade",
        "DELETE FROM users",
        "delete from users;",
        "DELETE FROM users WHERE 1=1",
        "DELETE FROM users WHERE true",
        "UPDATE users SET admin = true",
        "UPDATE t SET a = (SELECT b FROM c WHERE d = 1)",
        "ALTER TABLE users DROP COLUMN email",
        "ALTER TABLE users DROP email",
        "WITH x AS (SELECT 1 WHERE 2 = 2) DELETE FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "DO $$ BEGIN DROP TABLE t; END $$",
        "IF OBJECT_ID('t') IS NOT NULL DROP TABLE t",
        "/*!50000 DROP TABLE t */",
        "-- tidy\nDROP SCHEMA public CASCADE",
        "/* tidy */ DROP VIEW v",
        "USE app; DROP TABLE t",
        "BEGIN; DELETE FROM t; COMMIT",
        "CREATE OR REPLACE TABLE t AS SELECT 1",
        "DROP KEYSPACE k",
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT count(*) FROM gone",
        "WITH a AS (SELECT 1), b AS MATERIALIZED (UPDATE t SET x = 1 RETURNING x) SELECT * FROM b",
        "DO $$ BEGIN EXECUTE 'DROP TABLE t'; END $$",
        "EXEC('TRUNCATE TABLE t')",
        "REMOVE TABLE person",
    ] {
        assert!(read(text).destroys.is_some(), "{text}");
    }
}

#[test]
fn near_misses_destroy_nothing() {
    for text in [
        "SELECT * FROM users",
        "DELETE FROM users WHERE id = 5",
        "UPDATE users SET admin = true WHERE id = 5",
        "SELECT 'DROP TABLE users'",
        "-- DROP TABLE users\nSELECT 1",
        "INSERT INTO log VALUES ('truncate')",
        "EXPLAIN DELETE FROM users",
        "CREATE TABLE drops (id int)",
        "CREATE OR REPLACE VIEW v AS SELECT 1",
        "ALTER TABLE users ADD COLUMN email text",
        "ALTER TABLE users ALTER COLUMN email DROP NOT NULL",
        "SELECT dropped, truncate(x, 2) FROM t",
        "CREATE TRIGGER x AFTER INSERT ON t EXECUTE FUNCTION f()",
        "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
        "SELECT * FROM t FOR UPDATE",
        "WITH gone AS (DELETE FROM t WHERE id = 5 RETURNING *) SELECT * FROM gone",
        "WITH recent AS (SELECT * FROM t WHERE note = 'drop') SELECT * FROM recent",
        "VACUUM ANALYZE",
        "",
    ] {
        assert_eq!(read(text).destroys, None, "{text}");
    }
}

#[test]
fn hostile_text_is_survived() {
    for text in
        ["$$", "$a$", "'", "\"", "`", "[a", "/*", "/*!", "--", "\\", ".", "((((", "))))", "$é$é$é$", "'\\", "'a\\é'"]
    {
        let _ = read(text);
    }
}
