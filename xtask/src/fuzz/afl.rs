//! The program of all targets, built with AFL++'s instrumentation, and the fuzzer that drives it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::target_folder::TargetFolder;

const BUILD: [&str; 8] =
    ["afl", "build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
const PROGRAM: &str = "target/fuzz/release/callboard-fuzz";

/// An input that runs longer is a hang: the slowest seeds take a few milliseconds.
const HANG_MILLISECONDS: &str = "2000";
const HANG_SECONDS: &str = "2";
/// A crash ends the run of `timeout` with another status.
const TIMEOUT_STATUS: i32 = 124;
/// Larger inputs find nothing more, only more slowly.
const MOST_BYTES: &str = "32768";

/// Settings of AFL++: no screen, nothing that needs root, and inputs that fail at once count like all others.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("AFL_NO_UI", "1"),
    ("AFL_NO_AFFINITY", "1"),
    ("AFL_SKIP_CPUFREQ", "1"),
    ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
    ("AFL_IGNORE_SEED_PROBLEMS", "1"),
    ("AFL_CRASHING_SEEDS_AS_NEW_CRASH", "1"),
    ("AFL_FORKSRV_INIT_TMOUT", "60000"),
];

/// The built program.
pub(super) struct FuzzProgram(PathBuf);

impl FuzzProgram {
    /// Builds it; the first time takes some minutes.
    pub(super) fn build() -> Result<Self> {
        let there =
            Command::new("cargo").args(["afl", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let missing = "cargo-afl is missing: cargo install --locked cargo-afl --version 0.18.2";
        ensure!(there.is_ok_and(|status| status.success()), "{missing}");
        let status = Command::new("cargo").args(BUILD).status().context("cannot run cargo")?;
        ensure!(status.success(), "the fuzz targets do not build");
        Ok(Self(PathBuf::from(PROGRAM)))
    }

    pub(super) fn target_names(&self) -> Result<Vec<String>> {
        let output = Command::new(&self.0).arg("names").output().context("cannot run the fuzz program")?;
        Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
    }

    pub(super) fn write_seeds(&self, name: &str, folder: &Path) -> Result<()> {
        let status = Command::new(&self.0).args([name, "seeds"]).arg(folder).status()?;
        ensure!(status.success(), "the seeds of {name} cannot be written");
        Ok(())
    }

    /// Fuzzes one target for this long.
    pub(super) fn fuzz(&self, name: &str, folder: &TargetFolder, seconds: u64) -> Result<()> {
        let mut command = Command::new("cargo");
        command.args(["afl", "fuzz", "-V", &seconds.to_string(), "-t", HANG_MILLISECONDS, "-G", MOST_BYTES]);
        command.arg("-i").arg(folder.input()).arg("-o").arg(folder.output()).arg("-x").arg(folder.dictionary());
        command.arg("--").arg(&self.0).arg(name).envs(ENVIRONMENT);
        let log = File::create(folder.log())?;
        let status = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).status()?;
        ensure!(status.success(), "afl-fuzz failed for {name}: see {}", folder.log().display());
        Ok(())
    }

    /// Whether an input that ran too long does so again: on a busy machine the first time may be chance.
    pub(super) fn hangs(&self, name: &str, input: &Path) -> bool {
        let mut command = Command::new("timeout");
        command.arg(HANG_SECONDS).arg(&self.0).args([name, "replay"]).arg(input);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.code() == Some(TIMEOUT_STATUS))
    }
}
