//! One turn with a model, of either kind: the client runs the tools, or Callboard runs a character's.

use super::character_turn::CharacterTurn;
use super::gateway::GatewayTurn;
use super::{Action, CharacterRules, Input, TurnRequest, TurnSettings};
use crate::contract::Report;
use crate::model::{Item, RandomBytes};

/// One turn.
pub struct Turn(Kind);

enum Kind {
    Gateway(GatewayTurn),
    Character(CharacterTurn),
}

impl Turn {
    /// A turn whose tools the client runs.
    #[must_use]
    pub fn new(request: TurnRequest, settings: TurnSettings, random: RandomBytes) -> Self {
        Self(Kind::Gateway(GatewayTurn::new(request, settings, random)))
    }

    /// A turn of a character, whose tools are run here in rounds.
    #[must_use]
    pub fn for_character(
        request: TurnRequest,
        settings: TurnSettings,
        rules: CharacterRules,
        random: RandomBytes,
    ) -> Self {
        Self(Kind::Character(CharacterTurn::new(request, settings, rules, random)))
    }

    /// Handles one input and appends the actions that follow.
    pub fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match &mut self.0 {
            Kind::Gateway(turn) => turn.step(input, actions),
            Kind::Character(turn) => turn.step(input, actions),
        }
    }

    /// The violations and repairs so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        match &self.0 {
            Kind::Gateway(turn) => &turn.checker().report,
            Kind::Character(turn) => &turn.checker().report,
        }
    }

    /// Bytes the model has written in all replies of this turn.
    #[must_use]
    pub fn spoken_bytes(&self) -> usize {
        match &self.0 {
            Kind::Gateway(turn) => turn.spoken_bytes(),
            Kind::Character(turn) => turn.spoken_bytes(),
        }
    }

    /// The items that a character's turn has added to its conversation: texts, calls and results.
    #[must_use]
    pub fn transcript(&self) -> &[Item] {
        match &self.0 {
            Kind::Gateway(_) => &[],
            Kind::Character(turn) => turn.transcript(),
        }
    }

    /// The text of a character's last reply, where its text is not delivered.
    #[must_use]
    pub fn withheld_text(&self) -> &str {
        match &self.0 {
            Kind::Gateway(_) => "",
            Kind::Character(turn) => &turn.withheld,
        }
    }
}
