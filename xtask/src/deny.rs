//! The offline part of cargo-deny: licences, duplicate versions, banned crates and sources, as `deny.toml` says.
//!
//! cargo-deny itself reads the same file and also checks advisories, which needs a database from the network. Only the keys
//! below are read here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

#[derive(Deserialize)]
struct Config {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Entry>,
    skip: Vec<Entry>,
}

/// A crate by `name` or `name@version`.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

/// Checks all packages of the lock file, reports on `output`, and fails if there is anything to report.
pub(crate) fn run(output: &mut impl Write) -> Result<ExitCode> {
    let config: Config = toml::from_str(&fs::read_to_string("deny.toml").context("cannot read deny.toml")?)?;
    let packages = read_packages(&config.graph.targets)?;
    let problems = find_problems(&config, &packages);
    for problem in &problems {
        writeln!(output, "{problem}")?;
    }
    writeln!(output, "deny: {} packages, {} problems", packages.len(), problems.len())?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_packages(targets: &[String]) -> Result<Vec<Package>> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--locked", "--format-version", "1"]);
    command.args(targets.iter().flat_map(|target| ["--filter-platform", target]));
    let result = command.output().context("cannot run cargo")?;
    ensure!(result.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&result.stderr).trim());
    Ok(serde_json::from_slice::<Metadata>(&result.stdout)?.packages)
}

fn find_problems(config: &Config, packages: &[Package]) -> Vec<String> {
    let mut problems: Vec<String> = packages.iter().flat_map(|package| judge(config, package)).collect();
    let duplicates = older_duplicates(packages);
    let skipped: BTreeSet<&str> = config.bans.skip.iter().map(|entry| entry.name.as_str()).collect();
    let unlisted = duplicates.iter().filter(|name| !skipped.contains(name.as_str()));
    problems.extend(
        unlisted
            .map(|name| format!("{name}: a newer version is in the lock file too: use one, or add it to bans.skip")),
    );
    let unneeded = skipped.iter().filter(|name| !duplicates.contains(**name));
    problems.extend(unneeded.map(|name| format!("{name}: is no duplicate: remove it from bans.skip")));
    problems
}

fn judge(config: &Config, package: &Package) -> Vec<String> {
    let Package { name, version, license, source } = package;
    let license = license.as_deref().unwrap_or("none");
    let registry = source.as_ref().map(|source| source.trim_start_matches("registry+"));
    let mut problems = Vec::new();
    if !is_allowed(license, &config.licenses.allow) {
        problems.push(format!("{name}@{version}: licence {license} is not in licenses.allow"));
    }
    if let Some(entry) = config.bans.deny.iter().find(|entry| entry.name == *name) {
        problems.push(format!("{name}@{version}: banned: {}", entry.reason));
    }
    // A package of the workspace has no source.
    if let Some(registry) = registry.filter(|registry| !config.sources.allow_registry.contains(*registry)) {
        problems.push(format!("{name}@{version}: source {registry} is not in sources.allow-registry"));
    }
    problems
}

/// `name@version` of every package that is there in a newer version too.
fn older_duplicates(packages: &[Package]) -> BTreeSet<String> {
    let mut versions: BTreeMap<&str, Vec<(Vec<u64>, &str)>> = BTreeMap::new();
    for Package { name, version, .. } in packages {
        let numbers = version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect();
        versions.entry(name).or_default().push((numbers, version));
    }
    let mut older = BTreeSet::new();
    for (name, mut versions) in versions {
        versions.sort();
        versions.pop();
        older.extend(versions.iter().map(|(_, version)| format!("{name}@{version}")));
    }
    older
}

/// Whether an SPDX expression can be met with allowed licences; `/` is the old way to write OR.
fn is_allowed(expression: &str, allow: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    let any_of = split(&expression, " OR ");
    if any_of.len() > 1 {
        return any_of.iter().any(|part| is_allowed(part, allow));
    }
    let all_of = split(&expression, " AND ");
    if all_of.len() > 1 {
        return all_of.iter().all(|part| is_allowed(part, allow));
    }
    match expression.trim().strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) {
        Some(inside) => is_allowed(inside, allow),
        None => allow.contains(expression.trim()),
    }
}

/// The parts between `operator`s that are outside brackets.
fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, _) in expression.match_indices(operator) {
        let part = expression.get(start..place).unwrap_or("");
        if part.matches('(').count() == part.matches(')').count() {
            parts.push(part);
            start = place + operator.len();
        }
    }
    parts.push(expression.get(start..).unwrap_or(""));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "https://example.org/index";

    fn problems(skip: &str, packages: &[(&str, &str, &str, Option<&str>)]) -> Vec<String> {
        let text = format!(
            "graph.targets = []\nlicenses.allow = ['MIT', 'ISC']\nsources.allow-registry = ['{REGISTRY}']\n\
             bans.deny = [{{ crate = 'openssl', reason = 'rustls is in' }}]\nbans.skip = [{skip}]"
        );
        let package = |(name, version, license, source): &(&str, &str, &str, Option<&str>)| Package {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            license: Some((*license).to_owned()),
            source: source.map(|source| format!("registry+{source}")),
        };
        let packages: Vec<Package> = packages.iter().map(package).collect();
        find_problems(&toml::from_str(&text).unwrap(), &packages)
    }

    #[test]
    fn packages_keep_the_rules() {
        let skip = "{ crate = 'a@1.9.0', reason = 'b needs it' }";
        let two = [("a", "1.9.0", "MIT", None), ("a", "1.10.0", "MIT", None)];
        assert!(problems("", &[("a", "1.0.0", "MIT", None), ("b", "1.0.0", "ISC", Some(REGISTRY))]).is_empty());
        assert!(problems(skip, &two).is_empty());
        for (skip, packages, expected) in [
            ("", &[("a", "1.0.0", "GPL-3.0", None)][..], "a@1.0.0: licence"),
            ("", &[("openssl", "1.0.0", "MIT", None)], "openssl@1.0.0: banned: rustls is in"),
            ("", &[("a", "1.0.0", "MIT", Some("https://example.org/other"))], "a@1.0.0: source"),
            ("", &two, "a@1.9.0: a newer version"),
            (skip, &[("a", "1.10.0", "MIT", None)], "a@1.9.0: is no duplicate"),
        ] {
            let found = problems(skip, packages);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
        }
    }

    #[test]
    fn expressions_are_read_as_spdx_says() {
        let allow = ["MIT", "ISC", "Unicode-3.0"].map(str::to_owned).into();
        let cases = [
            ("MIT", true),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND ISC", true),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("(MIT OR GPL-3.0) AND BSL-1.0", false),
            ("GPL-3.0 OR MIT AND BSL-1.0", false),
            ("MIT WITH LLVM-exception", false),
            ("none", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(is_allowed(expression, &allow), expected, "{expression}");
        }
    }
}
