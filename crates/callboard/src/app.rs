//! The composition root: builds the services once, in order, from the settings.

use std::sync::{Arc, RwLock};

use anyhow::Context as _;
use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_core::wire::chat::adapt::ToolsMode;
use callboard_python::{HostSettings, Limits as PythonLimits, OutputSink};
use http::HeaderValue;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;

use crate::characters::{CharacterRegistry, terminal_output};
use crate::config::{Limits, Settings, UpstreamSettings};
use crate::memory_budget::MemoryBudget;
use crate::random;
use crate::services::Services;
use crate::store::{Address, Store, StoreSettings};
use crate::telemetry;
use crate::trace::otlp::{Collector, Outbox};
use crate::trace::{self, TraceRules, Traces};
use crate::upstream::{
    Alias, Client, Launch, LaunchRules, ProbePolicy, REHEARSAL, Tls, Upstream, Upstreams, is_own_address, local_servers,
};

/// Builds the services for so many serving threads.
pub fn build(settings: Settings, serving_threads: usize) -> anyhow::Result<Services> {
    let limits = &settings.limits;
    let upstreams = build_upstreams(&settings)?;
    let collector = Collector::find(&settings.otlp, |name| std::env::var(name).ok())?;
    let needs_tls = settings.upstreams.iter().any(|upstream| upstream.url.starts_with("https:"))
        || collector.as_ref().is_some_and(Collector::needs_tls);
    let store = open_store(&settings, serving_threads)?;
    Ok(Services {
        traces: Traces::new(trace_rules(&settings), store.clone(), collector.map(Outbox::new)),
        tools: ToolCache::new(schema_limits(limits)),
        upstreams: Upstreams::new(upstreams),
        metrics: start_metrics()?,
        characters: Arc::new(CharacterRegistry::new(
            settings.characters.clone(),
            python_settings(&settings, terminal_output()),
            schema_limits(limits),
        )),
        store,
        api_keys: Arc::new(RwLock::new(settings.api_keys.clone())),
        in_flight: Arc::default(),
        memory: MemoryBudget::new(limits.memory_bytes, limits.request_memory_bytes),
        sockets: Arc::new(Semaphore::new(limits.sockets)),
        tls: Tls::load(needs_tls).context("the system's certificates cannot be loaded")?,
        settings,
    })
}

/// How large the schemas of a request may be.
pub fn schema_limits(limits: &Limits) -> SchemaLimits {
    SchemaLimits {
        tools: limits.tools,
        depth: limits.schema_depth,
        properties: limits.schema_properties,
        nodes: limits.schema_nodes,
        enum_values: limits.schema_enum_values,
        patterns: limits.schema_patterns,
        pattern_bytes: limits.schema_pattern_bytes,
        validation_steps: limits.validation_steps as u64,
    }
}

fn start_metrics() -> anyhow::Result<PrometheusHandle> {
    let handle = telemetry::metrics::start().context("metrics cannot be started")?;
    trace::describe_metrics();
    Ok(handle)
}

/// Opens the store for so many serving threads.
pub fn open_store(settings: &Settings, serving_threads: usize) -> anyhow::Result<Store> {
    let address = Address::read(settings.store.expose())?;
    let (connections, history_bytes) = (settings.store_connections, settings.limits.history_bytes as u64);
    let usual = StoreSettings::new(random::letters::<12>());
    Store::open(&address, StoreSettings { connections, serving_threads, history_bytes, ..usual })
        .with_context(|| format!("the store {address} cannot be opened; name another with --store"))
}

/// What is recorded of turns. Only model names from the settings are counted from the start.
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
pub fn python_settings(settings: &Settings, output: OutputSink) -> HostSettings {
    let python = &settings.python;
    let limits = PythonLimits {
        memory: python.memory_bytes as u64,
        import: python.import,
        workers_per_character: python.workers,
        ..PythonLimits::default()
    };
    let (environment, sandbox) = (python.environment.clone(), python.sandbox == "on");
    let rest_after = Some(python.rest).filter(|rest| !rest.is_zero());
    HostSettings { limits, output, environment, rest_after, sandbox, ..HostSettings::new(&python.interpreter) }
}

/// The configured model servers, and the built-in model.
fn build_upstreams(settings: &Settings) -> anyhow::Result<Vec<Upstream>> {
    let shows_content = matches!(settings.log, "debug" | "trace");
    let rules = LaunchRules { start_limit: settings.timeouts.start, shows_content };
    let mut upstreams: Vec<Upstream> = Vec::new();
    for configured in &settings.upstreams {
        let launch = Launch::of(configured, &rules, std::env::vars_os())?;
        let is_taken = |name: &str| name == REHEARSAL || upstreams.iter().any(|one| one.url == name);
        let launch = launch.map(|launch| launch.with_other_name(is_taken));
        upstreams.push(upstream(configured, launch)?);
    }
    upstreams.push(Upstream::rehearsal());
    Ok(upstreams)
}

fn upstream(settings: &UpstreamSettings, launch: Option<Launch>) -> anyhow::Result<Upstream> {
    let header = |key: &str| {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {key}")).context("the upstream's key holds a line break")?;
        value.set_sensitive(true);
        anyhow::Ok(value)
    };
    let key = settings.key.as_ref().map(|key| header(key.expose())).transpose()?;
    let mut upstream = launch.map_or_else(|| Upstream::new(settings.url.clone()), Upstream::started_by);
    upstream.key = key;
    upstream.contract = settings.contract;
    upstream.tools = ToolsMode::read(settings.tools);
    upstream.probe = ProbePolicy::read(settings.probe);
    upstream.models.clone_from(&settings.models);
    for text in &settings.aliases {
        let alias = Alias::read(text).with_context(|| format!("{text:?} is no alias; write \"name=model\""))?;
        upstream.aliases.push(alias);
    }
    Ok(upstream)
}

/// Where the settings name no model server: the one that `OPENAI_BASE_URL` points at, or those on this machine.
pub async fn find_model_servers(settings: &mut Settings) -> anyhow::Result<()> {
    if !settings.upstreams.is_empty() {
        return Ok(());
    }
    let named = std::env::var("OPENAI_BASE_URL").ok();
    let named = named.filter(|url| !url.is_empty() && !is_own_address(url, settings.listen));
    let found = match named {
        Some(url) => vec![UpstreamSettings::found(&url, std::env::var("OPENAI_API_KEY").ok())?],
        None => {
            let client = Client::new(&Tls::load(false)?, settings.timeouts.connect, settings.timeouts.first_byte);
            let urls = local_servers(&client).await;
            urls.iter().map(|url| UpstreamSettings::found(url, None)).collect::<Result<_, _>>()?
        }
    };
    settings.upstreams = found;
    Ok(())
}
