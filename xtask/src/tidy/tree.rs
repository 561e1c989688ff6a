//! The files that git tracks or would track, with their text. Only this module of tidy runs git or touches the disk.
//!
//! Files not yet added are included, so a problem shows before the commit. Ignored and deleted files are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// One file, named from the root of the repository with `/` between the parts.
pub(super) struct TrackedFile {
    pub(super) path: String,
    /// `None` for what is not UTF-8 text.
    pub(super) text: Option<String>,
}

/// All files of the repository, in the order of their paths.
pub(super) struct Tree {
    root: PathBuf,
    files: Vec<TrackedFile>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the repository that the current folder lies in.
    pub(super) fn read() -> Result<Self> {
        let top = git(Path::new("."), &["rev-parse", "--show-toplevel"])?;
        let root = Path::new(top.trim_end_matches('\n'));
        let mut files = Vec::new();
        for path in listed_paths(root)? {
            let place = root.join(&path);
            if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let bytes = fs::read(&place).with_context(|| format!("cannot read {path}"))?;
            let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            files.push(TrackedFile { path, text });
        }
        Ok(Self::new(root.to_owned(), files))
    }

    fn new(root: PathBuf, files: Vec<TrackedFile>) -> Self {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { root, files, paths }
    }

    /// Replaces a file on disk; the tree itself stays as it was read.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<()> {
        fs::write(self.root.join(path), text).with_context(|| format!("cannot write {path}"))
    }

    pub(super) fn files(&self) -> &[TrackedFile] {
        &self.files
    }

    /// Path and text of every file that is text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// Path and text of the Rust sources that the rules are for.
    pub(super) fn rust_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(|(path, _)| path.ends_with(".rs") && (path.starts_with("crates/") || path.starts_with("xtask/")))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts().find(|(other, _)| *other == path).map(|(_, text)| text)
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty() || self.paths.range(inside.clone()..).next().is_some_and(|next| next.starts_with(&inside))
    }

    /// A tree for tests, from paths and texts.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let tracked =
            |(path, text): &(&str, &str)| TrackedFile { path: (*path).to_owned(), text: Some((*text).to_owned()) };
        Self::new(PathBuf::new(), files.iter().map(tracked).collect())
    }
}

fn listed_paths(root: &Path) -> Result<BTreeSet<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    Ok(git(root, &arguments)?.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// What git prints when it is run in `folder`.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output().context("cannot run git")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git failed: {}", complaint.trim());
    String::from_utf8(output.stdout).context("git printed a name that is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_differ() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-old/b.md", "")]);
        assert!(tree.has_file("docs/a.md") && !tree.has_file("docs"));
        assert!(tree.has_folder("docs") && tree.has_folder("") && !tree.has_folder("doc"));
    }

    #[test]
    fn only_rust_of_our_crates_is_read_as_rust() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", ""), ("tests/x.rs", ""), ("xtask/a.md", "")]);
        let paths: Vec<&str> = tree.rust_texts().map(|(path, _)| path).collect();
        assert_eq!(paths, ["crates/a/src/lib.rs"]);
    }

    #[test]
    fn this_repository_lists_this_file() {
        let tree = Tree::read().unwrap();
        assert!(tree.has_file("xtask/src/tidy/tree.rs"));
    }
}
