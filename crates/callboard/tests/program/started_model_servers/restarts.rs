//! Servers that are killed: they are started again, and requests in flight do not notice.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use callboard_test_support::{Program, ask, post, startable_model};
use tempfile::TempDir;

use super::setup::{CHAT, eventually, has_ended, kill, parent_of, pid, process, request, said, wait_for};

#[test]
fn a_killed_server_is_started_again() {
    let program = Program::with_settings(&startable_model(&[], ""), &[], &[]);
    for restarts in 1..=3_u64 {
        let first = wait_for(&program, "ready");
        kill(pid(&first));
        let second = eventually(|| {
            Some(process(&program)).filter(|second| second["state"] == "ready" && second["restarts"] == restarts)
        });
        assert!(second["pid"] != first["pid"] && second["url"] != first["url"], "{first} {second}");
        assert!(second["last_exit"]["words"].as_str().unwrap().contains("SIGKILL"), "{second}");
        assert_eq!(said(&post(&program.address, &request(false)))["pid"], second["pid"]);
    }
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    assert!(metrics.contains("callboard_upstream_restarts_total{upstream=\"python3\"} 3"), "{metrics}");
}

/// In every mode, whole and streamed: the first request of all hangs until its server is killed.
#[test]
fn a_request_in_flight_is_sent_again_to_the_new_server() {
    for (keys, path, stream) in [
        ("", CHAT, false),
        ("", CHAT, true),
        ("contract = \"observe\"", CHAT, true),
        ("contract = \"off\"", CHAT, false),
        ("", "/v1/embeddings", false),
    ] {
        let folder = TempDir::new().unwrap();
        let came = folder.path().join("came");
        let program =
            Program::with_settings(&startable_model(&[&format!("hang-once={}", came.display())], keys), &[], &[]);
        let address = program.address.clone();
        let asking = std::thread::spawn(move || ask(&address, "POST", path, &[], &request(stream)));
        eventually(|| came.exists().then_some(()));
        let first = process(&program);
        kill(pid(&first));
        let answered_by = said(&asking.join().unwrap())["pid"].take();
        assert_ne!(answered_by, first["pid"], "{keys} {path} {stream}");
        assert_eq!(process(&program)["pid"], answered_by, "{keys} {path} {stream}");
    }
}

/// Clients that ask all the time, and how often each has been answered.
struct Load {
    answered: Vec<AtomicUsize>,
    is_over: AtomicBool,
}

/// Ends the load, also where an expectation fails.
struct OverAtLast<'a>(&'a Load);

impl Drop for OverAtLast<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

impl Load {
    fn ask_until_over(&self, client: usize, address: &str) {
        while !self.is_over.load(Ordering::SeqCst) {
            said(&post(address, &request(client.is_multiple_of(2))));
            self.answered[client].fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until each has been answered twice more: the first of these may have been asked before.
    fn wait_for_all(&self) {
        let counts = || self.answered.iter().map(|count| count.load(Ordering::SeqCst)).collect::<Vec<_>>();
        let before = counts();
        eventually(|| counts().iter().zip(&before).all(|(now, then)| *now >= then + 2).then_some(()));
    }
}

#[test]
fn clients_see_no_error_of_a_server_that_is_killed_under_load() {
    let program = Program::with_settings(&startable_model(&[], ""), &[], &[]);
    let load = Load { answered: (0..8).map(|_| AtomicUsize::new(0)).collect(), is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let _over = OverAtLast(&load);
        for client in 0..load.answered.len() {
            let (load, address) = (&load, &program.address);
            scope.spawn(move || load.ask_until_over(client, address));
        }
        for restarts in 1..=4_u64 {
            load.wait_for_all();
            kill(pid(&wait_for(&program, "ready")));
            eventually(|| Some(process(&program)).filter(|process| process["restarts"] == restarts));
        }
        load.wait_for_all();
    });
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    let counted =
        |outcome: &str| metrics.contains(&format!("outcome=\"{outcome}\"")) && metrics.contains("upstream=\"python3\"");
    assert!(counted("ok") && (counted("broken") || counted("unreachable")), "requests were sent again: {metrics}");
}

/// Whatever happens to the process between the two, no server is left behind, and none is given up.
#[test]
fn a_server_whose_guardian_is_killed_is_started_again() {
    let program = Program::with_settings(&startable_model(&[], ""), &[], &[]);
    let first = said(&post(&program.address, &request(false)));
    let server = first["pid"].as_u64().unwrap();
    kill(parent_of(server));
    let second =
        eventually(|| Some(process(&program)).filter(|second| second["state"] == "ready" && second["restarts"] == 1));
    eventually(|| has_ended(server).then_some(()));
    assert!(second["last_exit"]["words"].as_str().unwrap().contains("its guardian was"), "{second}");
    assert_eq!(said(&post(&program.address, &request(false)))["pid"], second["pid"]);
}

/// Neither servers that have ended nor their guardians stay in the list of processes.
#[test]
fn ended_processes_are_reaped() {
    let program = Program::with_settings(&startable_model(&[], ""), &[], &[]);
    let guardians: Vec<u64> = (0..3_u64)
        .map(|restarts| {
            let running = eventually(|| {
                Some(process(&program)).filter(|now| now["state"] == "ready" && now["restarts"] == restarts)
            });
            let guardian = parent_of(pid(&running));
            kill(pid(&running));
            guardian
        })
        .collect();
    eventually(|| Some(process(&program)).filter(|now| now["restarts"] == 3));
    let left: Vec<&u64> = guardians.iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
}
