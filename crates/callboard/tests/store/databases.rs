//! Databases for tests: each is new and empty, and removed after the test.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callboard::store::{Address, Store, StoreError, StoreSettings};

use crate::test_server::{Server, new_name};

/// The duration of leases in tests.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

/// The kinds of databases.
pub(crate) enum Kind {
    Memory,
    File,
    Postgres(Server),
}

/// An empty database.
pub(crate) struct Database {
    pub address: String,
    folder: Option<PathBuf>,
    /// The schema on a server; also the application name of its connections.
    pub(crate) schema: Option<String>,
}

impl Database {
    pub(crate) fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Memory => Self { address: "sqlite::memory:".to_owned(), folder: None, schema: None },
            Kind::File => {
                let folder = std::env::temp_dir().join(new_name("store"));
                std::fs::create_dir(&folder).unwrap();
                let address = format!("sqlite:{}", folder.join("store.db").display());
                Self { address, folder: Some(folder), schema: None }
            }
            Kind::Postgres(server) => {
                let schema = new_name("schema");
                postgres(&server.url, &format!("CREATE SCHEMA {schema}")).unwrap();
                let address = format!("{}?options=-c%20search_path%3D{schema}&application_name={schema}", server.url);
                Self { address, folder: None, schema: Some(schema) }
            }
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.address == "sqlite::memory:"
    }

    pub(crate) fn open(&self) -> Store {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Store, StoreError> {
        open(&self.address, &new_name("instance"))
    }

    /// Opens it with this limit on histories.
    pub(crate) fn open_with(&self, history_bytes: u64) -> Store {
        let settings = StoreSettings { history_bytes, ..StoreSettings::new(new_name("instance")) };
        Store::open(&Address::read(&self.address).unwrap(), settings).unwrap()
    }

    /// The number of rows in a table, read without the store.
    pub(crate) fn count(&self, table: &str) -> u64 {
        let sql = format!("SELECT count(*) FROM {table}");
        match Address::read(&self.address).unwrap() {
            Address::Memory => panic!("a database in memory has no back"),
            Address::Postgres(url) => postgres_count(&url, &sql),
            Address::File { path, .. } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() as u64
            }
        }
    }

    /// The number of pages in its file, if it has one.
    pub(crate) fn pages(&self) -> Option<i64> {
        let Ok(Address::File { path, .. }) = Address::read(&self.address) else { return None };
        let connection = rusqlite::Connection::open(path).unwrap();
        Some(connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap())
    }

    /// Executes several statements without the store.
    pub(crate) fn execute_all(&self, sql: &str) {
        match Address::read(&self.address).unwrap() {
            Address::Memory => panic!("a database in memory has no back"),
            Address::File { path, .. } => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
            Address::Postgres(url) => block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
                let (done, ended) = tokio::join!(async move { client.batch_execute(sql).await }, connection);
                done.and(ended).unwrap();
            }),
        }
    }

    /// Executes a statement without the store.
    pub(crate) fn execute(&self, sql: &str) -> u64 {
        match Address::read(&self.address).unwrap() {
            Address::Memory => panic!("a database in memory has no back"),
            Address::Postgres(url) => postgres(&url, sql).unwrap(),
            Address::File { path, .. } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(Duration::from_secs(60)).unwrap();
                connection.execute(sql, []).unwrap() as u64
            }
        }
    }
}

impl Database {
    /// Kills a process of the server, which makes it end all others and recover from its log.
    pub(crate) fn crash(&self) {
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let _ = postgres(&self.address, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'");
        // The server takes connections until it has noticed the death; its helpers are started anew after the recovery.
        let recovered = format!(
            "SELECT FROM pg_stat_activity WHERE backend_type = 'checkpointer' AND backend_start > to_timestamp({begun})"
        );
        while postgres(&self.address, &recovered).ok() != Some(1) {}
    }

    /// Executes a write on a read-only server.
    pub(crate) fn execute_writing(&self, sql: &str) {
        let url = self.address.replace("options=", "options=-c%20default_transaction_read_only%3Doff%20");
        postgres(&url, sql).unwrap();
    }

    /// The address for a user with write access to the tables and these privileges on the schema.
    pub(crate) fn guest(&self, limits: &str, rights: &str) -> String {
        drop(self.open());
        let (schema, guest) = (self.schema.as_ref().unwrap(), new_name("guest"));
        for sql in [
            format!("CREATE ROLE {guest} LOGIN {limits}"),
            format!("GRANT {rights} ON SCHEMA {schema} TO {guest}"),
            format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {guest}"),
        ] {
            self.execute(&sql);
        }
        self.address.replace("//callboard@", &format!("//{guest}@"))
    }

    /// Terminates all connections of stores.
    pub(crate) fn terminate_connections(&self) {
        assert!(self.execute(&format!("SELECT pg_terminate_backend(pid) {}", self.others())) > 0);
        while self.connections() > 0 {}
    }

    /// Locks all conversations until a store waits for a lock, and terminates the connection of that store.
    pub(crate) fn terminate_lock_waiter(&self) {
        let others = self.others();
        self.execute_all(&format!(
            "DO $$ BEGIN PERFORM 1 FROM conversations FOR UPDATE; LOCK TABLE traces IN ROW SHARE MODE; LOOP \
             PERFORM pg_terminate_backend(pid) {others} AND wait_event_type = 'Lock'; EXIT WHEN FOUND; \
             PERFORM pg_stat_clear_snapshot(); END LOOP; END $$"
        ));
    }

    /// Waits until [`Self::terminate_lock_waiter`] has locked the rows of conversations, which it shows by a lock that it takes after them.
    pub(crate) fn wait_until_locked(&self) {
        let held = "SELECT FROM pg_locks WHERE relation = 'traces'::regclass AND mode = 'RowShareLock' AND granted";
        while self.execute(held) == 0 {}
    }

    /// The number of connections of stores.
    pub(crate) fn connections(&self) -> u64 {
        self.execute(&format!("SELECT pid {}", self.others()))
    }

    fn others(&self) -> String {
        let name = self.schema.as_ref().unwrap();
        format!("FROM pg_stat_activity WHERE application_name = '{name}' AND pid <> pg_backend_pid()")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Opens a store as a process of that name, with short leases.
pub(crate) fn open(address: &str, instance: &str) -> Result<Store, StoreError> {
    let settings = StoreSettings { lease: LEASE, ..StoreSettings::new(instance) };
    Store::open(&Address::read(address)?, settings)
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn postgres(url: &str, sql: &str) -> Result<u64, tokio_postgres::Error> {
    block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        let (outcome, ended) = tokio::join!(async move { client.execute(sql, &[]).await }, connection,);
        ended?;
        outcome
    })
}

fn postgres_count(url: &str, sql: &str) -> u64 {
    block_on_new_thread(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let (row, ended) = tokio::join!(async move { client.query_one(sql, &[]).await }, connection);
        ended.unwrap();
        row.unwrap().get::<_, i64>(0) as u64
    })
}

/// On a new thread, since a runtime cannot block on another one.
fn block_on_new_thread<T: Send>(future: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| block_on(future)).join().unwrap())
}
