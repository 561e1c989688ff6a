//! Measurements: quantiles of times, and resource usage of this process and its children.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

const PAGE_KILOBYTES: u64 = 4;

/// Of sorted times, in milliseconds.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> Option<f64> {
    let place = (sorted.len() as f64 * share) as usize;
    sorted.get(place).or(sorted.last()).map(|time| time.as_secs_f64() * 1e3)
}

/// The current resource usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Holdings {
    /// Descendant processes, including zombies.
    pub(crate) processes: usize,
    /// Open file descriptors of this process.
    pub(crate) open_files: usize,
    /// Open file descriptors of its descendants.
    pub(crate) open_files_below: usize,
    /// Resident memory of this process.
    pub(crate) kilobytes: u64,
    /// Resident memory of the descendants that fork workers; workers come and go.
    pub(crate) kilobytes_below: u64,
}

impl Holdings {
    pub(crate) fn now() -> anyhow::Result<Self> {
        let own = std::process::id();
        let below = descendants(own)?;
        let forkers = below.iter().filter(|pid| below.iter().any(|other| parent_of(*other) == Some(**pid)));
        Ok(Self {
            processes: below.len(),
            open_files: open_files(own),
            open_files_below: below.iter().map(|pid| open_files(*pid)).sum(),
            kilobytes: kilobytes(own),
            kilobytes_below: forkers.map(|pid| kilobytes(*pid)).sum(),
        })
    }

    /// The exact counts: processes, and open file descriptors on both sides.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [self.processes, self.open_files, self.open_files_below]
    }
}

fn descendants(own: u32) -> anyhow::Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").context("no /proc")?.flatten();
    let all: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let family: Vec<(u32, u32)> = all.into_iter().filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
    let mut found = vec![own];
    let mut looked_at = 0;
    while let Some(parent) = found.get(looked_at).copied() {
        found.extend(family.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        looked_at += 1;
    }
    found.remove(0);
    Ok(found)
}

/// The second field after the command's name, which may itself hold spaces.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn kilobytes(pid: u32) -> u64 {
    let pages = |text: String| text.split_whitespace().nth(1)?.parse::<u64>().ok();
    fs::read_to_string(format!("/proc/{pid}/statm")).ok().and_then(pages).unwrap_or(0) * PAGE_KILOBYTES
}
