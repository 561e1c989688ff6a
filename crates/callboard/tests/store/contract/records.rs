//! Responses, traces and counts.

use callboard::store::{Count, Exchange, Response, Store, Trace, TraceFilter, TracePage, TurnRecords};

use super::run::Promise;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("a response is stored, gets a new body, expires and is deleted", responses),
    ("responses are followed back to the first", chains),
    ("traces are listed newest first, page by page", traces),
    ("traces are found by conversation, character and model", found_traces),
    ("counts add up, also from many threads at once", counts),
];

pub(crate) fn response(id: &str, previous: Option<&str>, at: i64) -> Response {
    let exchange = Exchange {
        id: id.to_owned(),
        owner: "someone".to_owned(),
        conversation: None,
        previous: previous.map(str::to_owned),
        input: "[]".to_owned(),
        output: "[]".to_owned(),
    };
    Response { exchange, created_at: at, expires_at: None, body: format!("{{\"id\":\"{id}\"}}") }
}

/// A response of a conversation.
pub(crate) fn response_in(conversation: &str, response: Response) -> Response {
    Response { exchange: Exchange { conversation: Some(conversation.to_owned()), ..response.exchange }, ..response }
}

pub(crate) async fn put(store: &Store, response: Response) {
    store.write_records(&TurnRecords { response: Some(response), ..TurnRecords::default() }).await.unwrap();
}

pub(crate) fn trace(number: i64, at: i64) -> Trace {
    Trace {
        id: format!("trace_{number}"),
        conversation: None,
        request_id: Some(format!("req_{}", number % 2)),
        created_at: at,
        body: "{}".to_owned(),
        content_of: None,
    }
}

