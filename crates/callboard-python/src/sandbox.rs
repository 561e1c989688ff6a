//! The sandbox of characters: what the kernel must offer for it, and what is enforced with what it offers.

use serde::Deserialize;

/// Since these versions Landlock also covers TCP, and signals to other processes.
const LANDLOCK_NETWORK: u32 = 4;
const LANDLOCK_SIGNALS: u32 = 6;

/// What the kernel offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct KernelSupport {
    /// The version of Landlock; 0 without it.
    landlock: u32,
    /// Whether system calls can be refused.
    seccomp: bool,
}

impl KernelSupport {
    /// What the sandbox needs and the kernel lacks.
    pub(crate) fn lacking(self) -> Option<&'static str> {
        match self {
            Self { landlock: 0, .. } => Some("Landlock (Linux 5.13, enabled at boot)"),
            Self { seccomp: false, .. } => Some("seccomp filters, on x86_64 or aarch64"),
            _ => None,
        }
    }

    /// What a sandboxed character is refused here, and what it is not because of the kernel's age. One line each.
    pub fn describe(self) -> Vec<String> {
        let network = if self.landlock >= LANDLOCK_NETWORK { "seccomp and Landlock" } else { "seccomp" };
        let mut lines = vec![format!(
            "enforced: files read-only and only those of the characters' folder and of Python (Landlock {}), no sockets \
             ({network}), no programs, no privileges, no access to other processes",
            self.landlock
        )];
        if self.landlock < LANDLOCK_SIGNALS {
            lines.push(
                "not enforced: signals to other processes of this user (needs Landlock 6, Linux 6.12)".to_owned(),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_the_kernel_cannot_enforce() {
        let lines = |landlock| KernelSupport { landlock, seccomp: true }.describe();
        assert_eq!(lines(6).len(), 1);
        assert!(lines(3)[1].starts_with("not enforced: signals"), "{:?}", lines(3));
        assert!(KernelSupport { landlock: 0, seccomp: true }.lacking().is_some());
        assert!(KernelSupport { landlock: 1, seccomp: false }.lacking().is_some());
        assert_eq!(KernelSupport { landlock: 1, seccomp: true }.lacking(), None);
    }
}
