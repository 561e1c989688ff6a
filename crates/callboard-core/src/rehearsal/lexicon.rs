//! Classes of everyday English words: which carry no meaning of their own, which tie others together, which act.
//!
//! These are closed lists of general English. Words of a domain do not belong here: they come with the tools.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::stem::stem;

/// Words that link a noun phrase to the rest of the sentence.
const PREPOSITIONS: &str = "to from in at on with by for about into onto against near around of via as over under between during after \
    before since until till within without per through across than like toward towards called named titled labeled \
    labelled regarding inside versus vs off out up down because";

/// Words that begin a noun phrase.
const DETERMINERS: &str = "the a an this that these those some any each every all another other both no such its whole more few several \
    many much enough";

/// Whose it is.
const POSSESSIVES: &str = "my our your his her their mine yours theirs";

/// Words that stand for somebody or something, or ask for it.
const PRONOUNS: &str = "i me we us you he him she her it they them myself yourself himself herself itself themselves ourselves who whom \
    what which whose where when why how there here mine yours hers theirs ours someone anyone everyone nobody \
    something anything nothing everything one";

/// Verbs that only help others.
const AUXILIARIES: &str = "am is are was were be been being do does did have has had will would shall should can could may might must let \
    gonna wanna got having";

/// Adverbs, interjections and other words that change neither what is done nor to what.
const FILLERS: &str = "not now then just also too again please okay ok so well um umm uh uhh er erm hmm mm ah oh hey hi hello yes yeah \
    yep no nope right alright actually really very quite already still yet maybe perhaps thanks thank sure great \
    cool nice there here only even ever never always instead back away straight directly quickly immediately later \
    soon together altogether basically anyway and or but nor if because while though although unless whether else \
    etc everybody guys man dude sir kindly currently finally lets go goes went going want wants need needs like \
    would wish able much many total last next new own same than anymore longer bit little lot kind sort thing things \
    way time everything";

/// Words that announce what is to be said.
const ANNOUNCING: &str = "saying says asking telling";

/// Verbs of everyday speech, for telling where a noun phrase ends. Many are nouns as well.
const VERBS: &str = "accept activate add adjust advance answer apply arrange ask assign attack attach award backup begin belong block \
    book borrow break bring build burn buy calculate call cancel capture cast change charge check choose claim clean \
    clear climb close collect come compare complete compute confirm connect consolidate control convert cook copy \
    cost count create cut deal decrease deduct delete deliver deploy deposit destroy die dim disable disarm discard \
    disconnect display divide download draw drink drive drop earn eat edit eliminate email enable end engage enter \
    equip erase estimate exchange explain fail fall feed fetch fight file fill find finish fire fix fly follow \
    forecast forget gain get give grab grant guess hand heal hear help hit hold hurt increase inform insert install \
    invite join jump keep kick kill know land launch learn leave lend light list listen load lock log look lose \
    lower mail make mark mean measure meet merge message move multiply mute name note notify offer open order own \
    pack park pass paste pause pay pick pin place plan play plot post predict prepare press print promote pull \
    purchase push put query queue quit raise rate read rebook receive recommend record recover redo redraw reduce \
    refund register reject release remain remember remind remove rename rent repeat replace reply report request \
    reschedule reserve reset restart restore resume return revert ride roll run save say scan schedule score search \
    see sell send set share shoot show shuffle shut sign sing sit skip slay sleep snooze solve sort speak spend \
    split stand start stay steal stop store stream strike submit subscribe subtract suffer suggest sum summarize \
    switch take tell terminate test text throw toggle top track trade train transfer translate travel trigger turn \
    type undo unlock unmute unsubscribe update upgrade upload use view visit wait wake walk warm wash watch water \
    wear win wipe withdraw work wound write zoom";

/// Words that only say that a tool does something, not what: weak evidence in a tool's name.
const GENERIC: &str = "get set update log change make do new run use add create tool function data info information value name number \
    type item user state current query all list show mark record fetch find give take tell handle perform check in \
    to by for with from of the a an and or on at is it be start end move go id";

