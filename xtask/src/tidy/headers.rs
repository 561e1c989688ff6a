//! Every source file opens with a header that says what it is for and where its border is.
//!
//! Three to ten lines are aimed at; what is too long to be read before the code is reported, as is a missing one.

use super::problem::Problem;
use super::rust_file::RustFile;

const LINES_AT_MOST: usize = 20;

/// A missing, empty or overlong header.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    let header: Vec<&str> = file.text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    if header.iter().all(|line| line.trim().is_empty()) {
        return vec![Problem::new(
            file.path,
            1,
            "no module header",
            "start the file with 3 to 10 lines of `//!`: what it is for, where its border is",
        )];
    }
    if header.len() > LINES_AT_MOST {
        return vec![Problem::new(
            file.path,
            1,
            format!("a module header of {} lines", header.len()),
            "keep 3 to 10 lines and move the rest to docs/ or to the items it is about",
        )];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_there_and_short() {
        let longest = "//! words\n".repeat(LINES_AT_MOST);
        let too_long = format!("{longest}//! words\n");
        let cases = [
            ("//! What it is for.\nfn f() {}", 0),
            (longest.as_str(), 0),
            (too_long.as_str(), 1),
            ("", 1),
            ("//!\n//!  \nfn f() {}", 1),
            ("\n//! Not at the top.", 1),
            ("// Not a header.", 1),
            ("use std::fmt;\n//! Too late.", 1),
        ];
        for (source, expected) in cases {
            assert_eq!(check(&RustFile::read("crates/a/src/lib.rs", source)).len(), expected, "{source}");
        }
    }
}
