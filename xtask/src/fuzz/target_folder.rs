//! The files of one target in `.cache/fuzz`: seeds, the queue of earlier runs, and the output of AFL++.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// `.cache/fuzz/NAME`.
pub(super) struct TargetFolder {
    path: PathBuf,
    /// Inputs that once broke the target.
    found: PathBuf,
}

impl TargetFolder {
    pub(super) fn new(name: &str) -> Self {
        Self { path: Path::new(".cache/fuzz").join(name), found: Path::new("fuzz/found").join(name) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn input(&self) -> PathBuf {
        self.path.join("input")
    }

    pub(super) fn output(&self) -> PathBuf {
        self.path.join("output")
    }

    pub(super) fn dictionary(&self) -> PathBuf {
        self.path.join("dictionary")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(super) fn statistics(&self) -> PathBuf {
        self.output().join("default/fuzzer_stats")
    }

    /// The input of a run: seeds, what was found before, and the queue of the last run.
    pub(super) fn prepare(&self) -> Result<()> {
        remove(&self.input())?;
        remove(&self.output())?;
        fs::create_dir_all(self.input())?;
        for source in [&self.path.join("seeds"), &self.found, &self.path.join("queue")] {
            for file in inputs(source)? {
                let name = file.file_name().context("a name")?;
                fs::copy(&file, self.input().join(name))?;
            }
        }
        Ok(())
    }

    /// Keeps the queue for the next run.
    pub(super) fn keep_queue(&self) -> Result<()> {
        let queue = self.path.join("queue");
        remove(&queue)?;
        fs::create_dir_all(&queue)?;
        for (number, file) in inputs(&self.output().join("default/queue"))?.iter().enumerate() {
            fs::copy(file, queue.join(format!("queue-{number:05}")))?;
        }
        Ok(())
    }

    /// Inputs that crashed the target in this run.
    pub(super) fn crashes(&self) -> Result<Vec<PathBuf>> {
        inputs(&self.output().join("default/crashes"))
    }

    /// Inputs that ran too long in this run.
    pub(super) fn hangs(&self) -> Result<Vec<PathBuf>> {
        inputs(&self.output().join("default/hangs"))
    }
}

/// The inputs in a folder that may not exist, in the order of their names.
fn inputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let is_input = |path: &Path| path.is_file() && path.file_name().is_some_and(|name| name != "README.txt");
    let mut inputs: Vec<PathBuf> = paths.into_iter().filter(|path| is_input(path)).collect();
    inputs.sort();
    Ok(inputs)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
