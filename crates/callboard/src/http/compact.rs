//! `POST /v1/responses/compact`: the model summarizes a conversation, so that the client can go on with less.

use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{CompactionRequest, CompactionStamp, CompactionWriter};

use super::chat_session::model_routes;
use super::delivery::{Incoming, Prepared, Wire};
use super::router::Shared;
use crate::clock;
use crate::conversation::{ContextQuery, Saving, compaction_item_ids, load_context, new_compaction_id};
use crate::session::{Session, TurnDriver, character_model};
use crate::trace::TraceEvent;

/// The compaction of a conversation.
pub(super) struct Compact;

impl Wire for Compact {
    const ENDPOINT: &'static str = "compact";
    type Writer = CompactionWriter;

    async fn open(shared: &Shared, mut incoming: Incoming) -> Result<Prepared<CompactionWriter>, ApiError> {
        let mut compaction = CompactionRequest::read(std::mem::take(&mut incoming.body))?;
        incoming.log.model(&compaction.request.model);
        let Incoming { id: request_id, requester, memory, recorded, .. } = &incoming;
        let context = requester.turn_context(shared, request_id, memory);
        let asked = compaction.request.model.clone();
        let character = shared.app.characters.for_model(&asked)?;
        let (store, owner, known) = (&shared.store, &requester.owner, character.as_deref());
        let query = ContextQuery { store, connection: None, owner, character: known, model: &asked, memory };
        let earlier = load_context(&mut compaction.request, &query).await?.items;
        let model = match &character {
            Some(character) => character_model(&context, character.character.manifest()).await?,
            None => asked,
        };
        let new_id = compaction_item_ids(&compaction.request, &earlier);
        let previous = compaction.request.previous_response_id.clone();
        let (id, created_at) = (new_compaction_id(), clock::seconds());
        let stamp = CompactionStamp { id, created_at, model: model.clone(), new_id };
        let (chat, writer) = compaction.prepare(earlier, stamp, context.tools)?;
        let routes = model_routes(shared, requester, &model).await?;
        let mut driver = TurnDriver::gateway(context, chat, routes);
        let trace = driver.trace_with(&shared.app.traces, requester.traced(Self::ENDPOINT, recorded.as_deref()));
        // What is recorded of it is deleted with the response.
        trace.record(TraceEvent::StoredAs { conversation: None, response: previous.as_deref() });
        Ok(Prepared::Whole(Session::new(Some(driver), writer, Saving::Nothing)))
    }
}
