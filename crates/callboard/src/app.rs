//! The composition root: builds everything once, in order, and owns it.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::Context as _;
use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_python::{HostSettings, Limits, OutputSink};
use http::HeaderValue;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::config::{Settings, UpstreamSettings};
use crate::http::Keys;
use crate::random;
use crate::server;
use crate::stage::{self, Cast, Conversations};
use crate::store::{Address, Keep, Retention, Store, StoreSettings};
use crate::telemetry;
use crate::trace::otlp::{Collector, Outbox};
use crate::trace::{TraceRules, Traces};
use crate::upstream::{Alias, Client, Tls, Upstream, Upstreams, is_own_address, local_servers};

/// What all threads share.
pub struct App {
    /// What holds.
    pub settings: Settings,
    /// Compiled tools.
    pub tools: ToolCache,
    /// The model servers.
    pub upstreams: Upstreams,
    /// The keys that clients must show.
    pub keys: Keys,
    /// Renders the metrics.
    pub metrics: PrometheusHandle,
    /// The characters.
    pub cast: Arc<Cast>,
    /// What lasts.
    pub store: Store,
    /// What is remembered of conversations in Chat Completions.
    pub conversations: Conversations,
    /// What turns do, on its way to the store, to `/metrics` and to a collector.
    pub traces: Traces,
    /// Requests being answered, all threads together.
    pub in_flight: Arc<AtomicUsize>,
    tls: Tls,
}

impl App {
    /// Builds the parts from the settings.
    pub fn build(settings: Settings) -> anyhow::Result<Self> {
        let limits = &settings.limits;
        let schema_limits =
            SchemaLimits { tools: limits.tools, depth: limits.schema_depth, properties: limits.schema_properties };
        let mut upstreams = settings.upstreams.iter().map(upstream).collect::<anyhow::Result<Vec<_>>>()?;
        upstreams.push(Upstream::rehearsal(upstreams.is_empty()));
        let collector = Collector::find(&settings.otlp, |name| std::env::var(name).ok())?;
        let needs_tls = upstreams.iter().any(|upstream| upstream.url.starts_with("https:"))
            || collector.as_ref().is_some_and(Collector::needs_tls);
        let store = open_store(&settings, server::thread_count(settings.threads))?;
        let traces = Traces::new(trace_rules(&settings), store.clone(), collector.map(Outbox::new));
        Ok(Self {
            traces,
            tools: ToolCache::new(schema_limits),
            upstreams: Upstreams::new(upstreams),
            keys: Keys::new(settings.api_keys.iter().map(|key| key.expose().to_owned())),
            metrics: telemetry::metrics::start().context("metrics cannot be started")?,
            cast: Arc::new(Cast::new(settings.characters.clone(), company(&settings, stage::terminal()))),
            conversations: Conversations::new(store.clone()),
            store,
            in_flight: Arc::default(),
            tls: Tls::load(needs_tls).context("the system's certificates cannot be loaded")?,
            settings,
        })
    }

    /// How long things are kept.
    pub fn retention(&self) -> Retention {
        let days = |days: usize| Keep { days: u32::try_from(days).ok().filter(|days| *days > 0), most: None };
        let keep = &self.settings.keep;
        Retention {
            conversations: days(keep.conversation_days),
            responses: days(keep.response_days),
            snapshots: days(keep.history_days),
            traces: days(keep.trace_days),
        }
    }

    /// A pool of connections for one thread.
    pub fn client(&self) -> Client {
        let timeouts = &self.settings.timeouts;
        Client::new(&self.tls, timeouts.connect, timeouts.first_byte)
    }
}

/// Opens what lasts, for so many threads that serve.
pub fn open_store(settings: &Settings, serving_threads: usize) -> anyhow::Result<Store> {
    let address = Address::read(settings.store.expose())?;
    let (connections, history_bytes) = (settings.store_connections, settings.limits.history_bytes as u64);
    let usual = StoreSettings::new(random::letters::<12>());
    Store::open(&address, StoreSettings { connections, serving_threads, history_bytes, ..usual })
        .with_context(|| format!("the store {address} cannot be opened; name another with --store"))
}

