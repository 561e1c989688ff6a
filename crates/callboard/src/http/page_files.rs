//! The files of the page, embedded in the program: what a browser gets for each, compressed once.

use std::io::Write as _;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::hex;

/// A file of the page.
pub(super) struct PageFile {
    path: &'static str,
    pub(super) bytes: &'static [u8],
    derived: OnceLock<Derived>,
}

/// What follows from the bytes of a file.
struct Derived {
    compressed: Vec<u8>,
    /// Quoted, as the header has it.
    etag: String,
}

macro_rules! page_files {
    ($($path:literal),* $(,)?) => {
        /// All of them. A test compares the list with the folder.
        static FILES: [PageFile; [$($path),*].len()] = [$(PageFile {
            path: $path,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/page/", $path)),
            derived: OnceLock::new(),
        }),*];
    };
}

page_files![
    "api.js",
    "app.js",
    "board.css",
    "calls.css",
    "characters-and-servers.css",
    "icon.svg",
    "index.html",
    "live.js",
    "look.css",
    "parts/board-parts.js",
    "parts/board.js",
    "parts/call-charts.js",
    "parts/call-feed.js",
    "parts/call-filter.js",
    "parts/call-list.js",
    "parts/call.js",
    "parts/chart.js",
    "parts/connection-test.js",
    "parts/connections.js",
    "parts/copy.js",
    "parts/curl.js",
    "parts/diff.js",
    "parts/empty.js",
    "parts/format.js",
    "parts/journal.js",
    "parts/key-prompt.js",
    "parts/known-models.js",
    "parts/load-problem.js",
    "parts/pointer.js",
    "parts/problem.js",
    "parts/schema-form.js",
    "parts/time-line.js",
    "parts/tool-by-hand.js",
    "parts/verdict.js",
    "router.js",
    "session.js",
    "shell.css",
    "status.js",
    "talk.css",
    "talk/catalog.js",
    "talk/character-detail.js",
    "talk/composer.js",
    "talk/items.js",
    "talk/panels.js",
    "talk/speech.js",
    "talk/thread.js",
    "talk/turn-stream.js",
    "talk/turn.js",
    "talk/verdicts.js",
    "theme.js",
    "ui.js",
    "vendor/LICENSE-htm",
    "vendor/LICENSE-preact",
    "vendor/LICENSE-signals",
    "vendor/LICENSE-signals-core",
    "vendor/hooks.js",
    "vendor/htm.js",
    "vendor/preact.js",
    "vendor/signals-core.js",
    "vendor/signals.js",
    "vendor/versions.json",
    "views.js",
    "views/board.js",
    "views/calls.js",
    "views/characters.js",
    "views/servers.js",
    "views/talk.js",
    "views/turn.js",
];

impl PageFile {
    /// The file of this path below the folder of the page.
    pub(super) fn find(path: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.path == path)
    }

    /// Its media type.
    pub(super) fn media_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "css" => "text/css; charset=utf-8",
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "json" => "application/json",
            "svg" => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        }
    }

    /// Its bytes by gzip.
    pub(super) fn compressed(&'static self) -> &'static [u8] {
        &self.derived().compressed
    }

    /// Changes with its content.
    pub(super) fn etag(&'static self) -> &'static str {
        &self.derived().etag
    }

    fn derived(&'static self) -> &'static Derived {
        self.derived.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            // A vector takes all that is written to it.
            let compressed = encoder.write_all(self.bytes).and_then(|()| encoder.finish()).unwrap_or_default();
            let digest = hex::encode(&Sha256::digest(self.bytes)[..12]);
            Derived { compressed, etag: format!("\"{digest}\"") }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    fn listed(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => listed(&entry.path(), &format!("{name}/"), found),
                false => assert!(found.insert(name)),
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut found = BTreeSet::new();
        listed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("page"), "", &mut found);
        let known: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        assert_eq!(known, found, "add the missing ones to `page_files!`");
    }

    #[test]
    fn vendored_files_are_what_was_recorded() {
        let text = |path: &str| PageFile::find(path).map(|file| std::str::from_utf8(file.bytes).unwrap()).unwrap();
        let packages: Vec<Value> = serde_json::from_str(text("vendor/versions.json")).unwrap();
        let mut recorded = BTreeSet::from(["vendor/versions.json".to_owned()]);
        for package in &packages {
            let files = package["files"].as_array().unwrap();
            assert!(files.iter().any(|file| file["from"] == "LICENSE"), "{package} needs its licence");
            for file in files {
                let path = format!("vendor/{}", file["name"].as_str().unwrap());
                let digest = hex::encode(&Sha256::digest(text(&path)));
                assert_eq!(file["sha256"], digest, "{path} differs; scripts/vendor-page writes it again");
                recorded.insert(path);
            }
        }
        let vendored = FILES.iter().map(|file| file.path).filter(|path| path.starts_with("vendor/"));
        assert_eq!(vendored.map(str::to_owned).collect::<BTreeSet<_>>(), recorded);
    }
}
