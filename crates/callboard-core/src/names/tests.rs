//! Tables of queries and the names they resolve to, from several domains.

use super::{FOUND, Method, NameBook, NameEntry, Resolution};

pub(super) const SWARM: &[&str] =
    &["Termagants", "Hormagaunts", "Hive Tyrant", "The Swarmlord", "Carnifex", "Tyrannofex", "Genestealers"];

const COMPANY: &[&str] = &[
    "Terminator Squad",
    "Intercessor Squad",
    "Assault Intercessor Squad",
    "Captain in Terminator Armour",
    "Hellblaster Squad",
    "Redemptor Dreadnought",
    "Eradicator Squad",
    "Bladeguard Veteran Squad",
    "Techmarine",
];

pub(super) const STATIONS: &[&str] = &[
    "King's Cross",
    "Paddington",
    "Liverpool Street",
    "London Bridge",
    "Leicester Square",
    "Tottenham Court Road",
    "Covent Garden",
    "Piccadilly Circus",
    "Marylebone",
    "Baker Street",
    "Clapham Junction",
    "Southwark",
];

const PRODUCTS: &[&str] = &[
    "iPhone 15 Pro",
    "iPhone 15",
    "iPhone 14",
    "MacBook Air",
    "MacBook Pro",
    "Kindle Paperwhite",
    "Nintendo Switch",
    "PlayStation 5",
    "Sonos Era 100",
];

pub(super) const PEOPLE: &[&str] = &[
    "Catherine Schmidt",
    "Stephen Hawkins",
    "Geoffrey Wright",
    "Sean Connolly",
    "José García",
    "Bartholomew Finch",
    "Priya Raghunathan",
    "Ignatius O'Reilly",
];

pub(super) const MEDICINES: &[&str] =
    &["acetaminophen", "ibuprofen", "amoxicillin", "metformin", "lisinopril", "omeprazole", "prednisone"];

pub(super) const BOOKS: [&[&str]; 6] = [SWARM, COMPANY, STATIONS, PRODUCTS, PEOPLE, MEDICINES];

pub(super) fn book(names: &[&str]) -> NameBook {
    NameBook::new(names.iter().map(|name| NameEntry::from(*name)))
}

pub(super) fn found(resolution: &Resolution) -> Option<(&str, Method)> {
    match resolution {
        Resolution::Found { name, method, .. } => Some((name, *method)),
        Resolution::Ambiguous { .. } | Resolution::Unknown { .. } => None,
    }
}

#[track_caller]
fn all_found(names: &[&str], table: &[(&str, &str, Method)]) {
    let book = book(names);
    for (query, name, method) in table {
        let resolution = book.resolve(query);
        assert_eq!(found(&resolution), Some((*name, *method)), "{query}: {resolution:?}");
    }
}

#[test]
fn names_are_found_however_they_are_dressed() {
    all_found(
        SWARM,
        &[
            ("HIVE TYRANT", "Hive Tyrant", Method::Exact),
            ("your hive tyrants", "Hive Tyrant", Method::Exact),
            ("tyrant, hive", "Hive Tyrant", Method::Exact),
            ("Swarmlord", "The Swarmlord", Method::Exact),
            ("his carnifexes", "Carnifex", Method::Exact),
            ("opponent's swarmlord", "The Swarmlord", Method::Words),
            ("opponents genestealers", "Genestealers", Method::Words),
            ("a unit of hormagaunts", "Hormagaunts", Method::Words),
            ("five termagants", "Termagants", Method::Words),
            ("the big hive tyrant", "Hive Tyrant", Method::Words),
            ("gene stealers", "Genestealers", Method::Words),
            ("stealers", "Genestealers", Method::Words),
            ("tyrant", "Hive Tyrant", Method::Words),
        ],
    );
}

#[test]
fn a_complete_match_beats_a_longer_name() {
    all_found(
        COMPANY,
        &[
            ("terminators", "Terminator Squad", Method::Words),
            ("my last terminator", "Terminator Squad", Method::Words),
            ("intercessors", "Intercessor Squad", Method::Words),
            ("assault intercessors", "Assault Intercessor Squad", Method::Words),
            ("terminator captain", "Captain in Terminator Armour", Method::Words),
            ("captain", "Captain in Terminator Armour", Method::Words),
            ("termies", "Terminator Squad", Method::Words),
            ("dreads", "Redemptor Dreadnought", Method::Words),
            ("blade guard", "Bladeguard Veteran Squad", Method::Words),
        ],
    );
}

