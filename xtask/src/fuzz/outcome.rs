//! What a run of one target reached and found, from the statistics of AFL++.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::target_folder::TargetFolder;

/// The header of the table of outcomes.
pub(super) const HEADER: &str = "target               executions  per second   edges  inputs  crashes  hangs";

/// The outcome for one target.
pub(super) struct Outcome {
    name: String,
    executions: u64,
    per_second: f64,
    edges: u64,
    inputs: u64,
    crashes: usize,
    hangs: usize,
    /// The inputs that crash or hang the target.
    pub(super) findings: Vec<PathBuf>,
}

impl Outcome {
    pub(super) fn read(name: &str, folder: &TargetFolder, hangs: &[PathBuf]) -> Result<Self> {
        let path = folder.statistics();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::from_statistics(name, &text, folder.crashes()?, hangs)
    }

    fn from_statistics(name: &str, text: &str, crashes: Vec<PathBuf>, hangs: &[PathBuf]) -> Result<Self> {
        let number = |key: &str| {
            let value = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key);
            value.and_then(|(_, value)| value.trim().parse::<f64>().ok()).with_context(|| format!("{key} is missing"))
        };
        let whole = |key: &str| number(key).map(|number| number as u64);
        Ok(Self {
            name: name.to_owned(),
            executions: whole("execs_done")?,
            per_second: number("execs_per_sec")?,
            edges: whole("edges_found")?,
            inputs: whole("corpus_count")?,
            crashes: crashes.len(),
            hangs: hangs.len(),
            findings: crashes.into_iter().chain(hangs.iter().cloned()).collect(),
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, executions, per_second, edges, inputs, crashes, hangs, findings } = self;
        writeln!(
            formatter,
            "{name:<19} {executions:>11} {per_second:>11.0} {edges:>7} {inputs:>7} {crashes:>8} {hangs:>6}"
        )?;
        findings.iter().try_for_each(|input| {
            writeln!(formatter, "  target/fuzz/release/callboard-fuzz {name} replay '{}'", input.display())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: &str = "\
start_time        : 1790000000
execs_done        : 123456
execs_per_sec     : 2057.60
corpus_count      : 812
edges_found       : 3041
";

    #[test]
    fn an_outcome_is_a_line_of_the_table() {
        let crashes = vec![PathBuf::from("crashes/id:000000")];
        let outcome = Outcome::from_statistics("sse", STATISTICS, crashes, &[]).unwrap();
        let line = "sse                      123456        2058    3041     812        1      0";
        let command = "  target/fuzz/release/callboard-fuzz sse replay 'crashes/id:000000'";
        assert_eq!(outcome.to_string(), format!("{line}\n{command}\n"));
        assert_eq!(line.len(), HEADER.len());
        assert!(Outcome::from_statistics("sse", "execs_done : 1", Vec::new(), &[]).is_err());
    }
}
