//! From the name a model wrote to a tool on offer, where nothing has to be guessed.
//!
//! Models add prefixes (`functions.`), positions (`:0`), pieces of their template (`<|channel|>…`) or change case and `-`/`_`.
//! A name that still fits no tool, or fits two, is left to a re-ask.

/// The place in `names` that `written` means, and whether it had to be cleaned.
#[must_use]
pub fn resolve_name<'a>(written: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<(usize, bool)> {
    if let Some(place) = names.clone().position(|name| name == written) {
        return Some((place, false));
    }
    let core = core_of(written);
    let place = names.clone().position(|name| name == core).or_else(|| only_match(core, names))?;
    Some((place, true))
}

/// `functions.get_weather:0<|channel|>commentary` reduced to `get_weather`.
fn core_of(written: &str) -> &str {
    let until_token = written.split("<|").next().unwrap_or(written);
    let trimmed = until_token.trim().trim_matches(['"', '\'', '`']).trim_end_matches("()");
    let without_position = match trimmed.rsplit_once(':') {
        Some((name, position)) if !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => trimmed,
    };
    without_position.rsplit(['.', ':', '/']).next().unwrap_or(without_position)
}

fn only_match<'a>(core: &str, names: impl Iterator<Item = &'a str>) -> Option<usize> {
    let mut places = names.enumerate().filter(|(_, name)| same_but_for_spelling(name, core));
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

fn same_but_for_spelling(a: &str, b: &str) -> bool {
    let plain = |c: u8| if c == b'-' { b'_' } else { c.to_ascii_lowercase() };
    !b.is_empty() && a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(x, y)| plain(x) == plain(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["get_weather", "read_file", "Run", "run"];

    #[test]
    fn names_are_cleaned_only_where_one_tool_is_meant() {
        let table = [
            ("get_weather", Some((0, false))),
            ("functions.get_weather", Some((0, true))),
            ("functions.get_weather:0", Some((0, true))),
            ("get_weather<|channel|>commentary", Some((0, true))),
            ("tools/read_file", Some((1, true))),
            ("Get-Weather", Some((0, true))),
            (" read_file() ", Some((1, true))),
            ("run", Some((3, false))),
            ("RUN", None),
            ("fetch_forecast", None),
            ("get_wether", None),
            ("", None),
            ("functions.", None),
        ];
        for (written, expected) in table {
            assert_eq!(resolve_name(written, NAMES.iter().copied()), expected, "{written:?}");
        }
    }
}
