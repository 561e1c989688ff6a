//! Measures calls through workers, for those who change this crate: `cargo run --release --example speed -- FILE`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use callboard_python::{CallOrder, Company, CompanySettings, Limits, OutputSink};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let interpreter = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into()).into();
    let t = Instant::now();
    let company = Company::start(CompanySettings { interpreter, limits: Limits::default(), output: OutputSink::new(|l| println!("{l}")) }).unwrap();
    println!("start {:?}", t.elapsed());
    let path = PathBuf::from(std::env::args().nth(1).unwrap());
    let t = Instant::now();
    let character = match company.load(&path, "smoke").await { Ok(c) => c, Err(e) => { println!("{e}"); return } };
    println!("load {:?} {:?}", t.elapsed(), character.manifest().tools);
    let t = Instant::now();
    println!("{:?} {:?}", character.open().await, t.elapsed());
    let order = CallOrder { tool: "log_story_event", arguments: r#"{"event":"x"}"#, state: Some(r#"{"count":4}"#), conversation: "a" };
    println!("{:?}", character.call(order).await);
    let lanes: Vec<usize> = std::env::args().skip(2).map(|a| a.parse().unwrap()).collect();
    if lanes.is_empty() {
    let mut times = Vec::new();
    for _ in 0..5000 { let t = Instant::now(); let o = character.call(order).await; assert!(o.result.is_ok()); times.push(t.elapsed()); }
    times.sort();
    println!("sequential: p50 {:?} p99 {:?} mean {:?}", times[2500], times[4950], times.iter().sum::<Duration>() / 5000);
    }
    for lanes in if lanes.is_empty() { vec![1usize, 2, 4, 8, 32] } else { lanes } {
        let n = 20000;
        let t = Instant::now();
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..lanes { let c = character.clone(); set.spawn(async move { for _ in 0..n / lanes { c.call(order).await; } }); }
        while set.join_next().await.is_some() {}
        println!("{lanes} lanes: {:.0}/s", n as f64 / t.elapsed().as_secs_f64());
    }
}