#[test]
fn misheard_names_are_found_by_sound() {
    use Method::Sound;
    all_found(
        SWARM,
        &[
            ("jean steelers", "Genestealers", Sound),
            ("turn a gants", "Termagants", Sound),
            ("hormone gaunts", "Hormagaunts", Sound),
            ("hive tie rant", "Hive Tyrant", Sound),
            ("corn effects", "Carnifex", Sound),
            ("tear anna fex", "Tyrannofex", Sound),
            ("this warm lord", "The Swarmlord", Sound),
        ],
    );
    all_found(
        COMPANY,
        &[
            ("enter sessors", "Intercessor Squad", Sound),
            ("the radiators", "Eradicator Squad", Sound),
            ("blade god veterans", "Bladeguard Veteran Squad", Sound),
            ("dread knot", "Redemptor Dreadnought", Sound),
            ("health blasters", "Hellblaster Squad", Sound),
            ("teck marine", "Techmarine", Sound),
        ],
    );
    all_found(
        STATIONS,
        &[
            ("lester square", "Leicester Square", Sound),
            ("convent garden", "Covent Garden", Sound),
            ("pick a dilly circus", "Piccadilly Circus", Sound),
            ("marley bone", "Marylebone", Sound),
            ("south work", "Southwark", Sound),
            ("patting ton", "Paddington", Sound),
        ],
    );
    all_found(
        PEOPLE,
        &[
            ("katherine schmitt", "Catherine Schmidt", Sound),
            ("jeffrey right", "Geoffrey Wright", Sound),
            ("shawn connelly", "Sean Connolly", Sound),
            ("pria ragu nathan", "Priya Raghunathan", Sound),
        ],
    );
    all_found(
        MEDICINES,
        &[
            ("a seat a minnow fen", "acetaminophen", Sound),
            ("i be profane", "ibuprofen", Sound),
            ("met foreman", "metformin", Sound),
            ("lice in a pril", "lisinopril", Sound),
            ("predna zone", "prednisone", Sound),
        ],
    );
}

#[test]
fn numbers_tell_names_apart() {
    all_found(
        PRODUCTS,
        &[
            ("i phone fifteen", "iPhone 15", Method::Words),
            ("iphone fifteen pro", "iPhone 15 Pro", Method::Exact),
            ("play station five", "PlayStation 5", Method::Words),
            ("sonus era one hundred", "Sonos Era 100", Method::Sound),
            ("candle paper white", "Kindle Paperwhite", Method::Sound),
        ],
    );
    let plain = ["Dude", "The Unit", "The Who", "Same", "The The"];
    all_found(
        &plain,
        &[
            ("my dude", "Dude", Method::Exact),
            ("that unit", "The Unit", Method::Exact),
            ("your who", "The Who", Method::Exact),
            ("the same", "Same", Method::Exact),
            ("the the", "The The", Method::Exact),
        ],
    );
    let squads = ["Rifle Squad 1", "Rifle Squad 2", "Mortar Team"];
    all_found(
        &squads,
        &[
            ("rifle squad one", "Rifle Squad 1", Method::Exact),
            ("second rifle squad", "Rifle Squad 2", Method::Exact),
            ("rifle squad too", "Rifle Squad 2", Method::Words),
            ("squad one", "Rifle Squad 1", Method::Words),
        ],
    );
    let book = book(&squads);
    assert!(matches!(book.resolve("rifle squad three"), Resolution::Unknown { .. }));
    assert!(matches!(book.resolve("two"), Resolution::Unknown { .. }));
}

#[test]
fn near_ties_are_ambiguous() {
    let table: [(&[&str], &str, &[&str]); 6] = [
        (SWARM, "gaunts", &["Termagants", "Hormagaunts"]),
        (SWARM, "fex", &["Carnifex", "Tyrannofex"]),
        (PRODUCTS, "macbook", &["MacBook Air", "MacBook Pro"]),
        (PRODUCTS, "iphone", &["iPhone 15", "iPhone 14", "iPhone 15 Pro"]),
        (STATIONS, "street", &["Liverpool Street", "Baker Street"]),
        (&["Warrior", "The warriors"], "a warrior of", &["Warrior", "The warriors"]),
    ];
    for (names, query, expected) in table {
        let resolution = book(names).resolve(query);
        let Resolution::Ambiguous { candidates } = &resolution else { panic!("{query}: {resolution:?}") };
        let mut candidates: Vec<_> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
        let mut expected = expected.to_vec();
        candidates.sort_unstable();
        expected.sort_unstable();
        assert_eq!(candidates, expected, "{query}");
    }
}