fn responses(database: &Database) {
    let store = database.open();
    block_on(async {
        let first = response_in("conv_1", response("resp_1", None, 5));
        put(&store, first.clone()).await;
        assert_eq!(store.response("resp_1", 9).await.unwrap(), Some(first.clone()));
        let exchange = Exchange { output: r#"[{"text":"é"}]"#.to_owned(), ..first.exchange };
        let body = r#"{"status":"completed","output":[],"top_p":1.0}"#.to_owned();
        let done = Response { exchange, body, expires_at: Some(20), ..first };
        put(&store, done.clone()).await;
        let found = store.response("resp_1", 19).await.unwrap().unwrap();
        assert_eq!(found.to_text().unwrap(), r#"{"status":"completed","output":[{"text":"é"}],"top_p":1.0}"#);
        assert_eq!(found, done);
        assert_eq!(store.response("resp_1", 20).await.unwrap(), None);
        assert!(store.delete_response("resp_1", 9).await.unwrap());
        assert!(!store.delete_response("resp_1", 9).await.unwrap());
        assert_eq!(store.response("resp_1", 9).await.unwrap(), None);
    });
}

fn chains(database: &Database) {
    let store = database.open();
    block_on(async {
        put(&store, response("resp_1", None, 1)).await;
        put(&store, response("resp_2", Some("resp_1"), 2)).await;
        put(&store, response("resp_3", Some("resp_2"), 3)).await;
        put(&store, response("resp_4", Some("resp_2"), 4)).await;
        let chain = async |id: &str, most| {
            let chain = store.response_chain(id, most, Some(0)).await.unwrap();
            chain.exchanges.into_iter().map(|exchange| exchange.id).collect::<Vec<_>>()
        };
        assert_eq!(chain("resp_3", 100).await, ["resp_1", "resp_2", "resp_3"]);
        assert_eq!(chain("resp_4", 100).await, ["resp_1", "resp_2", "resp_4"]);
        assert_eq!(chain("resp_4", 2).await, ["resp_2", "resp_4"]);
        assert_eq!(chain("resp_9", 100).await, [""; 0]);
    });
}

fn traces(database: &Database) {
    let store = database.open();
    block_on(async {
        let body = r#"{"character":null,"model":"m","id":"x"}"#;
        let trace = |number, at| Trace { body: body.to_owned(), ..trace(number, at) };
        for (number, at) in [(1, 1), (2, 2), (3, 2), (4, 3)] {
            store
                .write_records(&TurnRecords { trace: Some(trace(number, at)), ..TurnRecords::default() })
                .await
                .unwrap();
        }
        assert_eq!(store.trace("trace_2").await.unwrap(), Some(trace(2, 2)));
        assert_eq!(store.trace("trace_9").await.unwrap(), None);
        let all = TraceFilter::default();
        let page = TracePage { before: None, limit: 2 };
        assert_eq!(store.traces_like(&page, &all).await.unwrap(), [trace(4, 3), trace(3, 2)]);
        let page = TracePage { before: Some((2, "trace_3".to_owned())), limit: 9 };
        assert_eq!(store.traces_like(&page, &all).await.unwrap(), [trace(2, 2), trace(1, 1)]);
    });
}

fn found_traces(database: &Database) {
    let store = database.open();
    let kept = |number, conversation: &str, character: &str, model: &str| Trace {
        conversation: (!conversation.is_empty()).then(|| conversation.to_owned()),
        body: format!("{{\"character\":{character},\"model\":{model},\"id\":\"x\"}}"),
        ..trace(number, number)
    };
    let all = vec![
        kept(1, "", "null", r#""m""#),
        kept(2, "c1", r#""bard""#, r#""m""#),
        kept(3, "c1", r#""bard""#, r#""100%_!""#),
        kept(4, "c2", r#""bard""#, r#""100__!""#),
    ];
    block_on(async {
        store.store_traces(all, Vec::new()).await.unwrap();
        store.store_traces(Vec::new(), Vec::new()).await.unwrap();
        let found = async |conversation: &str, character: &str, model: &str| {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let filter = TraceFilter {
                conversation: text(conversation),
                character: text(character),
                model: text(model),
                ..TraceFilter::default()
            };
            let page = TracePage { before: None, limit: 9 };
            let found = store.traces_like(&page, &filter).await.unwrap();
            found.into_iter().map(|trace| trace.created_at).collect::<Vec<_>>()
        };
        assert_eq!(found("", "", "").await, [4, 3, 2, 1]);
        assert_eq!(found("c1", "", "").await, [3, 2]);
        assert_eq!(found("", "bard", "m").await, [2]);
        assert_eq!(found("", "", "m").await, [2, 1]);
        assert_eq!(found("", "", "100%_!").await, [3]);
        assert_eq!(found("c2", "bard", "m").await, [0; 0]);
        for (conversation, request, limit, expected) in [
            (None, "req_1", 9, &[3, 1][..]),
            (Some("c1"), "req_1", 9, &[3]),
            (None, "req_0", 1, &[4]),
            (None, "req", 9, &[]),
        ] {
            let (conversation, request_id) = (conversation.map(str::to_owned), Some(request.to_owned()));
            let filter = TraceFilter { conversation, request_id, ..TraceFilter::default() };
            let traces = store.traces_like(&TracePage { before: None, limit }, &filter).await.unwrap();
            assert_eq!(traces.into_iter().map(|trace| trace.created_at).collect::<Vec<_>>(), expected, "{request}");
        }
    });
}

fn counts(database: &Database) {
    const THREADS: i64 = 4;
    const TIMES: i64 = 25;
    let store = database.open();
    let count = |day, name: &str, amount| Count {
        day,
        character: "narrator".to_owned(),
        model: "m".to_owned(),
        name: name.to_owned(),
        amount,
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = store.clone();
            scope.spawn(move || {
                for _ in 0..TIMES {
                    let mut counts = vec![count(1, "turns", 1), count(1, "repaired", 2), count(2, "turns", 3)];
                    counts.rotate_left(thread as usize % 3);
                    block_on(store.write_records(&TurnRecords { counts, ..TurnRecords::default() })).unwrap();
                }
            });
        }
    });
    let times = THREADS * TIMES;
    let expected = [count(1, "repaired", 2 * times), count(1, "turns", times), count(2, "turns", 3 * times)];
    assert_eq!(block_on(store.counts(0)).unwrap(), expected);
    assert_eq!(block_on(store.counts(2)).unwrap(), expected[2..]);
}
