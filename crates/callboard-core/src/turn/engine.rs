//! One turn with a model, of either kind: with tools that the client runs, or with tools that a character runs here.

use super::gateway::GatewayTurn;
use super::stage::StageTurn;
use super::{Action, Input, StageRules, TurnRequest, TurnSettings};
use crate::contract::Report;
use crate::model::{Item, RandomBytes};

/// One turn.
pub struct Turn(Kind);

enum Kind {
    Gateway(GatewayTurn),
    Stage(StageTurn),
}

impl Turn {
    /// A turn whose tools are the client's to run.
    #[must_use]
    pub fn new(request: TurnRequest, settings: TurnSettings, random: RandomBytes) -> Self {
        Self(Kind::Gateway(GatewayTurn::new(request, settings, random)))
    }

    /// A turn whose tools are run here, in rounds.
    #[must_use]
    pub fn on_stage(request: TurnRequest, settings: TurnSettings, rules: StageRules, random: RandomBytes) -> Self {
        Self(Kind::Stage(StageTurn::new(request, settings, rules, random)))
    }

    /// Takes one input and appends what is to be done.
    pub fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match &mut self.0 {
            Kind::Gateway(turn) => turn.step(input, actions),
            Kind::Stage(turn) => turn.step(input, actions),
        }
    }

    /// What was done so far to keep the contract.
    #[must_use]
    pub fn report(&self) -> &Report {
        match &self.0 {
            Kind::Gateway(turn) => &turn.inspector().report,
            Kind::Stage(turn) => &turn.inspector().report,
        }
    }

    /// Bytes the model has written in all replies of this turn.
    #[must_use]
    pub fn spoken_bytes(&self) -> usize {
        match &self.0 {
            Kind::Gateway(turn) => turn.spoken_bytes(),
            Kind::Stage(turn) => turn.spoken_bytes(),
        }
    }

    /// What a turn on stage has added to its conversation: texts, calls and results.
    #[must_use]
    pub fn transcript(&self) -> &[Item] {
        match &self.0 {
            Kind::Gateway(_) => &[],
            Kind::Stage(turn) => turn.transcript(),
        }
    }
}