/// A tool whose name or description begins so changes something.
const CHANGING: &str = "add adjust advance append apply arm assign award begin block book buy call cancel change clear close complete \
    control create decrease delete deposit disable discard dismiss draw drop edit email enable end equip give heal \
    increase insert invite launch lock log make mark modify move mute note notify open order pause pay place play \
    post purchase put queue record redraw register remind remove rename reply reschedule reserve reset restart \
    resume revert save schedule score send set shut skip start stop store submit subscribe switch take text toggle \
    transfer turn undo unlock update upload use withdraw write accept approve archive borrow build capture deploy \
    export follow freeze enter go import install join leave merge next publish rate reject rent request restore \
    return roll run share uninstall upgrade";

/// Verbs with which the one who acts does harm to what follows.
const HARMING: &str = "kill destroy wound hit shoot attack slay damage eliminate wipe strike hurt burn deal";

/// Verbs that take something away from the one who acts.
const TAKING: &str = "spend lose pay use subtract remove reduce decrease lower minus cost deduct withdraw drop burn sacrifice owe \
    suffer";

/// Verbs that mean little without what follows them.
const LIGHT: &str = "make put take give get do come bring have did made got gave took went";

type Words = LazyLock<HashSet<&'static str>>;
type Stems = LazyLock<HashSet<String>>;

static PREPOSITION_WORDS: Words = LazyLock::new(|| words(PREPOSITIONS));
static DETERMINER_WORDS: Words = LazyLock::new(|| words(DETERMINERS));
static POSSESSIVE_WORDS: Words = LazyLock::new(|| words(POSSESSIVES));
static PRONOUN_WORDS: Words = LazyLock::new(|| words(PRONOUNS));
static AUXILIARY_WORDS: Words = LazyLock::new(|| words(AUXILIARIES));
static FILLER_WORDS: Words = LazyLock::new(|| words(FILLERS));
static LIGHT_WORDS: Words = LazyLock::new(|| words(LIGHT));
static EMPTY_WORDS: Words = LazyLock::new(|| {
    [PREPOSITIONS, DETERMINERS, PRONOUNS, AUXILIARIES, FILLERS, POSSESSIVES].into_iter().flat_map(words).collect()
});
static VERB_STEMS: Stems = LazyLock::new(|| stems(VERBS));
static GENERIC_STEMS: Stems = LazyLock::new(|| stems(GENERIC));
static CHANGING_STEMS: Stems = LazyLock::new(|| stems(CHANGING));
static HARMING_STEMS: Stems = LazyLock::new(|| stems(HARMING));
static TAKING_STEMS: Stems = LazyLock::new(|| stems(TAKING));

fn words(list: &'static str) -> HashSet<&'static str> {
    list.split(' ').collect()
}

fn stems(list: &str) -> HashSet<String> {
    list.split(' ').map(stem).collect()
}

/// A word without meaning of its own.
pub(super) fn is_empty_word(lower: &str) -> bool {
    EMPTY_WORDS.contains(lower)
}

pub(super) fn is_preposition(lower: &str) -> bool {
    PREPOSITION_WORDS.contains(lower)
}

pub(super) fn is_determiner(lower: &str) -> bool {
    DETERMINER_WORDS.contains(lower)
}

pub(super) fn is_possessive(lower: &str) -> bool {
    POSSESSIVE_WORDS.contains(lower)
}

pub(super) fn is_pronoun(lower: &str) -> bool {
    PRONOUN_WORDS.contains(lower)
}

pub(super) fn is_auxiliary(lower: &str) -> bool {
    AUXILIARY_WORDS.contains(lower)
}

pub(super) fn is_filler(lower: &str) -> bool {
    FILLER_WORDS.contains(lower)
}

pub(super) fn is_light(lower: &str) -> bool {
    LIGHT_WORDS.contains(lower)
}

pub(super) fn announces(lower: &str) -> bool {
    ANNOUNCING.split(' ').any(|word| word == lower)
}

pub(super) fn is_verb(stem: &str) -> bool {
    VERB_STEMS.contains(stem)
}

pub(super) fn is_generic(stem: &str) -> bool {
    GENERIC_STEMS.contains(stem)
}

pub(super) fn is_changing(stem: &str) -> bool {
    CHANGING_STEMS.contains(stem)
}

pub(super) fn is_harming(stem: &str) -> bool {
    HARMING_STEMS.contains(stem)
}

pub(super) fn is_taking(stem: &str) -> bool {
    TAKING_STEMS.contains(stem)
}
