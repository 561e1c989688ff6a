//! Settings from file, environment and flags: a clear error, or settings whose printed form is a settings file that means the same.

use callboard::cli::{Command, parse_from};
use callboard::config::{ConfigError, Environment, Flags, Loaded, load};

use super::fields::{fields, joined, text};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "[[upstream]]\nurl = \"http://127.0.0.1:1/v1\"\n",
    "key_env = \"KEY\"\n",
    "models = [\"a*\"]\n",
    "aliases = [\"a=b\"]\n",
    "contract = \"observe\"\n",
    "[limits]\n",
    "[timeouts]\n",
    "[otlp]\nheaders = [\"a=b\"]\n",
    "[stage]\n",
    "store = \"postgres://u:p@h/d?sslmode=require\"\n",
    "store = \"sqlite:a.db\"\n",
    "listen = \"[::1]:0\"\n",
    "api_keys = [\"k\"]\n",
    "CALLBOARD_LISTEN=localhost:0\n",
    "CALLBOARD_API_KEYS=a,b\n",
    "CALLBOARD_UPSTREAM=http://a/,http://b/\n",
    "--upstream\nhttp://a/v1\n",
    "--upstream-key-env\nKEY\n",
    "--listen\n",
    "--limits",
    "8 MiB",
    "1e3",
    "0x10",
    "1979-05-27T07:32:00Z",
    "'''",
    "\"\"\"",
];

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let whole = load(&Flags::default(), &Environment::default(), nowhere()).expect("defaults").to_toml();
    let files = golden.settings.iter().chain([&whole]);
    let variables = b"CALLBOARD_LOG=debug\nKEY=sk-a\nCALLBOARD_UPSTREAM=http://a:1/v1\nCALLBOARD_UPSTREAM_KEY_ENV=KEY";
    files.map(|file| joined(&[file.as_bytes(), variables, b"--listen\n[::1]:0\n--log=info"])).collect()
}

/// Fields: the file, the variables as `NAME=value` lines, and the flags, one word a line.
pub(crate) fn run(data: &[u8]) {
    let [file, variables, words] = fields(data);
    let (file, variables, words) = (text(file), text(variables), text(words));
    let Some(flags) = read_flags(&words) else { return };
    let variables: Vec<(&str, &str)> = variables.lines().filter_map(|line| line.split_once('=')).collect();
    match load_file(&file, &flags, &variables) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(loaded) => check_printed(&loaded, &variables),
    }
}

/// The printed settings, read with the variables that hold keys and nothing else, are the same settings.
fn check_printed(loaded: &Loaded, variables: &[(&str, &str)]) {
    let printed = loaded.to_toml();
    let keys: Vec<_> = variables.iter().copied().filter(|(name, _)| !name.starts_with("CALLBOARD_")).collect();
    let again = load_file(&printed, &Flags::default(), &keys);
    let again = again.unwrap_or_else(|error| panic!("{error} in the printed settings\n{printed}"));
    assert_eq!(without_origins(&again.to_toml()), without_origins(&printed), "printed and read again");
}

fn without_origins(printed: &str) -> Vec<&str> {
    printed.lines().map(|line| line.rsplit_once("  # ").map_or(line, |(value, _)| value).trim_end()).collect()
}

fn load_file(file: &str, flags: &Flags, variables: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let environment = Environment::new(variables.iter().filter(|(name, _)| *name != "CALLBOARD_CONFIG").copied());
    if file.is_empty() {
        return load(flags, &environment, nowhere());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("callboard.toml"), file).expect("a writable temporary folder");
    load(flags, &environment, folder.path())
}

/// A folder without a settings file.
fn nowhere() -> &'static std::path::Path {
    std::path::Path::new("/proc/self/fdinfo")
}

/// The flags of a command line; other files than the given one are not read.
fn read_flags(words: &str) -> Option<Flags> {
    let words: Vec<&str> = words.lines().filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| word.starts_with("--config")) {
        return None;
    }
    if words.is_empty() {
        return Some(Flags::default());
    }
    match parse_from(["callboard", "config"].into_iter().chain(words)) {
        Ok(Command::Config(flags)) => Some(flags),
        _ => None,
    }
}
