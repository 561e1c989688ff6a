//! The direction of dependencies: which modules may never name which others.
//!
//! The rules are the table below and nothing else; what the crates may do beyond it is for review.

use super::paths::{module_of, named_paths};
use super::problem::Problem;
use super::rust_file::RustFile;

/// In `place` (a crate, or `crate/module`) nothing of `never` is named, unless it lies in `except`.
struct Rule {
    place: &'static str,
    never: &'static [&'static str],
    except: &'static [&'static str],
    because: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        place: "callboard-core",
        never: &[
            "tokio",
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
            "std::thread",
            "std::time::SystemTime",
            "std::time::Instant",
            "getrandom",
            "rand",
        ],
        except: &[],
        because: "core is pure, so take the value from the caller",
    },
    Rule {
        place: "callboard-core/model",
        never: &["crate"],
        except: &["crate::model"],
        because: "the vocabulary stands alone, so move what is needed into `model`, or the user of it out",
    },
    Rule {
        place: "callboard-core/contract",
        never: &["crate::wire", "crate::turn"],
        except: &[],
        because: "the contract is stated in `model` only, so convert in `wire`, call from `turn`",
    },
    Rule {
        place: "callboard-core/dialect",
        never: &["crate::wire", "crate::turn"],
        except: &[],
        because: "a dialect turns text into `model`, so convert in `wire`, call from `turn`",
    },
    Rule {
        place: "callboard-core/turn",
        never: &["crate::wire"],
        except: &[],
        because: "a turn never sees a wire format, so convert before and after it",
    },
    Rule {
        place: "callboard-python",
        never: &["axum", "http", "http_body_util", "hyper", "hyper_util", "rusqlite", "sqlx", "callboard_core::wire"],
        except: &[],
        because: "workers know nothing of HTTP, SQL or wire formats, so do it in the program",
    },
    Rule {
        place: "callboard/upstream",
        never: OUTER_PARTS_AND_SESSION,
        except: &[],
        because: "an upstream is called by a session and knows no caller, so pass the value in",
    },
    Rule {
        place: "callboard/store",
        never: OUTER_PARTS_AND_SESSION,
        except: &[],
        because: "a store is called by a session and knows no caller, so pass the value in",
    },
    Rule {
        place: "callboard/session",
        never: &["crate::app", "crate::cli", "crate::http", "crate::realtime"],
        except: &[],
        because: "a session is the same for every way in, so convert at the rim",
    },
    Rule {
        place: "callboard/config",
        never: &["crate"],
        except: &["crate::config"],
        because: "settings are read before anything is built, so let the part take its setting",
    },
];

const OUTER_PARTS_AND_SESSION: &[&str] =
    &["crate::app", "crate::cli", "crate::http", "crate::realtime", "crate::session"];

/// Paths that go against the direction of dependencies, once per line.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    // Folders of tests may look at a part from outside, as its users do.
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| !file.is_test_file() && rule.holds_in(file.path)).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for path in named_paths(file) {
        for rule in &rules {
            let broken = rule.never.iter().find(|target| path.reaches(target));
            let excepted = rule.except.iter().any(|target| path.is_within(target));
            if let Some(target) = broken.filter(|_| !excepted) {
                let wrong = format!("`{}` where `{target}` is never used, in {}", path.segments.join("::"), rule.place);
                problems.push(Problem::new(file.path, file.line(path.index), wrong, rule.because));
            }
        }
    }
    problems.dedup();
    problems
}

impl Rule {
    fn holds_in(&self, path: &str) -> bool {
        let (crate_name, module) = self.place.split_once('/').unwrap_or((self.place, ""));
        let in_crate = path
            .strip_prefix("crates/")
            .and_then(|path| path.strip_prefix(crate_name))
            .is_some_and(|path| path.starts_with("/src/"));
        in_crate && (module.is_empty() || module_of(path).next() == Some(module))
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn the_direction_of_dependencies_is_kept() {
        let cases: [(&str, &str, &[usize]); 19] = [
            ("callboard-core/src/lib.rs", "use std::fmt;\nuse std::time::Duration;", &[]),
            ("callboard-core/src/lib.rs", "use std::{fmt,\n fs::File};", &[2]),
            ("callboard-core/src/names.rs", "use std::time;\nfn f(){ time::Instant::now() }", &[2]),
            ("callboard-core/src/names.rs", "use std::time::*;", &[1]),
            ("callboard-core/src/names.rs", "// tokio::spawn\nconst A: &str = \"std::fs::read\";", &[]),
            ("callboard-core/src/names.rs", "fn f() { tokio::select!{} }", &[1]),
            ("callboard-core/tests/golden.rs", "use std::fs;", &[]),
            ("callboard-core/src/turn/tests/cases.rs", "use std::fs;", &[]),
            ("callboard-core/src/turn/step.rs", "use crate::model::Call;", &[]),
            ("callboard-core/src/turn/step.rs", "use crate::{model,\nwire::chat};", &[2]),
            ("callboard-core/src/turn.rs", "use super::wire::chat;", &[1]),
            ("callboard-core/src/model/call.rs", "use super::Item; use crate::model::Usage;", &[]),
            ("callboard-core/src/model/call.rs", "\nuse crate::contract::Violation;", &[2]),
            ("callboard-core/src/contract/mod.rs", "use crate::turn::Turn;", &[1]),
            ("callboard-python/src/pool.rs", "use callboard_core::wire::sse;", &[1]),
            ("callboard-python/src/pool.rs", "use callboard_core::model;", &[]),
            ("callboard/src/session.rs", "fn f() { crate::http::reply() }", &[1]),
            ("callboard/src/http/chat.rs", "use crate::session::Session;", &[]),
            ("callboard/src/config/file.rs", "use crate::config::Key;\nuse crate::store::Url;", &[2]),
        ];
        for (path, source, expected) in cases {
            let path = format!("crates/{path}");
            assert_eq!(lines(&check(&RustFile::read(&path, source))), expected, "{path}: {source}");
        }
    }
}