/// What is recorded of turns. Only names that the settings say are counted from the start.
fn trace_rules(settings: &Settings) -> TraceRules {
    let upstreams = settings.upstreams.iter();
    let aliases = upstreams.clone().flat_map(|upstream| upstream.aliases.iter().filter_map(|text| Alias::read(text)));
    let patterns = upstreams.flat_map(|upstream| upstream.models.iter()).filter(|model| !model.contains('*'));
    let own = [settings.stage.model.clone()];
    TraceRules {
        percent: settings.trace.record_percent,
        content: settings.trace.content,
        models: aliases.map(|alias| alias.name).chain(patterns.cloned()).chain(own).collect(),
    }
}

/// How characters are run.
pub fn company(settings: &Settings, output: OutputSink) -> HostSettings {
    let python = &settings.python;
    let limits = Limits {
        memory: python.memory_bytes as u64,
        import: python.import,
        workers_per_character: python.workers,
        ..Limits::default()
    };
    HostSettings { interpreter: python.interpreter.clone(), limits, output }
}

fn upstream(settings: &UpstreamSettings) -> anyhow::Result<Upstream> {
    let header = |key: &str| {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {key}")).context("the upstream's key holds a line break")?;
        value.set_sensitive(true);
        anyhow::Ok(value)
    };
    let key = settings.key.as_ref().map(|key| header(key.expose())).transpose()?;
    let mut upstream = Upstream::new(settings.url.clone());
    upstream.key = key;
    upstream.contract = settings.contract;
    upstream.models.clone_from(&settings.models);
    for text in &settings.aliases {
        let alias = Alias::read(text).with_context(|| format!("{text:?} is no alias; write \"name=model\""))?;
        upstream.aliases.push(alias);
    }
    Ok(upstream)
}

/// Model servers that nobody named: the one that `OPENAI_BASE_URL` points at, or those on this machine.
pub fn look_for_servers(settings: &mut Settings) -> anyhow::Result<()> {
    if !settings.upstreams.is_empty() {
        return Ok(());
    }
    let named = std::env::var("OPENAI_BASE_URL").ok();
    let named = named.filter(|url| !url.is_empty() && !is_own_address(url, settings.listen));
    let found = match named {
        Some(url) => vec![UpstreamSettings::found(&url, std::env::var("OPENAI_API_KEY").ok())?],
        None => {
            let client = Client::new(&Tls::load(false)?, settings.timeouts.connect, settings.timeouts.first_byte);
            let urls = server::block_on(local_servers(&client))?;
            urls.iter().map(|url| UpstreamSettings::found(url, None)).collect::<Result<_, _>>()?
        }
    };
    settings.upstreams = found;
    Ok(())
}

/// Serves until the process is told to stop.
pub fn serve(mut settings: Settings) -> anyhow::Result<()> {
    telemetry::log::start(settings.log.as_str()).context("logging cannot be started")?;
    let listener =
        TcpListener::bind(settings.listen).with_context(|| format!("cannot listen on {}", settings.listen))?;
    let address = listener.local_addr()?;
    look_for_servers(&mut settings)?;
    let app = Arc::new(App::build(settings)?);
    server::load_characters(&app)?;
    greet(&app, &address.to_string());
    server::run(&app, listener)
}

/// The line that says where to go, for people and for programs that wait for it. Nobody has to listen.
fn greet(app: &App, address: &str) {
    let urls: Vec<&str> = app.settings.upstreams.iter().map(|upstream| upstream.url.as_str()).collect();
    let servers = match urls.as_slice() {
        [] => "no model server found: the built-in rehearsal model plays; connect a real one with --upstream URL"
            .to_owned(),
        urls => format!("model server: {}", urls.join(", ")),
    };
    let (version, store) = (env!("CARGO_PKG_VERSION"), &app.settings.store);
    let words = format!(
        "Callboard {version} listening on http://{address}\n  {servers}\n  conversations are kept in {store:?}\n  \
         point any OpenAI client at http://{address}/v1\n"
    );
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(words.as_bytes()).and_then(|()| out.flush());
}
