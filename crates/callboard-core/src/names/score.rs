//! How well what was heard fits one name: which words are said, which are missing, and what was said beside them.

use super::numbers;
use super::resolution::{Method, NEAREST};
use super::words::{Role, Word};

/// What a part of a name is worth, and how much the share of its words adds.
const PART: f64 = 0.85;
const BY_SHARE: f64 = 0.05;

/// The same for a part that is not spelt as in the name: two doubts together.
const PART_ALIKE: f64 = 0.735;
const BY_SHARE_ALIKE: f64 = 0.16;

/// As many pairs are tried as the one that all others have to fit around: "high tyrant" is better taken as a whole, "captain
/// term a nator" in parts.
const OPENINGS: usize = 8;

/// A likeness that explains nothing.
const UNLIKE: f64 = 0.6;

/// How much of the help of a word is taken back for what it lacks in weight.
const SHARED_HELP: f64 = 1.3;

/// A whole name said among other words: what it is worth, and how much its share of what was said adds.
const WITHIN: f64 = 0.40;
const WITHIN_BY_SHARE: f64 = 0.55;

/// A name or alias, as its words count.
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

/// What was heard, with the weight of words that fit nothing.
pub(super) struct Heard<'a> {
    pub(super) words: &'a [Word],
    pub(super) weights: &'a [f64],
}

/// Some words heard that fit some words of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) form: usize,
    pub(super) heard: (usize, usize),
    pub(super) name: (usize, usize),
    pub(super) likeness: f64,
    pub(super) method: Method,
}

impl Pair {
    fn is_same(&self) -> bool {
        self.likeness >= 1.0
    }

    fn holds(&self, core: &Self) -> bool {
        let within = |inner: (usize, usize), outer: (usize, usize)| outer.0 <= inner.0 && inner.1 <= outer.1;
        within(core.heard, self.heard) && within(core.name, self.name)
    }

    /// Whether it only adds words to one side of a pair that is the same: in "assault terminators" the first word is not a badly
    /// heard beginning of the second.
    fn pads(&self, core: &Self) -> bool {
        self.holds(core) && (self.heard == core.heard || self.name == core.name)
    }

    /// A word that is the same makes the rest of a phrase look alike, and rightly so if it is the name's own ("high tyrant"). If
    /// many names have it ("London Bridge" for "London Rides"), what differs is measured against what is left without it.
    fn without_help_of(mut self, same: &[Self], form: &Form, words: &[Word]) -> Self {
        let letters = |(start, end): (usize, usize)| {
            let part = words.get(start..end).unwrap_or_default();
            part.iter().map(|word| as_float(word.text.len())).sum::<f64>()
        };
        let help = |core: &Self| (SHARED_HELP * (1.0 - form.weight(core.name))).clamp(0.0, 0.9) * letters(core.heard);
        let helped = same.iter().filter(|core| self.holds(core)).map(help).fold(0.0, f64::max);
        let left = 1.0 - helped / letters(self.heard).max(1.0);
        self.likeness = 1.0 - (1.0 - self.likeness) / left;
        self
    }
}

/// Score and method for one form; `pairs` are all those of this form.
pub(super) fn score(form: &Form, heard: &Heard<'_>, pairs: &[Pair]) -> Option<(f64, Method)> {
    if is_hopeless(form, heard, pairs) {
        return None;
    }
    let mut pairs = judged_alone(pairs, form, heard.words);
    pairs.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
    let openings: Vec<Pair> = pairs.iter().take(OPENINGS).copied().collect();
    pairs.sort_by(|one, other| other.likeness.total_cmp(&one.likeness).then_with(|| gain(other).total_cmp(&gain(one))));
    let fits = openings.iter().filter_map(|opening| Fit::of(form, heard, opening, &pairs).score());
    fits.reduce(|best, fit| if fit.0 > best.0 { fit } else { best })
}

/// Whether too much was said beside the name for it to be even near: a word that a thousand names have leads to none of them.
fn is_hopeless(form: &Form, heard: &Heard<'_>, pairs: &[Pair]) -> bool {
    let numbers = form.numbers.iter().flatten().count();
    let said = pairs.iter().map(|pair| form.weight(pair.name)).sum::<f64>() + as_float(numbers);
    let is_covered = |place: usize| pairs.iter().any(|pair| (pair.heard.0..pair.heard.1).contains(&place));
    let beside: f64 =
        heard.weights.iter().enumerate().filter(|(place, _)| !is_covered(*place)).map(|(_, weight)| weight).sum();
    whole_among(said / (said + beside).max(f64::MIN_POSITIVE)) < NEAREST
}

