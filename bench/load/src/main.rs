//! Both ends of the bench: `load upstream` is the scripted model server behind a gateway,
//! `load load` is the client in front of it, and `load forward` the least that a gateway does. `bench/run` starts gateways and measures their CPU time
//! and memory.

mod arguments;
mod client;
mod connection;
mod forwarder;
mod gateway_process;
mod request_script;
mod responses_events;
mod scenario;
mod upstream;
mod upstream_reply;

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Duration;

use arguments::Arguments;
use client::Load;
use request_script::Script;
use scenario::Scenario;

const USAGE: &str = "usage: load upstream --port N
       load forward --port N --to HOST:PORT
       load load --url http://HOST:PORT/PATH --key KEY --scenario NAME --connections N --requests N --seconds N
       load load --url … --key KEY --talks FILE --expected TEXT --connections N --requests N --seconds N
scenarios: whole-tool-call, streamed-tool-call, streamed-text, streamed-text-unpaced, short-text, call-then-text";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let arguments = Arguments::read(words)?;
    if command == "forward" {
        return forwarder::serve(arguments.number("port")?, arguments.text("to")?);
    }
    // One thread each: the machine's cores are shared with the gateway that is measured.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match command.as_str() {
        "upstream" => runtime.block_on(upstream::serve(arguments.number("port")?)),
        "load" => {
            let report = runtime.block_on(read_load(&arguments)?.run())?;
            writeln!(stdout(), "{report}")?;
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

fn read_load(arguments: &Arguments) -> Outcome<Load> {
    let address = arguments.text("url")?.strip_prefix("http://").ok_or("--url must start with http://")?;
    let (authority, path) = address.split_once('/').ok_or("--url must have a path")?;
    let (script, expected) = match arguments.text("talks") {
        Ok(path) => (Script::read(path)?, vec![arguments.text("expected")?.to_owned()]),
        Err(_) => {
            let scenario = Scenario::named(arguments.text("scenario")?).ok_or(USAGE)?;
            (Script::Same(scenario.request()?), scenario.expected().iter().map(|text| (*text).to_owned()).collect())
        }
    };
    Ok(Load {
        authority: authority.to_owned(),
        path: format!("/{path}"),
        key: arguments.text("key")?.to_owned(),
        script,
        expected,
        connections: arguments.number("connections")?,
        requests: arguments.number("requests")?,
        limit: Duration::from_secs(arguments.number("seconds")?),
    })
}
