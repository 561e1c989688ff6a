//! Unusable SQLite files: of another program, removed, or read-only.

use std::path::PathBuf;

use callboard::store::{Store, StoreError};

use crate::contract::new;
use crate::databases::{Database, Kind, block_on};

fn file(database: &Database) -> PathBuf {
    PathBuf::from(database.address.strip_prefix("sqlite:").unwrap())
}

#[test]
fn a_file_of_another_program_is_refused_and_unchanged() {
    for (tables, words) in [
        (Some("CREATE TABLE conversations (id TEXT)"), "holds the tables of another program"),
        (None, "is no SQLite database"),
    ] {
        let database = Database::new(&Kind::File);
        let path = file(&database);
        match tables {
            Some(tables) => drop(database.execute(tables)),
            None => std::fs::write(&path, "A letter, and no database at all. ".repeat(50)).unwrap(),
        }
        let before = std::fs::read(&path).unwrap();
        let refused = database.try_open().map(drop).unwrap_err().to_string();
        assert!(refused.contains(words) && refused.contains("store.db"), "{refused}");
        assert!(refused.len() < 300 && !refused.contains('\n'), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing stays beside it");
    }
}

#[test]
fn writes_to_a_removed_file_fail() {
    let database = Database::new(&Kind::File);
    let (store, path) = (database.open(), file(&database));
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    let aside = path.with_extension("aside");
    std::fs::rename(&path, &aside).unwrap();
    let refused = (0..).find_map(|number| block_on(store.create_conversation(new(&format!("a_{number}"), 1))).err());
    assert!(matches!(refused, Some(StoreError::Removed(_))), "{refused:?}");
    until(|| block_on(store.check()).is_err());
    std::fs::rename(&aside, &path).unwrap();
    until(|| block_on(store.create_conversation(new("conv_2", 1))).is_ok());
    until(|| block_on(store.check()).is_ok());
    drop(store);
    assert!(block_on(database.open().conversation("conv_2")).unwrap().is_some());
}

fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {}
}

#[test]
fn a_store_that_cannot_write_is_unhealthy_until_it_can() {
    let database = Database::new(&Kind::File);
    let store = database.open();
    for table in ["conversations", "turn_leases"] {
        let full = format!("BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
        database.execute(&format!("CREATE TRIGGER full_{table} {full}"));
    }
    // Before any turn has failed.
    is_well(&store, false);
    block_on(store.create_conversation(new("conv_1", 1))).unwrap_err();
    is_well(&store, false);
    is_well(&store, false);
    for table in ["conversations", "turn_leases"] {
        database.execute(&format!("DROP TRIGGER full_{table}"));
    }
    is_well(&store, true);
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
}

fn is_well(store: &Store, expected: bool) {
    let checked = block_on(store.check());
    assert_eq!(checked.is_ok(), expected, "{checked:?}");
}
