//! Domain-independent synonyms.
//!
//! A word may be in several rows, one per sense. Synonyms of a single domain belong in the descriptions of its tools.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

const ROWS: &[&str] = &[
    "lose take suffer receive",
    "take capture hold control seize own claim secure",
    "gain get add earn receive collect",
    "spend use pay deduct subtract",
    "use activate play",
    "score points earn",
    "none nobody neutral",
    "start begin enter launch commence initiate",
    "start open launch run",
    "end finish stop complete over",
    "stop pause halt",
    "stop cancel end",
    "continue resume unpause",
    "show display list view see",
    "get fetch retrieve read check tell",
    "read view open show",
    "find search look locate",
    "search google lookup query",
    "create make add new generate",
    "create write compose draft",
    "schedule plan book arrange create add",
    "book reserve reservation booking",
    "delete remove erase discard clear trash",
    "cancel delete drop remove",
    "drop discard",
    "change update modify edit adjust alter switch",
    "move reschedule shift postpone",
    "move transfer relocate",
    "change move switch go",
    "buy purchase order",
    "order get",
    "send text message",
    "send email mail",
    "send forward deliver transfer wire",
    "tell inform notify message",
    "play listen hear",
    "play put start",
    "stay remain keep hold still",
    "on enable activate",
    "off disable deactivate",
    "open unlock",
    "close shut lock",
    "increase raise up louder higher brighter turn boost",
    "decrease lower down reduce quieter dim dimmer softer",
    "set adjust put change",
    "set turn",
    "turn switch",
    "toggle switch turn",
    "remind reminder remember",
    "song track music tune",
    "movie film",
    "television tv telly",
    "flight fly plane",
    "hotel accommodation room lodging",
    "restaurant dinner lunch table",
    "weather forecast temperature rain sunny umbrella",
    "picture photo image",
    "convert exchange change",
    "price cost",
    "money cash funds amount dollars euros pounds",
    "meeting appointment event",
    "event calendar schedule agenda",
    "call phone dial ring",
    "advice advise suggest recommend tip should",
    "workout exercise training",
    "run jog",
    "light lamp bulb",
    "cart basket",
    "answer reply respond response",
    "note memo jot",
    "alarm wake",
    "timer countdown",
    "remaining left",
    "both everyone all",
    "fail miss unsuccessful",
    "succeed success pass",
    "calculate compute evaluate work",
    "sum total",
    "log record track note",
    "document file",
    "folder directory",
    "rename name",
    "share send",
    "translate translation say",
    "stock share ticker",
    "account balance",
    "celsius c centigrade metric",
    "fahrenheit f imperial",
    "thermostat temperature heating heat",
    "warm heat",
    "cold cool",
    "fast quick",
    "big large",
    "small little",
    "urgent high important",
    "task todo",
    "task chore",
    "person people guest",
    "people party guests",
    "passenger traveler person people",
    "route directions navigate way",
    "drive car",
    "walk foot",
    "trip travel journey",
    "ride taxi cab",
    "volume loud sound",
    "brightness bright dim",
    "color colour",
    "pick choose select",
    "current now",
    "inventory bag backpack",
    "item thing",
    "article news headline",
    "definition define meaning mean",
    "word term",
    "undo revert rollback",
    "first leading",
    "volume music",
    "distance far",
    "recipe cook",
    "ship shipping delivery deliver parcel package",
    "status track",
    "withdraw withdrawal",
    "repeat again",
    "skip next",
    "home house",
    "job position",
    "vehicle car",
    "mark set",
    "pay bill",
    "quantity many amount count",
    "duration long length minutes hours",
    "distance kilometers miles km meters",
];

struct Table {
    rows: Vec<Vec<String>>,
    of: HashMap<String, Vec<usize>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let rows: Vec<Vec<String>> = ROWS.iter().map(|row| row.split(' ').map(stem).collect()).collect();
    let mut of: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        for word in row {
            of.entry(word.clone()).or_default().push(index);
        }
    }
    Table { rows, of }
});

/// The synonyms of a stem, without itself.
pub(super) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> + '_ {
    let table = &*TABLE;
    let rows = table.of.get(stem).map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .filter_map(|index| table.rows.get(*index))
        .flatten()
        .map(String::as_str)
        .filter(move |word| *word != stem)
}

/// Whether two stems are synonyms.
pub(super) fn alike(one: &str, other: &str) -> bool {
    one == other || synonyms(one).any(|word| word == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_relate_words_both_ways_and_no_further() {
        for (one, other, expected) in [
            ("lose", "suffer", true),
            ("took", "lost", true),
            ("kill", "gain", false),
            ("song", "track", true),
            ("song", "note", false),
        ] {
            assert_eq!(alike(&stem(one), &stem(other)), expected, "{one} {other}");
            assert_eq!(alike(&stem(other), &stem(one)), expected, "{other} {one}");
        }
    }
}