/// What a whole name is worth if it is this share of what was said.
fn whole_among(share: f64) -> f64 {
    share.max(WITHIN + WITHIN_BY_SHARE * share)
}

/// Pairs that are the same, and the others as far as they are alike without these.
fn judged_alone(pairs: &[Pair], form: &Form, words: &[Word]) -> Vec<Pair> {
    let (same, alike): (Vec<Pair>, Vec<Pair>) = pairs.iter().partition(|pair| pair.is_same());
    let unpadded = alike.into_iter().filter(|pair| !same.iter().any(|core| pair.pads(core)));
    let alone: Vec<Pair> = unpadded.map(|pair| pair.without_help_of(&same, form, words)).collect();
    [same, alone].concat()
}

/// What a pair explains: the more words, and the more alike, the better.
fn gain(pair: &Pair) -> f64 {
    let words = (pair.heard.1 - pair.heard.0) + (pair.name.1 - pair.name.0);
    (pair.likeness - UNLIKE) * as_float(words)
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// Pairs that do not overlap, added up.
struct Fit {
    /// Weight of the name's words that were said, and the same times likeness.
    said: f64,
    said_likeness: f64,
    /// Weight of words heard that are not in the name.
    beside: f64,
    total: f64,
    worst: Option<(f64, Method)>,
}

impl Fit {
    /// The opening pair, and of the others, surest first, those that it leaves room for.
    fn of(form: &Form, heard: &Heard<'_>, opening: &Pair, pairs: &[Pair]) -> Self {
        let total = form.weights.iter().sum();
        let mut fit = Self { said: 0.0, said_likeness: 0.0, beside: 0.0, total, worst: None };
        let mut heard_used = vec![false; heard.words.len()];
        let mut name_used = vec![false; form.weights.len()];
        for pair in [opening].into_iter().chain(pairs) {
            let (Some(hearing), Some(naming)) =
                (heard_used.get_mut(pair.heard.0..pair.heard.1), name_used.get_mut(pair.name.0..pair.name.1))
            else {
                continue;
            };
            if hearing.iter().chain(naming.iter()).any(|used| *used) {
                continue;
            }
            hearing.fill(true);
            naming.fill(true);
            fit.take(form, pair);
        }
        fit.count_numbers(form, heard, &mut heard_used);
        let left = heard_used.iter().zip(heard.weights).filter(|(used, _)| !**used);
        fit.beside += left.map(|(_, weight)| weight).sum::<f64>();
        fit
    }

    fn take(&mut self, form: &Form, pair: &Pair) {
        let weight = form.weight(pair.name);
        self.said += weight;
        self.said_likeness += weight * pair.likeness;
        if self.worst.is_none_or(|(worst, _)| pair.likeness < worst) {
            self.worst = Some((pair.likeness, pair.method));
        }
    }

    /// Numbers fit or they do not. One that was heard contradicts a name that has others, and counts nothing for a name that
    /// has none ("five terminators").
    fn count_numbers(&mut self, form: &Form, heard: &Heard<'_>, heard_used: &mut [bool]) {
        let mut open: Vec<u32> = form.numbers.iter().flatten().copied().collect();
        let has_numbers = !open.is_empty();
        let last = heard.words.len().saturating_sub(1);
        for (place, (word, used)) in heard.words.iter().zip(heard_used).enumerate() {
            let alike = if place == last { numbers::sounds_like(&word.text) } else { None };
            let found = open.iter().position(|number| Some(*number) == word.number || Some(*number) == alike);
            if let Some(found) = found {
                open.remove(found);
                self.said += 1.0;
                self.said_likeness += 1.0;
                *used = true;
            } else if word.number.is_some() && has_numbers {
                self.beside += 1.0;
            }
        }
    }

    fn score(&self) -> Option<(f64, Method)> {
        let (_, method) = self.worst?;
        if self.said <= 0.0 || self.total <= 0.0 {
            return None;
        }
        let likeness = self.said_likeness / self.said;
        let fitting = self.said / (self.said + self.beside);
        let share = self.said / self.total;
        let score = if share > 0.999 {
            likeness * whole_among(fitting)
        } else if method == Method::Words {
            likeness * fitting * (PART + BY_SHARE * share)
        } else {
            likeness * fitting * (PART_ALIKE + BY_SHARE_ALIKE * share)
        };
        Some((score.clamp(0.0, 1.0), method))
    }
}

/// What a heard word weighs when nothing fits it, before the book knows better.
pub(super) fn weight_beside(word: &Word) -> f64 {
    match word.role {
        Role::Weighty if word.number.is_none() => 1.0,
        _ => 0.0,
    }
}
