//! The versions of the database, embedded in the program, and what has to be done to reach the newest.

use super::error::StoreError;

/// The changes that lead from each version to the next: the first makes version 1.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001_tables.sql"),
    include_str!("migrations/002_deletion.sql"),
    include_str!("migrations/003_output.sql"),
    include_str!("migrations/004_leases.sql"),
    include_str!("migrations/005_character.sql"),
    include_str!("migrations/006_named_turns.sql"),
    include_str!("migrations/007_trace_requests.sql"),
    include_str!("migrations/008_conversation_lists.sql"),
    include_str!("migrations/009_chat_conversations.sql"),
    include_str!("migrations/010_conversation_names.sql"),
    include_str!("migrations/011_server_findings.sql"),
];

/// The table with the schema version. It has one row.
pub(super) const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS callboard_schema (version BIGINT NOT NULL)";
/// The version; no row means zero.
pub(super) const READ_VERSION: &str = "SELECT max(version) FROM callboard_schema";

/// The migrations from this version to the newest as SQL for one transaction, including the update of the version.
pub(super) fn pending(version: i64, unlogged: &str) -> Result<Option<String>, StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let done = usize::try_from(version).unwrap_or_default();
    match MIGRATIONS.get(done..) {
        None => Err(StoreError::Newer { found: version, known }),
        Some([]) => Ok(None),
        Some(changes) => {
            let changes = changes.join("\n").replace("{unlogged}", unlogged);
            Ok(Some(format!(
                "{changes}\nDELETE FROM callboard_schema;\nINSERT INTO callboard_schema VALUES ({known});"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_migrations_run() {
        let known = i64::try_from(MIGRATIONS.len()).unwrap();
        assert!(pending(0, "").unwrap().unwrap().contains("CREATE TABLE conversations"));
        assert_eq!(pending(known, "").unwrap(), None);
        assert_eq!(pending(known + 1, "").unwrap_err(), StoreError::Newer { found: known + 1, known });
    }
}
