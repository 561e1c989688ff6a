//! Where a store is: `sqlite:FILE`, `sqlite::memory:` or `postgres://…`.

use std::fmt;
use std::path::PathBuf;

use super::error::StoreError;

/// Replaces what may be a part of a password.
const HIDDEN: &str = "…";

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// SQLite in memory.
    Memory,
    /// SQLite in one file.
    File {
        /// The file; created if missing.
        path: PathBuf,
        /// Whether each commit is synced to disk, so that it survives a power failure.
        synchronous_full: bool,
    },
    /// A PostgreSQL server.
    Postgres(String),
}

impl Address {
    /// Reads an address.
    pub fn read(text: &str) -> Result<Self, StoreError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let bad = |remedy: &str| StoreError::Address { given: without_password(text), remedy: remedy.to_owned() };
        let place = text
            .strip_prefix("sqlite:")
            .ok_or_else(|| bad("write sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE"))?;
        let place = place.strip_prefix("//").unwrap_or(place);
        let (path, query) = place.split_once('?').unwrap_or((place, ""));
        let synchronous_full = synchronous_full(query)?;
        if path == ":memory:" {
            let wrong = |part: &str| StoreError::part(part, "nothing follows sqlite::memory:; leave it out");
            return if query.is_empty() { Ok(Self::Memory) } else { Err(wrong(query)) };
        }
        if path.is_empty() {
            return Err(bad("name a file, for instance sqlite:callboard.db"));
        }
        Ok(Self::File { path: PathBuf::from(path), synchronous_full })
    }
}

/// Without the password, so that it can be shown.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => write!(f, "sqlite::memory:"),
            Self::File { path, synchronous_full: false } => write!(f, "sqlite:{}", path.display()),
            Self::File { path, synchronous_full: true } => write!(f, "sqlite:{}?synchronous=full", path.display()),
            Self::Postgres(url) => write!(f, "{}", without_password(url)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The parameters after the name of a file. An error shows only the name of an unknown one, since its value may be a secret.
fn synchronous_full(query: &str) -> Result<bool, StoreError> {
    const REMEDY: &str = "after a file only ?synchronous=full or ?synchronous=normal can follow";
    let mut full = false;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        full = match pair.split_once('=').unwrap_or((pair, "")) {
            ("synchronous", "full") => true,
            ("synchronous", "normal") => false,
            ("synchronous", _) => return Err(StoreError::part(pair, REMEDY)),
            (name, _) => return Err(StoreError::part(name, REMEDY)),
        };
    }
    Ok(full)
}

/// `scheme://user@host/database`: everything else may be secret. Where a password may contain `@` or `?`, what follows is hidden.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.split('?').next().unwrap_or_default().to_owned();
    };
    let Some((credentials, place)) = rest.split_once('@') else { return format!("{scheme}://{}", shown_place(rest)) };
    let user = credentials.split([':', '/', '?']).next().unwrap_or_default();
    format!("{scheme}://{user}@{}", if credentials.contains('?') { HIDDEN } else { shown_place(place) })
}

fn shown_place(place: &str) -> &str {
    let (plain, query) = place.split_once('?').unwrap_or((place, ""));
    if query.contains('@') {
        return HIDDEN;
    }
    let plain = plain.rsplit('@').next().unwrap_or_default();
    let host = plain.split('/').next().unwrap_or_default();
    let port = host.rsplit(']').next().and_then(|behind| behind.split_once(':')).map_or("", |(_, port)| port);
    if port.bytes().all(|byte| byte.is_ascii_digit() || b",:".contains(&byte)) { plain } else { HIDDEN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        let cases = [
            ("sqlite::memory:", Ok("sqlite::memory:")),
            ("sqlite:a.db", Ok("sqlite:a.db")),
            ("sqlite:///data/a b.db", Ok("sqlite:/data/a b.db")),
            ("sqlite:a.db?synchronous=full", Ok("sqlite:a.db?synchronous=full")),
            ("sqlite:a.db?synchronous=normal", Ok("sqlite:a.db")),
            ("postgres://u:p@ss@h:5432/d?sslmode=disable&password=x", Ok("postgres://u@h:5432/d")),
            ("postgres://u:pass?word@h/d", Ok("postgres://u@…")),
            ("postgres://u:pass@wo?rd@h/d", Ok("postgres://u@…")),
            ("postgres://u:password", Ok("postgres://…")),
            ("postgres://h:5432/d?password=x@y", Ok("postgres://h@…")),
            ("postgres://u:p@[::1]:5432/d", Ok("postgres://u@[::1]:5432/d")),
            ("postgresql://h/d", Ok("postgresql://h/d")),
            ("sqlite:", Err("invalid store address \"sqlite:\": name a file, for instance sqlite:callboard.db")),
            (
                "sqlite:a.db?synchronous=normal&key=secret",
                Err(
                    "invalid \"key\" in the store address: after a file only ?synchronous=full or ?synchronous=normal can follow",
                ),
            ),
            (
                "sqlite:a.db?synchronous=ful",
                Err(
                    "invalid \"synchronous=ful\" in the store address: after a file only ?synchronous=full or ?synchronous=normal can follow",
                ),
            ),
            (
                "sqlite::memory:?synchronous=full",
                Err("invalid \"synchronous=full\" in the store address: nothing follows sqlite::memory:; leave it out"),
            ),
            (
                "mysql://u:secret@h/d",
                Err(
                    "invalid store address \"mysql://u@h/d\": write sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE",
                ),
            ),
        ];
        for (text, expected) in cases {
            let read = Address::read(text).map(|address| address.to_string()).map_err(|error| error.to_string());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
