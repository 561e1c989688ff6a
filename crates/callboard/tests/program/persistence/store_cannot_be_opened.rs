//! Stores that cannot be opened: the program does not start, and names the store and the fix.

use callboard_test_support::{ModelServer, refused_start};
use tempfile::TempDir;

#[test]
fn a_store_that_cannot_be_opened_is_reported_at_startup() {
    let folder = TempDir::new().unwrap();
    let in_folder = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = "This is a letter and no database. ".repeat(100);
    std::fs::write(in_folder("letter"), text).unwrap();
    let newer = rusqlite::Connection::open(in_folder("newer")).unwrap();
    newer
        .execute_batch(
            "CREATE TABLE callboard_schema (version BIGINT NOT NULL); INSERT INTO callboard_schema VALUES (99)",
        )
        .unwrap();
    let unused = ModelServer::unused_url();
    let unused = unused.trim_start_matches("http://").trim_end_matches("/v1");
    let rows = [
        (format!("sqlite:{}", in_folder("")), "directory"),
        (format!("sqlite:{}", in_folder("letter/store.db")), "Not a directory"),
        (format!("sqlite:{}", in_folder("missing/store.db")), "No such file or directory"),
        (format!("sqlite:{}", in_folder("letter")), "is no SQLite database"),
        (format!("sqlite:{}", in_folder("newer")), "newer Callboard (its version is 99"),
        (format!("postgres://somebody@{unused}/callboard"), "Connection refused"),
    ];
    for (store, reason) in rows {
        let complaint = refused_start(&[], &[("CALLBOARD_STORE", &store)]);
        for part in [store.as_str(), reason, "--store"] {
            assert!(complaint.contains(part), "{part:?} is missing in {complaint:?}");
        }
        assert_eq!(complaint.trim().lines().count(), 1, "{complaint}");
    }
    let secret = format!("postgres://somebody:hunter2@{unused}/callboard");
    assert!(!refused_start(&[], &[("CALLBOARD_STORE", &secret)]).contains("hunter2"));
}
