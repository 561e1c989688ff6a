//! Questions asked without Callboard: the client's request goes to the model server as it is, and the reply is taken at its word.

use callboard_core::model::{CallFragment, Delta};
use serde_json::Value;

use super::valid_calls::WrittenCall;
use crate::services::Services;

/// A reply as a client without Callboard sees it.
#[derive(Default)]
pub(super) struct DirectReply {
    pub(super) calls: Vec<WrittenCall>,
    pub(super) text: String,
}

/// Sends a request to the first server that has the model.
pub(super) async fn ask(app: &Services, mut body: Value) -> Result<DirectReply, String> {
    let client = app.client();
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    let routes = app.upstreams.routes(&model, &client, None).await;
    let routes = routes.map_err(|missing| missing.to_api([]).message)?;
    let route = routes.first().ok_or("there is no model server")?;
    body["model"] = route.model.as_str().into();
    let sent = client.chat(&route.upstream, None, http::HeaderMap::new(), body.to_string().into_bytes()).await;
    let reply = sent.map_err(|failure| failure.to_string())?;
    let whole = reply.read_whole(app.settings.limits.reply_bytes).await.map_err(|failure| failure.to_string())?;
    let mut direct = DirectReply::default();
    whole.deltas.into_iter().for_each(|delta| direct.add(delta));
    Ok(direct)
}

impl DirectReply {
    fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Call(CallFragment { name, arguments, .. }) => {
                self.calls
                    .push(WrittenCall { name: name.unwrap_or_default(), arguments: arguments.unwrap_or_default() });
            }
            _ => {}
        }
    }
}
