//! Scores a query against one name: matched, missing and unmatched words.

use super::numbers;
use super::resolution::{Method, NEAREST};
use super::words::{Role, Word};

/// Base score of a partial match, and the bonus by the share of matched words.
const PART: f64 = 0.85;
const BY_SHARE: f64 = 0.05;

/// The same for a partial match by sound or spelling.
const PART_ALIKE: f64 = 0.735;
const BY_SHARE_ALIKE: f64 = 0.16;

/// How many pairs are tried as the seed of a greedy alignment: "high tyrant" matches best as a whole, "captain term a nator"
/// in parts.
const SEEDS: usize = 8;

/// The similarity that gains nothing.
const NO_GAIN: f64 = 0.6;

/// How strongly a shared low-weight word is discounted.
const SHARED_HELP: f64 = 1.3;

/// A whole name among other words: base score, and the bonus by its share of the query.
const WITHIN: f64 = 0.40;
const WITHIN_BY_SHARE: f64 = 0.55;

/// A name or alias: the weights and numbers of its words.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The entry it belongs to.
    pub(super) entry: usize,
    pub(super) weights: Vec<f64>,
    pub(super) numbers: Vec<Option<u32>>,
}

impl Form {
    fn weight(&self, (start, end): (usize, usize)) -> f64 {
        self.weights.get(start..end).unwrap_or_default().iter().sum()
    }
}

/// The words of a query, with their weights when unmatched.
pub(super) struct Query<'a> {
    pub(super) words: &'a [Word],
    pub(super) weights: &'a [f64],
}

/// A phrase of the query matched with a phrase of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) form: usize,
    pub(super) query: (usize, usize),
    pub(super) name: (usize, usize),
    pub(super) similarity: f64,
    pub(super) method: Method,
}

impl Pair {
    fn is_same(&self) -> bool {
        self.similarity >= 1.0
    }

    fn holds(&self, core: &Self) -> bool {
        let within = |inner: (usize, usize), outer: (usize, usize)| outer.0 <= inner.0 && inner.1 <= outer.1;
        within(core.query, self.query) && within(core.name, self.name)
    }

    /// Whether it only extends one side of an exact pair: in "assault terminators" the first word is not a misheard beginning of
    /// the second.
    fn pads(&self, core: &Self) -> bool {
        self.holds(core) && (self.query == core.query || self.name == core.name)
    }

    /// An exactly shared word raises the similarity of the whole phrase. That is right for a distinctive word ("high tyrant");
    /// for a common one ("London Bridge" for "London Rides") the difference is measured against the phrase without it.
    fn without_help_of(mut self, same: &[Self], form: &Form, words: &[Word]) -> Self {
        let letters = |(start, end): (usize, usize)| {
            let part = words.get(start..end).unwrap_or_default();
            part.iter().map(|word| as_float(word.text.len())).sum::<f64>()
        };
        let help = |core: &Self| (SHARED_HELP * (1.0 - form.weight(core.name))).clamp(0.0, 0.9) * letters(core.query);
        let helped = same.iter().filter(|core| self.holds(core)).map(help).fold(0.0, f64::max);
        let left = 1.0 - helped / letters(self.query).max(1.0);
        self.similarity = 1.0 - (1.0 - self.similarity) / left;
        self
    }
}

/// Score and method for one form; `pairs` are all pairs of this form.
pub(super) fn score(form: &Form, query: &Query<'_>, pairs: &[Pair]) -> Option<(f64, Method)> {
    if is_hopeless(form, query, pairs) {
        return None;
    }
    let mut pairs = judged_alone(pairs, form, query.words);
    pairs.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
    let seeds: Vec<Pair> = pairs.iter().take(SEEDS).copied().collect();
    pairs.sort_by(|one, other| {
        other.similarity.total_cmp(&one.similarity).then_with(|| gain(other).total_cmp(&gain(one)))
    });
    let fits = seeds.iter().filter_map(|seed| Fit::of(form, query, seed, &pairs).score());
    fits.reduce(|best, fit| if fit.0 > best.0 { fit } else { best })
}

/// Whether unmatched words rule out even a suggestion; skips the many names that share only a common word.
fn is_hopeless(form: &Form, query: &Query<'_>, pairs: &[Pair]) -> bool {
    let numbers = form.numbers.iter().flatten().count();
    let matched = pairs.iter().map(|pair| form.weight(pair.name)).sum::<f64>() + as_float(numbers);
    let is_covered = |place: usize| pairs.iter().any(|pair| (pair.query.0..pair.query.1).contains(&place));
    let unmatched: f64 =
        query.weights.iter().enumerate().filter(|(place, _)| !is_covered(*place)).map(|(_, weight)| weight).sum();
    whole_among(matched / (matched + unmatched).max(f64::MIN_POSITIVE)) < NEAREST
}

