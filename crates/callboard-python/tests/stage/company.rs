//! The company as a whole: several runtimes, lost processes, full houses, and interpreters that do not fit.

use std::time::Duration;

use callboard_python::{Company, CompanySettings, Interpreter, Limits, OutputSink, StartError};
use rustix::process::{Pid, Signal, kill_process};

use crate::theatre::{Theatre, call, scratch, wait_until_dead};

#[test]
fn it_serves_several_runtimes() {
    let theatre = Theatre::open();
    let run = |future: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future);
    };
    let company = theatre.company;
    let (give, take) = std::sync::mpsc::channel();
    let path = crate::theatre::characters().join("narrator.py");
    run(Box::pin(async move { give.send(company.load(&path, "narrator").await.unwrap()).unwrap() }));
    let narrator = take.recv().unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let narrator = narrator.clone();
                run(Box::pin(async move {
                    for _ in 0..50 {
                        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
                        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
                    }
                }));
            });
        }
    });
}

#[tokio::test]
async fn lost_processes_are_replaced() {
    let theatre = Theatre::open();
    let narrator = theatre.load("narrator.py").await;
    // A family starts with the root, then the dresser, then workers: each loss takes what is below along.
    for lost in [2, 1, 0] {
        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"), "before {lost}");
        let family = theatre.family();
        kill_process(Pid::from_raw(i32::try_from(family[lost]).unwrap()).unwrap(), Signal::KILL).unwrap();
        family[lost..].iter().copied().for_each(wait_until_dead);
    }
    let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
    assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
    theatre.load("ways.py").await;
}

#[tokio::test]
async fn a_character_ends_with_its_last_handle() {
    let theatre = Theatre::open();
    let root = theatre.family();
    assert_eq!(root.len(), 1);
    let narrator = theatre.load("narrator.py").await;
    narrator.open().await.unwrap();
    let family = theatre.family();
    assert_eq!(family.len(), 3, "a root, a dresser, a worker");
    let other = narrator.clone();
    drop(narrator);
    other.open().await.unwrap();
    drop(other);
    for pid in family.iter().filter(|pid| !root.contains(pid)) {
        wait_until_dead(*pid);
    }
    assert_eq!(theatre.family(), root);
}

#[tokio::test]
async fn a_full_house_makes_room() {
    let limits = Limits { workers: 2, workers_per_character: 2, ..Limits::default() };
    let theatre = Theatre::with(limits);
    let mut cast = Vec::new();
    for _ in 0..5 {
        cast.push(theatre.load("ways.py").await);
    }
    for _ in 0..3 {
        let mut calls = tokio::task::JoinSet::new();
        for character in &cast {
            for _ in 0..3 {
                let character = character.clone();
                calls.spawn(async move { call(&character, "slow", r#"{"milliseconds":5}"#).await.result });
            }
        }
        while let Some(outcome) = calls.join_next().await {
            assert_eq!(outcome.unwrap().as_deref(), Ok("done"));
        }
        assert!(theatre.family().len() <= 1 + 5 + 2);
    }
}

#[tokio::test]
async fn independent_calls_run_at_the_same_time() {
    let limits = Limits { workers_per_character: 4, ..Limits::default() };
    let theatre = Theatre::with(limits);
    let ways = theatre.load("ways.py").await;
    let arguments = r#"{"milliseconds":300}"#;
    let slow = || call(&ways, "slow", arguments);
    let outcomes: [_; 4] = tokio::join!(slow(), slow(), slow(), slow()).into();
    for outcome in outcomes {
        assert_eq!(outcome.result.as_deref(), Ok("done"));
        assert!(outcome.queued < Duration::from_millis(300), "{outcome:?}");
    }
}

#[test]
fn interpreters_that_do_not_fit_are_told_of() {
    let start = |interpreter: &str| {
        let settings =
            CompanySettings { interpreter: interpreter.into(), limits: Limits::default(), output: OutputSink::none() };
        Company::start(settings).map(drop).unwrap_err()
    };
    assert!(matches!(start("no-such-python"), StartError::Interpreter(_)));
    assert!(matches!(start("echo"), StartError::Interpreter(_)));
    let sleeper = scratch().join("sleeper");
    std::fs::write(&sleeper, "#!/bin/sh\nexec sleep 600\n").unwrap();
    make_executable(&sleeper);
    assert!(start(sleeper.to_str().unwrap()).to_string().contains("nothing at all"));
    let liar = scratch().join("liar");
    std::fs::write(&liar, "#!/bin/sh\ncase \"$1\" in -I) echo cpython 3 11;; *) echo broken >&2;; esac\n").unwrap();
    make_executable(&liar);
    let error = start(liar.to_str().unwrap());
    assert!(matches!(&error, StartError::NoAnswer { stderr, .. } if stderr == "broken"), "{error}");
    assert!(Interpreter::probe("python3".as_ref()).is_ok());
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
}