#[test]
fn everyday_words_are_no_names() {
    let words = "bananas|the ball|my opponent|phase|the dice|um||the|objective three|victory points|coffee|pizza|tomorrow|two|\
                 them|everything|the table|elephants|helicopter|government|restaurant|internet|my car|lunch|the clock|nothing|\
                 command phase|saving throw|orange juice|the game|my unit|the squad|whatever|water|ticket|sorry|again|the map";
    for names in BOOKS {
        let book = book(names);
        for query in words.split('|') {
            let resolution = book.resolve(query);
            assert!(matches!(resolution, Resolution::Unknown { .. }), "{query}: {resolution:?}");
        }
    }
}

#[test]
fn other_names_of_the_kind_are_not_taken_for_those_that_are_there() {
    let london = &["London Rides", "London Victoria", "London Euston", "London Paddington"];
    let table: [(&[&str], &str); 7] = [
        (london, "london bridge"),
        (COMPANY, "land raider"),
        (COMPANY, "ballistus dreadnought"),
        (COMPANY, "assault terminators"),
        (SWARM, "hive guard"),
        (STATIONS, "oxford circus"),
        (PEOPLE, "peter parker"),
    ];
    for (names, query) in table {
        let resolution = book(names).resolve(query);
        assert!(matches!(resolution, Resolution::Unknown { .. }), "{query}: {resolution:?}");
    }
}

#[test]
fn unknown_names_come_with_what_is_near() {
    let Resolution::Unknown { nearest } = book(COMPANY).resolve("assault terminators") else { panic!("found") };
    assert_eq!(nearest.first().map(|candidate| candidate.name.as_str()), Some("Terminator Squad"));
    assert!(nearest.iter().all(|candidate| candidate.score < FOUND));
}

#[test]
fn aliases_lead_to_their_name() {
    let entry = |name: &str, aliases: &[&str]| NameEntry {
        name: name.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
    };
    let book = NameBook::new([
        entry("Carnifex", &["fex", "screamer killer"]),
        entry("Tyrannofex", &["T-fex"]),
        entry("Tyrannofex", &["big gun"]),
        entry("Exocrine", &["big gun"]),
    ]);
    let table = [
        ("the fex", Some(("Carnifex", Method::Alias))),
        ("screamer killers", Some(("Carnifex", Method::Alias))),
        ("t fex", Some(("Tyrannofex", Method::Alias))),
        ("steamer killer", Some(("Carnifex", Method::Sound))),
        ("big guns", None),
    ];
    for (query, expected) in table {
        let resolution = book.resolve(query);
        assert_eq!(found(&resolution), expected, "{query}: {resolution:?}");
    }
}

#[test]
fn names_in_other_scripts_are_found_by_their_letters() {
    let names = ["Московский вокзал", "Финляндский вокзал", "東京駅", "Ελληνικό"];
    let table = [
        ("московский вокзал", Some("Московский вокзал")),
        ("финляндский", Some("Финляндский вокзал")),
        ("финлянский вокзал", Some("Финляндский вокзал")),
        ("東京駅", Some("東京駅")),
        ("京都駅", None),
    ];
    let book = book(&names);
    for (query, expected) in table {
        let resolution = book.resolve(query);
        assert_eq!(found(&resolution).map(|(name, _)| name), expected, "{query}: {resolution:?}");
    }
}

#[test]
fn very_long_names_are_themselves() {
    let long = |end: &str| format!("{}{end}", "word ".repeat(40));
    let names = [long("one"), long("two"), "a".repeat(5000), format!("{}b", "a".repeat(5000))];
    let book = NameBook::new(names.iter().map(|name| NameEntry::from(name.as_str())));
    for name in &names {
        assert_eq!(found(&book.resolve(name)), Some((name.as_str(), Method::Exact)));
    }
    assert_eq!(found(&book.resolve(&"a".repeat(4000))), None);
}

#[test]
fn an_empty_book_knows_nothing() {
    assert_eq!(NameBook::default().resolve("anything"), Resolution::Unknown { nearest: Vec::new() });
    assert_eq!(book(&["", "..."]).resolve(""), Resolution::Unknown { nearest: Vec::new() });
}
