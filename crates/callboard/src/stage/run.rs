//! A turn in motion, whoever plays it.

use callboard_core::contract::Report;
use callboard_core::model::Usage;
use callboard_core::wire::ApiError;

use super::Scene;
use crate::session::{Progress, Session};
use crate::telemetry::metrics;
use crate::trace::{TraceEvent, TraceParent, TraceRecorder, Traces};

/// A turn in motion: for a client with its own tools, or of a character.
pub enum Run {
    /// A model, for a client with its own tools.
    Gateway(Box<Session>),
    /// A character.
    Stage(Box<Scene>),
}

impl Run {
    /// Goes on until there is something to say.
    pub async fn next(&mut self) -> Progress {
        match self {
            Self::Gateway(session) => session.next().await,
            Self::Stage(scene) => scene.next().await,
        }
    }

    /// Whether the reply is whole, and that is told next.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::Gateway(session) => session.is_ending(),
            Self::Stage(scene) => scene.is_ending(),
        }
    }

    /// Records the turn, which came in by this endpoint; the recorder takes what else is known about it.
    pub fn trace_with(
        &mut self,
        traces: &Traces,
        endpoint: &'static str,
        caller: Option<&TraceParent>,
    ) -> &mut TraceRecorder {
        let session = match self {
            Self::Gateway(session) => session,
            Self::Stage(scene) => scene.session(),
        };
        session.trace_with(traces, endpoint, caller);
        session.trace()
    }

    /// The client gets to see something of the turn.
    pub fn mark_seen(&mut self) {
        if let Self::Stage(scene) = self {
            scene.mark_seen();
        }
    }

    /// Ends the turn as it is, for a reason that is not its own.
    pub fn fail(&mut self, error: &ApiError) {
        match self {
            Self::Gateway(session) => session.trace().record(TraceEvent::Failed(error)),
            Self::Stage(scene) => {
                scene.session().trace().record(TraceEvent::Failed(error));
                scene.interrupt();
            }
        }
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> &Report {
        match self {
            Self::Gateway(session) => session.report(),
            Self::Stage(scene) => scene.report(),
        }
    }

    /// The usage to show; what a server counted is added to the metrics.
    pub fn counted_usage(&self, usage: Option<Usage>) -> Usage {
        let usage = match self {
            Self::Gateway(session) => session.usage_or_estimate(usage),
            Self::Stage(scene) => scene.usage_or_estimate(usage),
        };
        if !usage.estimated {
            metrics::tokens(usage.prompt_tokens, usage.completion_tokens);
        }
        usage
    }

    /// The character's turn, if one plays.
    pub fn scene(&self) -> Option<&Scene> {
        match self {
            Self::Gateway(_) => None,
            Self::Stage(scene) => Some(scene),
        }
    }
}
