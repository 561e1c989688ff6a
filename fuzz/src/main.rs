//! Runs one fuzz target: under AFL++, on given files, or only to write its seeds.
//!
//! `cargo run -p xtask -- fuzz` at the root of the repository builds and drives this program.

#[path = "../targets/mod.rs"]
mod targets;

use std::path::Path;
use std::{fs, io};

use targets::{GoldenParts, TARGETS, Target};

const USAGE: &str = "\
Usage: callboard-fuzz names                   list the targets
       callboard-fuzz TARGET                  run under afl-fuzz
       callboard-fuzz TARGET seeds FOLDER     write the seeds and the dictionary
       callboard-fuzz TARGET replay FILE      run one input";

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["names"] => TARGETS.iter().for_each(|target| println!("{}", target.name)),
        [name] => {
            let run = found(name)?.run;
            afl::fuzz!(|data: &[u8]| run(data));
        }
        [name, "seeds", folder] => write_seeds(found(name)?, Path::new(folder))?,
        [name, "replay", file] => (found(name)?.run)(&fs::read(file)?),
        _ => return Err(io::Error::other(USAGE)),
    }
    Ok(())
}

fn found(name: &str) -> io::Result<&'static Target> {
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .ok_or_else(|| io::Error::other(format!("no target {name}\n{USAGE}")))
}

fn write_seeds(target: &Target, folder: &Path) -> io::Result<()> {
    let seeds = folder.join("seeds");
    fs::create_dir_all(&seeds)?;
    for (number, seed) in (target.seeds)(&GoldenParts::read()).iter().enumerate() {
        fs::write(seeds.join(format!("golden-{number:04}")), seed)?;
    }
    let words = target.tokens.iter().map(|token| format!("\"{}\"\n", escaped(token)));
    fs::write(folder.join("dictionary"), words.collect::<String>())
}

/// A token as AFL++ reads it: printable ASCII but for quotes and backslashes, all else as `\xNN`.
fn escaped(token: &str) -> String {
    let letter = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\x{byte:02x}"),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    token.bytes().map(letter).collect()
}
