//! Finds the program of a command before it is started, so that a mistake is an error of the settings.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Why there is no program to start.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum ProgramError {
    /// No folder of `PATH` has it.
    #[error("there is no program {0} in PATH: install it, or write the path to it")]
    NotInPath(String),
    /// The path names nothing.
    #[error("there is no file {}: write the path to the program, or only its name if it is in PATH", .0.display())]
    NoFile(PathBuf),
    /// It is no program.
    #[error("{} cannot be executed: it is no program, or lacks the permission (chmod +x)", .0.display())]
    NotExecutable(PathBuf),
}

/// The program: a path as it is, relative to `directory`; a name is looked up in `path`.
pub(super) fn find_program(program: &str, directory: &Path, path: Option<&OsStr>) -> Result<PathBuf, ProgramError> {
    if program.contains('/') {
        let file = directory.join(program);
        return match (is_program(&file), file.exists()) {
            (true, _) => Ok(file),
            (false, true) => Err(ProgramError::NotExecutable(file)),
            (false, false) => Err(ProgramError::NoFile(file)),
        };
    }
    let candidates = || path.iter().flat_map(std::env::split_paths).map(|folder| directory.join(folder).join(program));
    match (candidates().find(|file| is_program(file)), candidates().find(|file| file.is_file())) {
        (Some(file), _) => Ok(file),
        (None, Some(file)) => Err(ProgramError::NotExecutable(file)),
        (None, None) => Err(ProgramError::NotInPath(program.to_owned())),
    }
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_are_found_by_path_and_by_name() {
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, mode) in [("server", 0o755), ("model.gguf", 0o644)] {
            fs::write(at(name), "").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths(["/nowhere".as_ref(), folder.path()]).unwrap();
        let find = |program: &str| find_program(program, folder.path(), Some(&path));
        assert_eq!(find("server"), Ok(at("server")));
        assert_eq!(find("./server"), Ok(at("./server")));
        assert_eq!(find("sever"), Err(ProgramError::NotInPath("sever".to_owned())));
        assert_eq!(find("./sever"), Err(ProgramError::NoFile(at("./sever"))));
        for name in ["model.gguf", "./model.gguf"] {
            assert_eq!(find(name), Err(ProgramError::NotExecutable(at(name))));
        }
        assert_eq!(find_program("server", folder.path(), None), Err(ProgramError::NotInPath("server".to_owned())));
    }
}
