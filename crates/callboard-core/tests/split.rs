//! Split invariance: the streams of every golden page, cut at every byte, lead to the same events.
//!
//! Each stream is read in one piece, in two pieces split at every byte, and byte by byte; the deltas, which are all that the
//! turn engine sees, must be equal. Whole turns run in one piece, byte by byte, and with every stream truncated: reader and
//! engine always terminate. Text is also split into other deltas, at every character.

#[cfg(test)]
mod golden_turn;

use callboard_test_support::golden_page::read_pages;

use golden_turn::{GoldenTurn, read};

fn plays() -> Vec<(String, GoldenTurn)> {
    let plays: Vec<_> =
        read_pages().iter().filter_map(|page| Some((page.stem.clone(), GoldenTurn::new(page)?))).collect();
    assert!(!plays.is_empty(), "no page holds a stream");
    plays
}

#[test]
fn every_cut_in_two_is_read_alike() {
    for (stem, play) in plays() {
        for (number, stream) in play.streams.iter().enumerate() {
            let whole = read(&[stream]);
            for cut in 1..stream.len() {
                assert_eq!(
                    read(&[&stream[..cut], &stream[cut..]]),
                    whole,
                    "{stem}: reply {} cut at byte {cut}",
                    number + 1
                );
            }
        }
    }
}

#[test]
fn one_byte_at_a_time_gives_the_same_events() {
    for (stem, play) in plays() {
        assert_eq!(play.trace(&|bytes| bytes.chunks(1).collect()), play.trace(&|bytes| vec![bytes]), "{stem}");
    }
}

/// Servers split text into deltas at token boundaries, even within a mark.
#[test]
fn text_in_other_deltas_gives_the_same_events() {
    let letters = |text: &str| text.chars().map(String::from).collect();
    for (stem, play) in plays().into_iter().filter(|(_, play)| play.longest_text() > 0) {
        let whole = play.trace_in_deltas(&|text| vec![text.to_owned()]);
        assert_eq!(play.trace_in_deltas(&letters), whole, "{stem}: one character at a time");
        for place in 1..play.longest_text() {
            assert_eq!(play.trace_in_deltas(&|text| in_two(text, place)), whole, "{stem}: cut at character {place}");
        }
    }
}

fn in_two(text: &str, place: usize) -> Vec<String> {
    let at = text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    let (before, after) = text.split_at(at);
    [before, after].into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_stream_that_breaks_off_comes_to_an_end() {
    let ends = ["finish ", "failed ", "fault ", "asks "];
    for (stem, play) in plays() {
        for length in 0..play.streams.first().map_or(0, |stream| stream.len()) {
            let trace = play.trace(&|bytes| vec![&bytes[..length.min(bytes.len())]]);
            let is_over = trace.last().is_some_and(|line| ends.iter().any(|end| line.starts_with(end)));
            assert!(is_over, "{stem}: cut off at byte {length}: {trace:?}");
        }
    }
}
