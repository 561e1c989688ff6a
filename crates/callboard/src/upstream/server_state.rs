//! Whether a model server answers: asked at start, by `callboard upstreams`, for `/ready`, and once it is set aside.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};

use super::supervised::{Phase, ServerStatus};
use super::{Client, Failure, Upstream, model_list_cache};

pub(super) const MOST_LIST_BYTES: usize = 4 << 20;
/// Lists are short, so the timeout is, too.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// The most models that are shown by name.
const MOST_NAMED: usize = 5;

/// What a server does when it is asked for its models.
#[derive(Debug)]
pub enum ServerState {
    /// It lists these.
    Lists(Vec<String>),
    /// It is up, and has no such list.
    ListsNothing(StatusCode),
    /// It was sent no key.
    WantsKey(StatusCode),
    /// It refuses its key.
    RefusesKey(StatusCode),
    /// Callboard starts it, and it is not ready.
    NotReady(Box<ServerStatus>),
    /// It does not answer.
    Down(Failure),
}

impl Upstream {
    /// Asks the server for its models, unless it is one that Callboard starts and is not ready.
    pub async fn state(&self, client: &Client) -> ServerState {
        match self.not_ready() {
            Some(state) => state,
            None => self.asked_state(client).await,
        }
    }

    /// Asks the server for its models.
    pub(super) async fn asked_state(&self, client: &Client) -> ServerState {
        match fetch_list(self, client, None).await {
            Ok(body) => {
                let list = model_list_cache::entries(&body);
                self.identify(&list, client).await;
                ServerState::Lists(list.iter().filter_map(model_list_cache::id_of).map(str::to_owned).collect())
            }
            Err(Failure::Refused { status: status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN), .. }) => {
                if self.key.is_some() { ServerState::RefusesKey(status) } else { ServerState::WantsKey(status) }
            }
            // A proxy whose server is down or loading answers with these.
            Err(Failure::Refused { status, .. }) if !matches!(status.as_u16(), 502..=504) => {
                ServerState::ListsNothing(status)
            }
            Err(failure) => ServerState::Down(failure),
        }
    }
}

impl ServerState {
    /// True when the server is up, or the first request would start it.
    pub fn answers(&self) -> bool {
        match self {
            Self::NotReady(status) => matches!(status.phase, Phase::Unstarted(true)),
            Self::Down(_) => false,
            _ => true,
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lists(models) if models.is_empty() => f.write_str("answers, and lists no models"),
            Self::Lists(models) => {
                let plural = if models.len() == 1 { "model" } else { "models" };
                let named = models.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if models.len() > MOST_NAMED { ", …" } else { "" };
                write!(f, "answers, {} {plural}: {named}{more}", models.len())
            }
            Self::ListsNothing(status) => {
                write!(f, "answers with status {} when asked for its models; is the base URL right?", status.as_u16())
            }
            Self::WantsKey(status) => write!(
                f,
                "wants a key (status {}): name the variable that holds one with --upstream-key-env NAME; without api_keys, the key of \
                 each client is passed on",
                status.as_u16()
            ),
            Self::RefusesKey(status) => {
                write!(f, "refuses its key (status {}); check the variable that its key_env names", status.as_u16())
            }
            Self::NotReady(status) => write!(f, "{status}"),
            Self::Down(failure) => write!(f, "does not answer: {failure}"),
        }
    }
}

/// The body of its list of models.
pub(super) async fn fetch_list(
    upstream: &Upstream,
    client: &Client,
    authorization: Option<&HeaderValue>,
) -> Result<Bytes, Failure> {
    let asked = client.get(upstream, "/models", authorization, MOST_LIST_BYTES);
    let late = |_| Failure::Timeout { phase: "waiting for the list of models", seconds: LIST_TIMEOUT.as_secs_f64() };
    tokio::time::timeout(LIST_TIMEOUT, asked).await.map_err(late)?
}
