//! Random changes of an input, where no coverage guides them.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::targets::Target;

const LONGEST: usize = 8 << 10;

/// A seed with some bytes changed, removed, repeated, or replaced by a word of the format or a part of another seed.
pub(super) fn mutated(target: &Target, seeds: &[Vec<u8>], random: &mut StdRng) -> Vec<u8> {
    let mut input = seeds.choose(random).cloned().unwrap_or_default();
    for _ in 0..random.random_range(1..6) {
        let start = random.random_range(0..=input.len());
        let end = (start + random.random_range(0..40)).min(input.len());
        let replacement = match random.random_range(0..6) {
            0 => Vec::new(),
            1 => vec![random.random()],
            2 => input.get(start..end).unwrap_or_default().repeat(3),
            3 => part(seeds.choose(random).map_or(&[][..], Vec::as_slice), random),
            _ => target.tokens.choose(random).map_or_else(Vec::new, |token| token.as_bytes().to_vec()),
        };
        input.splice(start..end, replacement);
    }
    input.truncate(LONGEST);
    input
}

fn part(seed: &[u8], random: &mut StdRng) -> Vec<u8> {
    let start = random.random_range(0..=seed.len());
    let end = random.random_range(start..=seed.len());
    seed.get(start..end).unwrap_or_default().to_vec()
}
