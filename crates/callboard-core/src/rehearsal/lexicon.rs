//! Word classes of general English: stop words, function words, verbs.
//!
//! These lists are closed. Domain words do not belong here: they come from the tools.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::stem::stem;

/// A word class: lower-case words, or stems for verbs and words of tool names.
type WordSet = LazyLock<HashSet<String>>;

/// Words that link a noun phrase to the rest of the sentence.
pub(super) static PREPOSITIONS: WordSet = LazyLock::new(|| {
    words(
        "to from in at on with by for about into onto against near around of via as over under between during after \
    before since until till within without per through across than like toward towards called named titled labeled \
    labelled regarding inside versus vs off out up down because",
    )
});

/// Words that begin a noun phrase.
pub(super) static DETERMINERS: WordSet = LazyLock::new(|| {
    words(
        "the a an this that these those some any each every all another other both no such its whole more few several \
    many much enough",
    )
});

/// Possessive determiners and pronouns.
pub(super) static POSSESSIVES: WordSet = LazyLock::new(|| words("my our your his her their mine yours theirs"));

/// Personal, relative and interrogative pronouns.
pub(super) static PRONOUNS: WordSet = LazyLock::new(|| {
    words(
        "i me we us you he him she her it they them myself yourself himself herself itself themselves ourselves who whom \
    what which whose where when why how there here mine yours hers theirs ours someone anyone everyone nobody \
    something anything nothing everything one",
    )
});

/// Auxiliary verbs.
pub(super) static AUXILIARIES: WordSet = LazyLock::new(|| {
    words(
        "am is are was were be been being do does did have has had will would shall should can could may might must let \
    gonna wanna got having",
    )
});

/// Adverbs, interjections and other words that affect neither the action nor its object.
pub(super) static FILLERS: WordSet = LazyLock::new(|| {
    words(
        "not now then just also too again please okay ok so well um umm uh uhh er erm hmm mm ah oh hey hi hello yes yeah \
    yep no nope right alright actually really very quite already still yet maybe perhaps thanks thank sure great \
    cool nice there here only even ever never always instead back away straight directly quickly immediately later \
    soon together altogether basically anyway and or but nor if because while though although unless whether else \
    etc everybody guys man dude sir kindly currently finally lets go goes went going want wants need needs like \
    would wish able much many total last next new own same than anymore longer bit little lot kind sort thing things \
    way time everything",
    )
});

/// Words that introduce a message.
pub(super) static ANNOUNCING: WordSet = LazyLock::new(|| words("saying says asking telling"));

/// Common verbs, which end a noun phrase. Many are nouns as well.
pub(super) static VERBS: WordSet = LazyLock::new(|| {
    stems(
        "accept activate add adjust advance answer apply arrange ask assign attack attach award backup begin belong block \
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
    wear win wipe withdraw work wound write zoom",
    )
});

/// Generic words of tool names: weak evidence.
pub(super) static GENERIC: WordSet = LazyLock::new(|| {
    stems(
        "get set update log change make do new run use add create tool function data info information value name number \
    type item user state current query all list show mark record fetch find give take tell handle perform check in \
    to by for with from of the a an and or on at is it be start end move go id",
    )
});

/// First words of the name or description of a tool with side effects.
pub(super) static CHANGING: WordSet = LazyLock::new(|| {
    stems(
        "add adjust advance append apply arm assign award begin block book buy call cancel change clear close complete \
    control create decrease delete deposit disable discard dismiss draw drop edit email enable end equip give heal \
    increase insert invite launch lock log make mark modify move mute note notify open order pause pay place play \
    post purchase put queue record redraw register remind remove rename reply reschedule reserve reset restart \
    resume revert save schedule score send set shut skip start stop store submit subscribe switch take text toggle \
    transfer turn undo unlock update upload use withdraw write accept approve archive borrow build capture deploy \
    export follow freeze enter go import install join leave merge next publish rate reject rent request restore \
    return roll run share uninstall upgrade",
    )
});

/// Verbs whose subject harms the object.
pub(super) static HARMING: WordSet =
    LazyLock::new(|| stems("kill destroy wound hit shoot attack slay damage eliminate wipe strike hurt burn deal"));

/// Verbs whose subject loses something.
pub(super) static TAKING: WordSet = LazyLock::new(|| {
    stems(
        "spend lose pay use subtract remove reduce decrease lower minus cost deduct withdraw drop burn sacrifice owe \
    suffer",
    )
});

/// Light verbs, which mean little without their object.
pub(super) static LIGHT: WordSet =
    LazyLock::new(|| words("make put take give get do come bring have did made got gave took went"));

static EMPTY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let classes = [&PREPOSITIONS, &DETERMINERS, &PRONOUNS, &AUXILIARIES, &FILLERS, &POSSESSIVES];
    classes.into_iter().flat_map(|class| class.iter().map(String::as_str)).collect()
});

fn words(list: &str) -> HashSet<String> {
    list.split(' ').map(str::to_owned).collect()
}

fn stems(list: &str) -> HashSet<String> {
    list.split(' ').map(stem).collect()
}

/// Whether a word is a stop word: a preposition, determiner, pronoun, auxiliary, filler or possessive.
pub(super) fn is_empty_word(lower: &str) -> bool {
    EMPTY.contains(lower)
}
