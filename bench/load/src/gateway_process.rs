//! Whether a gateway on this machine waits for more: all its threads sleep.
//!
//! On loopback a write has woken its reader when it returns, so a gateway that sleeps has handled all that was sent.

use std::time::Duration;

use tokio::time::sleep;

/// A gateway, by the id of its process.
pub(crate) struct GatewayProcess(pub(crate) u32);

impl GatewayProcess {
    /// Returns when the process sleeps, or has ended.
    pub(crate) async fn idle(&self) {
        while !self.is_idle() {
            sleep(Duration::from_micros(100)).await;
        }
    }

    fn is_idle(&self) -> bool {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.0)) else { return true };
        threads.flatten().all(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat"));
            stat.map_or(true, |stat| is_asleep(&stat))
        })
    }
}

/// Of one thread. Its name is in parentheses and may contain any, also parentheses.
fn is_asleep(stat: &str) -> bool {
    stat.rsplit(") ").next().is_some_and(|fields| fields.starts_with('S'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_follows_the_name() {
        let rows =
            [("7 (a) S 1 2", true), ("7 (a) R 1", false), ("7 (a) S) R 1", false), ("7 (a) D 1", false), ("", false)];
        for (stat, expected) in rows {
            assert_eq!(is_asleep(stat), expected, "{stat}");
        }
    }

    #[test]
    fn a_thread_that_reads_its_own_state_is_awake() {
        assert!(!GatewayProcess(std::process::id()).is_idle());
    }
}