/// The score of a whole name that is this share of the query.
fn whole_among(share: f64) -> f64 {
    share.max(WITHIN + WITHIN_BY_SHARE * share)
}

/// Exact pairs, and the others with their similarity outside of the exact ones.
fn judged_alone(pairs: &[Pair], form: &Form, words: &[Word]) -> Vec<Pair> {
    let (same, alike): (Vec<Pair>, Vec<Pair>) = pairs.iter().partition(|pair| pair.is_same());
    let unpadded = alike.into_iter().filter(|pair| !same.iter().any(|core| pair.pads(core)));
    let alone: Vec<Pair> = unpadded.map(|pair| pair.without_help_of(&same, form, words)).collect();
    [same, alone].concat()
}

/// The gain of a pair: grows with its words and its similarity.
fn gain(pair: &Pair) -> f64 {
    let words = (pair.query.1 - pair.query.0) + (pair.name.1 - pair.name.0);
    (pair.similarity - NO_GAIN) * as_float(words)
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// The totals of an alignment, a set of pairs without overlap.
struct Fit {
    /// Weight of the matched words of the name, and the same times similarity.
    matched: f64,
    matched_similarity: f64,
    /// Weight of query words that are not in the name.
    unmatched: f64,
    total: f64,
    worst: Option<(f64, Method)>,
}

impl Fit {
    /// Greedy alignment: the seed, then the other pairs by similarity, without overlap.
    fn of(form: &Form, query: &Query<'_>, seed: &Pair, pairs: &[Pair]) -> Self {
        let total = form.weights.iter().sum();
        let mut fit = Self { matched: 0.0, matched_similarity: 0.0, unmatched: 0.0, total, worst: None };
        let mut query_used = vec![false; query.words.len()];
        let mut name_used = vec![false; form.weights.len()];
        for pair in [seed].into_iter().chain(pairs) {
            let (Some(query_slots), Some(name_slots)) =
                (query_used.get_mut(pair.query.0..pair.query.1), name_used.get_mut(pair.name.0..pair.name.1))
            else {
                continue;
            };
            if query_slots.iter().chain(name_slots.iter()).any(|used| *used) {
                continue;
            }
            query_slots.fill(true);
            name_slots.fill(true);
            fit.take(form, pair);
        }
        fit.count_numbers(form, query, &mut query_used);
        let left = query_used.iter().zip(query.weights).filter(|(used, _)| !**used);
        fit.unmatched += left.map(|(_, weight)| weight).sum::<f64>();
        fit
    }

    fn take(&mut self, form: &Form, pair: &Pair) {
        let weight = form.weight(pair.name);
        self.matched += weight;
        self.matched_similarity += weight * pair.similarity;
        if self.worst.is_none_or(|(worst, _)| pair.similarity < worst) {
            self.worst = Some((pair.similarity, pair.method));
        }
    }

    /// Numbers match exactly or not at all. A number in the query contradicts a name with other numbers and is ignored for a name
    /// without any ("five terminators").
    fn count_numbers(&mut self, form: &Form, query: &Query<'_>, query_used: &mut [bool]) {
        let mut open: Vec<u32> = form.numbers.iter().flatten().copied().collect();
        let has_numbers = !open.is_empty();
        let last = query.words.len().saturating_sub(1);
        for (place, (word, used)) in query.words.iter().zip(query_used).enumerate() {
            let alike = if place == last { numbers::sounds_like(&word.text) } else { None };
            let found = open.iter().position(|number| Some(*number) == word.number || Some(*number) == alike);
            if let Some(found) = found {
                open.remove(found);
                self.matched += 1.0;
                self.matched_similarity += 1.0;
                *used = true;
            } else if word.number.is_some() && has_numbers {
                self.unmatched += 1.0;
            }
        }
    }

    fn score(&self) -> Option<(f64, Method)> {
        let (_, method) = self.worst?;
        if self.matched <= 0.0 || self.total <= 0.0 {
            return None;
        }
        let similarity = self.matched_similarity / self.matched;
        let fitting = self.matched / (self.matched + self.unmatched);
        let share = self.matched / self.total;
        let score = if share > 0.999 {
            similarity * whole_among(fitting)
        } else if method == Method::Words {
            similarity * fitting * (PART + BY_SHARE * share)
        } else {
            similarity * fitting * (PART_ALIKE + BY_SHARE_ALIKE * share)
        };
        Some((score.clamp(0.0, 1.0), method))
    }
}

/// The weight of an unmatched query word, before the book's weights.
pub(super) fn unmatched_weight(word: &Word) -> f64 {
    match word.role {
        Role::Weighty if word.number.is_none() => 1.0,
        _ => 0.0,
    }
}
