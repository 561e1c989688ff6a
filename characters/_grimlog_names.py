"""Names in the battle tracker: what units, stratagems and secondaries are called, and how else they are said.

Callboard resolves what was heard before a tool sees it; the aliases here are what it cannot know:
nicknames of players, and words that speech recognisers like to hear instead. `find` is the plain
matching a tool does itself: upper and lower case, articles, plurals, nicknames, parts of a name.
"""

import re
from collections import namedtuple

# Words of a unit's name -> what players call it; "dreads" is any kind of dreadnought.
NICKNAMES = {
    "terminator": ["termies", "termy"],
    "tactical": ["tacticals", "tacs"],
    "devastator": ["devs"],
    "dreadnought": ["dreads", "dread"],
    "termagant": ["gaunts"],
    "hormagaunt": ["gaunts"],
    "tyranid warrior": ["warriors"],
    "carnifex": ["fex"],
    "hive tyrant": ["tyrant"],
    "genestealer": ["stealers"],
    "bladeguard veteran": ["bladeguard"],
    "leman russ": ["russ"],
}

# Words of a unit's name -> what is heard instead of them.
MISHEARINGS = {
    "termagant": ["tournaments", "term against", "term a gants", "terra giants"],
    "hormagaunt": ["horror gaunts"],
    "tyrannofex": ["tyranno flex", "terra no flex"],
    "carnifex": ["carnage fex", "carny fex", "car knife x"],
    "hive tyrant": ["high tyrant", "hive tire ant"],
    "genestealer": ["jeans dealers", "gene stealers"],
    "exocrine": ["exo crane"],
    "zoanthrope": ["zohan throws"],
    "lictor": ["liquor"],
    "maleceptor": ["male scepter"],
    "intercessor": ["intercesses", "inter sisters"],
    "eradicator": ["a radiators"],
    "leman russ": ["lemon russ"],
    "lokhust": ["locust"],
    "canoptek": ["canopy tech"],
    "nobz": ["knobs"],
    "harlequin": ["harley quinn"],
    "aeldari": ["elderly", "all dairy"],
}

STRATAGEMS = {
    "Command Re-roll": ["re-roll", "reroll", "command reroll"],
    "Fire Overwatch": ["overwatch"],
    "Counter-offensive": ["counter offensive", "counteroffensive"],
    "Epic Challenge": [],
    "Insane Bravery": [],
    "Rapid Ingress": [],
    "Heroic Intervention": [],
    "Go to Ground": [],
    "Smokescreen": ["smoke screen"],
    "Grenade": ["grenades"],
    "Tank Shock": [],
    "New Orders": [],
    "Armour of Contempt": ["armor of contempt", "contempt"],
    "Transhuman Physiology": ["transhuman", "trans human"],
    "Oath of Moment": ["oath of movement", "oath"],
}

SECONDARIES = (
    "Behind Enemy Lines", "Storm Hostile Objective", "Engage on All Fronts", "Establish Locus", "Cleanse", "Assassination",
    "No Prisoners", "Cull the Horde", "Bring It Down", "Defend Stronghold", "Marked for Death", "Secure No Man's Land",
    "Sabotage", "Area Denial", "Recover Assets", "A Tempting Target", "Extend Battle Lines", "Overwhelming Force",
    "Display of Might",
)

SKIPPED = {"the", "a", "an", "my", "our", "your", "his", "her", "their", "its", "opponent", "enemy", "player"}
GENERIC = {"squad", "unit", "team"}

# name: the one that is meant, or None · method: how it was found · candidates: those it could be
Found = namedtuple("Found", "name method candidates")


def entry(name: str, *aliases: str) -> dict:
    """A name for Callboard's matching."""
    return {"name": name, "aliases": list(aliases)}


def unit_entry(name: str) -> dict:
    """A unit's name with its nicknames and mishearings."""
    return entry(name, *dict.fromkeys(_nicknames(name) + _misheard(name)))


def stratagem_entries() -> list[dict]:
    return [entry(name, *aliases) for name, aliases in STRATAGEMS.items()]


def secondary_entries(*held: str) -> list[dict]:
    """The secondaries of the pack, and others that are held."""
    return [entry(name) for name in dict.fromkeys(SECONDARIES + held)]


def find(said: str, entries: list[dict]) -> Found:
    """The one entry that is meant by what was said; else those that it could be."""
    for method, fits in _METHODS:
        names = [one["name"] for one in entries if fits(said, one)]
        if len(names) == 1:
            return Found(names[0], method, names)
        if names:
            return Found(None, "ambiguous", names)
    return Found(None, "unknown", [])


def known_or_as_said(said: str, entries: list[dict]) -> str:
    """The known name that is meant; without one, what was said: names outside the lists are spoken too."""
    return find(said, entries).name or " ".join(said.split())


def words(text: str) -> list[str]:
    """The words that carry a name: no articles, no possessives, no plurals."""
    plain = re.findall(r"[^\W_]+", re.sub(r"['’]s?\b", "", text.casefold()))
    return [_singular(word) for word in plain if word not in SKIPPED] or plain


def _singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _weighty(text):
    return [word for word in words(text) if word not in GENERIC]


def _same_text(said, one):
    return said.strip().casefold() == one["name"].casefold()


def _same_words(said, one):
    return words(said) == words(one["name"])


def _same_weighty_words(said, one):
    return _weighty(said) != [] and _weighty(said) == _weighty(one["name"])


def _same_alias(said, one):
    return words(said) in [words(alias) for alias in one["aliases"]]


def _part(said, one):
    part = set(_weighty(said))
    return bool(part) and any(part <= set(_weighty(whole)) for whole in [one["name"], *one["aliases"]])


_METHODS = (
    ("exact", _same_text),
    ("words", _same_words),
    ("words", _same_weighty_words),
    ("nickname", _same_alias),
    ("part", _part),
)


def _head(name):
    """What a unit is: of "Captain in Terminator Armour" the captain."""
    return _weighty(re.split(r"\s(?:in|with)\s", name, maxsplit=1)[0])


def _nicknames(name):
    head = _head(name)
    return [nickname for key, nicknames in NICKNAMES.items() if _runs_in(key.split(), head) for nickname in nicknames]


def _misheard(name):
    """The name with its misheard words in place; "inter sisters" alone is no name of assault intercessors."""
    head, aliases = _head(name), []
    for key, heard in MISHEARINGS.items():
        if _runs_in(key.split(), head):
            aliases += [" ".join(head).replace(key, one) for one in heard]
    return aliases


def _runs_in(part, whole):
    return any(whole[start:start + len(part)] == part for start in range(len(whole) - len(part) + 1))
