//! Conversations move between two stores on one database at random: nothing is lost or reordered.

use std::sync::Mutex;

use callboard::store::{ItemPage, NewItem, TurnWrite};

use crate::contract::{WAIT, made, memory_after, new, replayed};
use crate::databases::{Database, Kind, block_on};

const CONVERSATIONS: usize = 200;
const THREADS: usize = 4;
const TURNS: usize = 300;

pub(crate) fn run(kind: &Kind) {
    let database = Database::new(kind);
    let stores = [database.open(), database.open()];
    for number in 0..CONVERSATIONS {
        block_on(stores[0].create_conversation(new(&format!("conv_{number}"), 1))).unwrap();
    }
    // The items written to each conversation, in the order of its turns.
    let written: Vec<Mutex<Vec<String>>> = (0..CONVERSATIONS).map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (stores, written) = (&stores, &written);
            scope.spawn(move || {
                for turn in 0..TURNS {
                    let mut random = [0; 2];
                    getrandom::fill(&mut random).unwrap();
                    // Half of the turns go to five conversations.
                    let among = if turn % 2 == 0 { CONVERSATIONS } else { 5 };
                    let number = usize::from(random[0]) % among;
                    let store = &stores[usize::from(random[1]) % 2];
                    block_on(async {
                        let playing = store.begin_turn(&format!("conv_{number}"), WAIT).await.unwrap();
                        let id = format!("item_{thread}_{turn}");
                        written[number].lock().unwrap().push(id.clone());
                        let version = playing.head().conversation.version;
                        let items = vec![NewItem { id, body: "{}".to_owned() }];
                        let made = vec![made(turn, &format!("{{\"turns\":{}}}", version + 1))];
                        let memory = memory_after(playing.head(), None, made);
                        playing.finish(TurnWrite { items, memory, ..TurnWrite::default() }).await.unwrap();
                    });
                }
            });
        }
    });
    for (number, written) in written.iter().enumerate() {
        let (id, written) = (format!("conv_{number}"), written.lock().unwrap());
        let page = ItemPage { after: None, descending: false, limit: 10_000 };
        let items = block_on(stores[number % 2].items(&id, page)).unwrap();
        assert_eq!(items.into_iter().map(|item| item.id).collect::<Vec<_>>(), *written, "{id}");
        let head = block_on(stores[0].conversation_head(&id)).unwrap().unwrap();
        assert_eq!(head.conversation.version, written.len() as i64);
        assert_eq!(block_on(replayed(&stores[1], &id)), head.state().unwrap_or("{}"));
    }
}
