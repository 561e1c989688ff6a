//! The lock file of the fuzz program, which only the long suite builds, has what our crates depend on now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::Table;

const CRATES: [&str; 4] = ["crates/callboard", "crates/callboard-core", "crates/callboard-python", "tests/support"];

#[test]
fn the_lock_file_of_the_fuzz_program_is_in_step() {
    let lock = read("fuzz/Cargo.lock");
    for folder in CRATES {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let name = manifest["package"]["name"].as_str().expect("a name");
        let declared: BTreeSet<&str> =
            manifest["dependencies"].as_table().expect("dependencies").keys().map(String::as_str).collect();
        let remedy = "run: cargo metadata --manifest-path fuzz/Cargo.toml";
        assert_eq!(locked(&lock, name), declared, "{name} in fuzz/Cargo.lock is out of step; {remedy}");
    }
}

/// The dependencies of a package in a lock file, without their versions.
fn locked<'a>(lock: &'a Table, name: &str) -> BTreeSet<&'a str> {
    let packages = lock["package"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"].as_str() == Some(name)).expect("our package");
    let entries = package["dependencies"].as_array().expect("dependencies").iter();
    entries.filter_map(|entry| entry.as_str()?.split(' ').next()).collect()
}

fn read(path: &str) -> Table {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).expect("a readable file").parse().expect("TOML")
}
