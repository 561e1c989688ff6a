//! Resolves the name a model wrote to a tool on offer, without guessing.
//!
//! Models add prefixes (`functions.`), positions (`:0`), pieces of their template (`<|channel|>…`), change case and `-`/`_`, put
//! another separator between the parts of a name (`crm.get` for `crm__get`), or none (`getWeather`). A name that still matches
//! no tool, or two, is re-asked.

/// Separators between the parts of a name, or between a prefix and the name.
const BETWEEN: [char; 3] = ['.', ':', '/'];

/// Longer than any name with prefixes; of a longer text only the last part is read.
const LONGEST: usize = 256;

/// The index in `names` that `written` resolves to, and whether it had to be cleaned.
#[must_use]
pub fn resolve_name<'a>(written: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<(usize, bool)> {
    if let Some(place) = names.clone().position(|name| name == written) {
        return Some((place, false));
    }
    let names: Vec<&str> = names.collect();
    let core = core_of(written);
    let mut rest = Some(if core.len() > LONGEST { last_part(core) } else { core });
    while let Some(core) = rest.filter(|core| !core.is_empty()) {
        if let Some(place) = names.iter().position(|name| *name == core) {
            return Some((place, true));
        }
        match spelled_alike(core, &names, spelling).or_else(|| spelled_alike(core, &names, letters)) {
            Some(place) => return place.map(|place| (place, true)),
            None => rest = core.split_once(BETWEEN).map(|(_, behind)| behind),
        }
    }
    None
}

/// The only name that is normalised to the same text; `Some(None)` if there are several.
fn spelled_alike(core: &str, names: &[&str], normalised: fn(&str) -> String) -> Option<Option<usize>> {
    let wanted = normalised(core);
    let mut places = names.iter().enumerate().filter(|(_, name)| normalised(name) == wanted).map(|(place, _)| place);
    let first = places.next()?;
    Some(places.next().is_none().then_some(first))
}

/// `functions.get_weather:0<|channel|>commentary` reduced to `functions.get_weather`.
fn core_of(written: &str) -> &str {
    let until_token = written.split("<|").next().unwrap_or(written);
    let trimmed = until_token.trim().trim_matches(['"', '\'', '`']).trim_end_matches("()");
    match trimmed.rsplit_once(':') {
        Some((name, position)) if !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => trimmed,
    }
}

/// The part after the last separator of an overlong name.
fn last_part(name: &str) -> &str {
    name.rsplit(BETWEEN).next().unwrap_or(name)
}

/// A name normalised for comparison: without case and separators.
fn spelling(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars() {
        let sign = matches!(letter, '_' | '-') || BETWEEN.contains(&letter);
        if !sign {
            plain.push(letter.to_ascii_lowercase());
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    plain
}

/// The letters and digits of a name, without case.
pub(super) fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["get_weather", "read_file", "Run", "run"];

    fn all_resolved(names: &[&str], table: &[(&str, Option<(usize, bool)>)]) {
        for (written, expected) in table {
            assert_eq!(resolve_name(written, names.iter().copied()), *expected, "{written:?}");
        }
    }

    #[test]
    fn names_are_cleaned_only_where_one_tool_is_meant() {
        let table = [
            ("get_weather", Some((0, false))),
            ("functions.get_weather", Some((0, true))),
            ("functions.get_weather:0", Some((0, true))),
            ("get_weather<|channel|>commentary", Some((0, true))),
            ("tools/read_file", Some((1, true))),
            ("Get-Weather", Some((0, true))),
            ("getWeather", Some((0, true))),
            ("functions.GetWeather:1", Some((0, true))),
            ("readfile", Some((1, true))),
            ("getWeatherNow", None),
            (" read_file() ", Some((1, true))),
            ("run", Some((3, false))),
            ("RUN", None),
            ("fetch_forecast", None),
            ("get_wether", None),
            ("", None),
            ("functions.", None),
            ("a.b.c", None),
        ];
        all_resolved(&NAMES, &table);
    }

    #[test]
    fn names_in_parts_match_with_any_separator() {
        let names = ["crm__get", "get", "a_b__c", "shop__list", "shop-list"];
        let table = [
            ("crm__get", Some((0, false))),
            ("crm.get", Some((0, true))),
            ("crm/get", Some((0, true))),
            ("crm_get", Some((0, true))),
            ("functions.crm.get:0", Some((0, true))),
            ("functions.get", Some((1, true))),
            ("other.get", Some((1, true))),
            ("a.b.c", Some((2, true))),
            ("shop.list", None),
            ("shop__list", Some((3, false))),
            ("shopList", None),
        ];
        all_resolved(&names, &table);
        all_resolved(
            &["get_weather", "getweather"],
            &[("getWeather", Some((1, true))), ("Get.Weather", Some((0, true)))],
        );
    }

    #[test]
    fn a_name_of_very_many_parts_is_read_once() {
        let long = format!("{}get_weather", "x.".repeat(500_000));
        assert_eq!(resolve_name(&long, NAMES.iter().copied()), Some((0, true)));
    }
}
