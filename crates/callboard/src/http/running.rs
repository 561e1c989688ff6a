//! Who asks, and the turn that is begun for them: what Chat Completions and Responses have in common.

use std::sync::Arc;

use callboard_core::model::BadRequest;
use callboard_core::turn::{Turn, TurnRequest, TurnSettings};
use callboard_core::wire::chat::ChatRequest;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use super::router::Shared;
use crate::random;
use crate::session::{Asking, Session, SessionParts, UnderWay};
use crate::stage::{Asked, Role, SceneParts};
use crate::trace::TraceParent;
use crate::upstream::Route;

/// Names a conversation with a character.
const CONVERSATION: HeaderName = HeaderName::from_static("callboard-conversation");

/// The name becomes part of what is stored.
const LONGEST_NAME: usize = 512;

/// Who asks.
#[derive(Clone)]
pub(super) struct Asker {
    /// The key to pass on to model servers that have none of their own.
    pub(super) authorization: Option<HeaderValue>,
    /// Tells people apart by the keys they show, without telling the key. Without keys of ours nobody checks what is shown, and
    /// everyone on this machine is the same person: what one client has begun another can go on with.
    pub(super) owner: String,
    /// The conversation that the client names.
    pub(super) conversation: Option<String>,
    /// The trace that the client has begun.
    pub(super) caller: Option<TraceParent>,
}

impl Asker {
    pub(super) fn of(shared: &Shared, headers: &HeaderMap) -> Self {
        let shown = headers.get(AUTHORIZATION);
        let (authorization, owner) = match shared.app.keys.is_open() {
            true => (shown.cloned(), String::new()),
            false => (None, shown.map(owner).unwrap_or_default()),
        };
        Self { authorization, owner, conversation: None, caller: TraceParent::of(headers) }
    }

    /// The same, and the conversation that is named, for those who may name one.
    pub(super) fn naming(shared: &Shared, headers: &HeaderMap) -> Result<Self, BadRequest> {
        let Some(value) = headers.get(CONVERSATION) else { return Ok(Self::of(shared, headers)) };
        let name = std::str::from_utf8(value.as_bytes()).ok().filter(|name| name.chars().count() <= LONGEST_NAME);
        let name = name.ok_or_else(|| {
            let message = format!("the header {CONVERSATION} must be text of at most {LONGEST_NAME} characters");
            BadRequest::invalid(CONVERSATION.as_str(), message)
        })?;
        Ok(Self { conversation: Some(name.to_owned()), ..Self::of(shared, headers) })
    }
}

fn owner(shown: &HeaderValue) -> String {
    let digest = Sha256::digest(shown.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The engine of a turn for a client with its own tools.
pub(super) fn engine(shared: &Shared, turn: TurnRequest, reasks: usize) -> Turn {
    let settings = &shared.app.settings;
    let turn_settings = TurnSettings {
        reasks: u32::try_from(reasks).unwrap_or(u32::MAX),
        stream_arguments: settings.contract.stream_arguments,
        arguments_bytes: settings.limits.arguments_bytes,
    };
    Turn::new(turn, turn_settings, Box::new(random::bytes))
}

/// What a character's turn needs.
pub(super) fn scene_parts<'a>(
    shared: &'a Shared,
    request_id: &str,
    role: Arc<Role>,
    asked: Asked<'a>,
    asker: Asker,
) -> SceneParts<'a> {
    let app = &shared.app;
    SceneParts {
        role,
        asked,
        settings: &app.settings,
        tools: &app.tools,
        upstreams: &app.upstreams,
        client: shared.client.clone(),
        authorization: asker.authorization,
        request_id: request_id.to_owned(),
        random: random::bytes,
    }
}

/// A turn for a client with its own tools.
pub(super) fn session(
    shared: &Shared,
    request_id: &str,
    request: ChatRequest,
    turn: TurnRequest,
    routes: Vec<Route>,
    asker: Asker,
) -> Session {
    let settings = &shared.app.settings;
    Session::new(SessionParts {
        turn: engine(shared, turn, settings.contract.reasks),
        request,
        asking: Asking {
            routes,
            client: shared.client.clone(),
            authorization: asker.authorization,
            retries: settings.limits.retries,
            request_id: request_id.to_owned(),
            under_way: UnderWay::default(),
        },
        idle: settings.timeouts.idle,
        keep_alive: settings.timeouts.keep_alive,
        reply_bytes: settings.limits.reply_bytes,
        performer: None,
    })
}
