//! Who sends a request: key, owner, named conversation, trace.

use callboard_core::model::BadRequest;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use super::keys::bearer;
use super::router::Shared;
use crate::conversation::ChatOwner;
use crate::hex;
use crate::memory_budget::RequestMemory;
use crate::session::TurnContext;
use crate::trace::{ClientRequest, TraceParent};

/// Names a conversation with a character.
pub(super) const CONVERSATION: HeaderName = HeaderName::from_static("callboard-conversation");

/// The name becomes part of what is stored.
const LONGEST_NAME: usize = 512;

/// The sender of a request.
#[derive(Clone)]
pub(super) struct Requester {
    /// The key to pass on to model servers that have none configured.
    pub(super) authorization: Option<HeaderValue>,
    /// Identifies the client by a hash of its key. Without configured keys all clients are one owner: what one has begun another can
    /// continue.
    pub(super) owner: String,
    /// The trace that the client has begun.
    pub(super) caller: Option<TraceParent>,
    /// What the client calls itself.
    user_agent: Option<HeaderValue>,
}

impl Requester {
    pub(super) fn of(shared: &Shared, headers: &HeaderMap) -> Self {
        let (authorization, owner) = match shared.keys.is_open() {
            true => (headers.get(AUTHORIZATION).cloned(), String::new()),
            false => (None, bearer(headers).map(owner).unwrap_or_default()),
        };
        Self { authorization, owner, caller: TraceParent::of(headers), user_agent: headers.get(USER_AGENT).cloned() }
    }

    /// A request of this client, for the trace of its turn.
    pub(super) fn traced<'a>(&'a self, endpoint: &'static str, body: Option<&'a str>) -> ClientRequest<'a> {
        let client = self.user_agent.as_ref().and_then(|name| name.to_str().ok());
        let client = client.filter(|name| name.len() <= LONGEST_NAME);
        ClientRequest { endpoint, client, body, caller: self.caller.as_ref(), named_conversation: None }
    }

    /// What a turn for this client needs.
    pub(super) fn turn_context<'a>(
        &self,
        shared: &'a Shared,
        request_id: &str,
        memory: &RequestMemory,
    ) -> TurnContext<'a> {
        let app = &shared.app;
        TurnContext {
            settings: &app.settings,
            tools: &app.tools,
            upstreams: &app.upstreams,
            client: shared.client.clone(),
            authorization: self.authorization.clone(),
            request_id: request_id.to_owned(),
            memory: memory.clone(),
        }
    }

    /// The owner of a chat history, with the conversation that the client names.
    pub(super) fn chat_owner(&self, conversation: Option<&HeaderValue>) -> Result<ChatOwner, BadRequest> {
        let name = |value: &HeaderValue| {
            let name = std::str::from_utf8(value.as_bytes()).ok().filter(|name| name.chars().count() <= LONGEST_NAME);
            name.map(str::to_owned).ok_or_else(|| {
                let message = format!("the header {CONVERSATION} must be text of at most {LONGEST_NAME} characters");
                BadRequest::invalid(CONVERSATION.as_str(), message)
            })
        };
        let conversation = conversation.map(name).transpose()?;
        Ok(ChatOwner { owner: self.owner.clone(), conversation })
    }
}

/// However the header is written, a key is one owner.
fn owner(key: &str) -> String {
    let digest = Sha256::digest(format!("Bearer {key}"));
    hex::encode(&digest[..16])
}
