//! Runs one target on its seeds, on what was found, and on mutations of its seeds.

use std::panic::catch_unwind;
use std::path::Path;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::mutation::mutated;
use crate::targets::{GoldenParts, TARGETS, Target};

/// Seeds and mutations that one target gets.
const MOST_SEEDS: usize = 400;
const MUTATIONS: usize = 2000;

pub(crate) fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let seeds = (target.seeds)(&GoldenParts::read());
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for (file, input) in found(name) {
        check(target, &input, &file);
    }
    let mut random = StdRng::seed_from_u64(8787);
    for seed in seeds.sample(&mut random, MOST_SEEDS) {
        check(target, seed, "a seed");
    }
    for _ in 0..MUTATIONS {
        check(target, &mutated(target, &seeds, &mut random), "a mutation");
    }
}

fn check(target: &Target, input: &[u8], origin: &str) {
    let run = target.run;
    assert!(catch_unwind(|| run(input)).is_ok(), "{}: {origin}: {}", target.name, input.escape_ascii());
}

/// Inputs that once broke this target.
fn found(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/found").join(name);
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let file = |path: &Path| (path.display().to_string(), std::fs::read(path).expect("a readable file"));
    entries.map(|entry| file(&entry.expect("an entry of the folder").path())).collect()
}
