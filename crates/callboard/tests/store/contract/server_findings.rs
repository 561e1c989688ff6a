//! What was found out about model servers.

use callboard::store::{FindingChange, Retention, ServerFinding};

use super::run::Promise;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("findings about servers are kept, found again and forgotten", kept),
    ("changes of findings take effect in their order", in_order),
    ("old findings are pruned", pruned),
];

fn finding(model: &str, name: &str, found_at: i64) -> ServerFinding {
    ServerFinding {
        upstream: "http://a/v1".to_owned(),
        model: model.to_owned(),
        kind: "capability".to_owned(),
        name: name.to_owned(),
        value: "ignored".to_owned(),
        found_at,
        version: String::new(),
    }
}

fn forgotten(model: &str) -> FindingChange {
    FindingChange::Forgotten { upstream: "http://a/v1".to_owned(), model: model.to_owned() }
}

fn kept(database: &Database) {
    let (first, second) = (finding("m", "tools", 5), finding("n", "tools", 5));
    let again = ServerFinding { value: "honored".to_owned(), found_at: 9, version: "2".to_owned(), ..first.clone() };
    block_on(async {
        let store = database.open();
        assert_eq!(store.server_findings().await.unwrap(), []);
        store.change_server_findings(&[]).await.unwrap();
        for found in [&first, &second, &again] {
            store.change_server_findings(&[FindingChange::Found(found.clone())]).await.unwrap();
        }
        assert_eq!(store.server_findings().await.unwrap(), [again, second.clone()]);
        store.change_server_findings(&[forgotten("m")]).await.unwrap();
        assert_eq!(store.server_findings().await.unwrap(), [second]);
    });
}

fn in_order(database: &Database) {
    let found = finding("m", "tools", 5);
    block_on(async {
        let store = database.open();
        let changes =
            [FindingChange::Found(finding("m", "strict", 1)), forgotten("m"), FindingChange::Found(found.clone())];
        store.change_server_findings(&changes).await.unwrap();
        assert_eq!(store.server_findings().await.unwrap(), [found]);
    });
}

fn pruned(database: &Database) {
    let day = 24 * 60 * 60 * 1000;
    block_on(async {
        let store = database.open();
        let all = [finding("m", "old", 0), finding("m", "young", 2 * day)];
        store.change_server_findings(&all.clone().map(FindingChange::Found)).await.unwrap();
        store.prune(&Retention::default(), 9 * day).await.unwrap();
        assert_eq!(store.server_findings().await.unwrap(), all);
        store.prune(&Retention { findings: Some(7), ..Retention::default() }, 9 * day).await.unwrap();
        assert_eq!(store.server_findings().await.unwrap(), [finding("m", "young", 2 * day)]);
    });
}
