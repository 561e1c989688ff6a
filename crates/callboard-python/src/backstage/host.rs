//! The host: Python's part of this crate, embedded in the program. Only the standard library is used there.

/// What the interpreter reads and runs first.
pub(crate) const BOOT: &str = include_str!("../python/boot.py");

/// What is given to the interpreter on its command line: short, since everyone sees it in a list of processes.
pub(crate) fn command() -> String {
    format!("exec(__import__('os').read(0, {}))", BOOT.len())
}

/// The modules of the host, each after those it imports.
pub(crate) const MODULES: &[(&str, &str)] = &[
    ("wire", include_str!("../python/wire.py")),
    ("problems", include_str!("../python/problems.py")),
    ("state", include_str!("../python/state.py")),
    ("calling", include_str!("../python/calling.py")),
    ("schema", include_str!("../python/schema.py")),
    ("signatures", include_str!("../python/signatures.py")),
    ("tools", include_str!("../python/tools.py")),
    ("attributes", include_str!("../python/attributes.py")),
    ("loading", include_str!("../python/loading.py")),
    ("processes", include_str!("../python/processes.py")),
    ("forking", include_str!("../python/forking.py")),
    ("worker", include_str!("../python/worker.py")),
    ("dresser", include_str!("../python/dresser.py")),
    ("root", include_str!("../python/root.py")),
];
