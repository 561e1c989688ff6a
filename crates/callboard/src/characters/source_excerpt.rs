//! The lines of a character's file around a problem.

use std::fs;
use std::path::Path;

use callboard_python::Problem;
use serde_json::{Value, json};

/// Lines shown before and after.
const AROUND: usize = 2;
/// Longer files are not read, and longer lines are cut.
const MOST_FILE_BYTES: u64 = 1 << 20;
const MOST_LINE_CHARS: usize = 300;

/// The lines around a problem as `{"line", "text"}`, where it names a line of a file in the folder that can be read.
pub fn source_excerpt(folder: &Path, problem: &Problem) -> Option<Vec<Value>> {
    let line = usize::try_from(problem.line?).ok()?.checked_sub(1)?;
    let file = problem.file.canonicalize().ok()?;
    let is_here = folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
    let is_short = fs::metadata(&file).is_ok_and(|data| data.is_file() && data.len() <= MOST_FILE_BYTES);
    let text = (is_here && is_short).then(|| fs::read_to_string(&file).ok()).flatten()?;
    let shown = text.lines().enumerate().skip(line.saturating_sub(AROUND)).take(line.min(AROUND) + 1 + AROUND);
    let cut = |text: &str| text.chars().take(MOST_LINE_CHARS).collect::<String>();
    Some(shown.map(|(place, text)| json!({"line": place + 1, "text": cut(text)})).collect())
}

#[cfg(test)]
mod tests {
    use callboard_python::ProblemKind;

    use super::*;

    fn problem(file: &Path, line: Option<u32>) -> Problem {
        Problem { file: file.to_owned(), line, what: String::new(), remedy: String::new(), kind: ProblemKind::Crash }
    }

    #[test]
    fn only_lines_of_files_in_the_folder_are_shown() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (folder.path().join("a.py"), other.path().join("b.py"));
        fs::write(&inside, "one\ntwo\nthree\nfour\nfive\nsix\n").unwrap();
        fs::write(&outside, "one\n").unwrap();
        let numbers = |line| {
            let lines = source_excerpt(folder.path(), &problem(&inside, line))?;
            Some(lines.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(numbers(Some(1)), Some(vec![1, 2, 3]));
        assert_eq!(numbers(Some(4)), Some(vec![2, 3, 4, 5, 6]));
        assert_eq!(numbers(Some(99)), Some(vec![]));
        assert_eq!((numbers(None), numbers(Some(0))), (None, None));
        assert_eq!(source_excerpt(folder.path(), &problem(&outside, Some(1))), None);
    }
}
