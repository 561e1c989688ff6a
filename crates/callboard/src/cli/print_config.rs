//! `callboard config`: prints the settings in effect.

use crate::config::Loaded;
use std::io::{self, ErrorKind, Write};

/// Writes the settings as TOML. A pipe that is closed early (`callboard config | head`) is not a failure.
pub fn write_config(loaded: &Loaded, output: &mut impl Write) -> io::Result<()> {
    match output.write_all(loaded.to_toml().as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Flags, load};
    use std::path::Path;

    /// A reader that fails in one way.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        let nowhere = Path::new("no such folder");
        let loaded = load(&Flags::default(), &Environment::default(), nowhere).unwrap();
        let mut page = Vec::new();
        assert!(write_config(&loaded, &mut page).is_ok());
        assert_eq!(String::from_utf8(page).unwrap(), loaded.to_toml());
        assert!(write_config(&loaded, &mut Failing(ErrorKind::BrokenPipe)).is_ok());
        assert!(write_config(&loaded, &mut Failing(ErrorKind::StorageFull)).is_err());
    }
}
