//! Where a store is: `sqlite:FILE`, `sqlite::memory:` or `postgres://…`.

use std::fmt;
use std::path::PathBuf;

use super::error::StoreError;

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// SQLite without a file: gone when the program ends.
    Memory,
    /// SQLite in one file.
    File {
        /// The file, made where it is missing.
        path: PathBuf,
        /// Whether each change is also on the disk before it counts, so that it survives a power cut.
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
        if place == ":memory:" {
            return Ok(Self::Memory);
        }
        let place = place.strip_prefix("//").unwrap_or(place);
        let (path, synchronous_full) = match place.split_once('?') {
            None | Some((_, "synchronous=normal")) => (place.split('?').next().unwrap_or_default(), false),
            Some((path, "synchronous=full")) => (path, true),
            Some(_) => return Err(bad("after a file only ?synchronous=full or ?synchronous=normal can follow")),
        };
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

/// `scheme://user@host/database`: whatever else the address says may be secret.
fn without_password(url: &str) -> String {
    let plain = url.split('?').next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or_default()),
        None => plain.to_owned(),
    }
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
            ("postgresql://h/d", Ok("postgresql://h/d")),
            ("sqlite:", Err("\"sqlite:\" is no store: name a file, for instance sqlite:callboard.db")),
            (
                "sqlite:a.db?mode=ro",
                Err(
                    "\"sqlite:a.db\" is no store: after a file only ?synchronous=full or ?synchronous=normal can follow",
                ),
            ),
            (
                "mysql://u:secret@h/d",
                Err(
                    "\"mysql://u@h/d\" is no store: write sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE",
                ),
            ),
        ];
        for (text, expected) in cases {
            let read = Address::read(text).map(|address| address.to_string()).map_err(|error| error.to_string());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
