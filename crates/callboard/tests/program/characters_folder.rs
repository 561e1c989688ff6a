//! The folder of characters comes, goes and changes while the program runs.

use std::path::Path;

use callboard_test_support::{COUNTER, Program, ask, greeting_server};

fn ids(program: &Program) -> Vec<String> {
    let list = ask(&program.address, "GET", "/v1/characters", &[], "").ok();
    list["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn wait_for(program: &Program, expected: &[&str]) {
    while ids(program) != expected {
        std::thread::yield_now();
    }
}

fn write(folder: &Path, id: &str, name: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let code = COUNTER.replace("\"Counter\"", &format!("{name:?}"));
    // Renamed, so that no half of it is loaded.
    let unfinished = folder.join(format!("{id}.new"));
    std::fs::write(&unfinished, code).unwrap();
    std::fs::rename(unfinished, folder.join(format!("{id}.py"))).unwrap();
}

#[test]
fn a_folder_may_come_go_and_come_back() {
    let upstream = greeting_server().url;
    for name in [None, Some("late/cast")] {
        let mut arguments = vec!["--upstream", &upstream, "--log", "info"];
        arguments.extend(name.iter().flat_map(|name| ["--characters", name]));
        let (program, log) = Program::start_with_log(&arguments, &[]);
        let folder = program.folder().join(name.unwrap_or("characters"));
        assert!(ids(&program).is_empty());
        write(&folder, "one", "One");
        wait_for(&program, &["one"]);
        std::fs::rename(&folder, folder.with_extension("old")).unwrap();
        wait_for(&program, &[]);
        write(&folder, "two", "Two");
        wait_for(&program, &["two"]);
        std::fs::remove_file(folder.join("two.py")).unwrap();
        wait_for(&program, &[]);
        program.terminate();
        let lines: Vec<String> = log.iter().collect();
        assert!(lines.iter().any(|line| line.contains("Character two unloaded: two.py was deleted")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("WARN") || line.contains("ERROR")), "{lines:?}");
    }
}

#[test]
fn a_name_is_free_when_its_file_is_gone() {
    let upstream = greeting_server().url;
    let program = Program::start(&["--upstream", &upstream], &[]);
    let folder = program.folder().join("characters");
    write(&folder, "one", "Same");
    wait_for(&program, &["one"]);
    write(&folder, "two", "Same");
    while !ask(&program.address, "GET", "/v1/characters", &[], "").body.contains("is taken by one.py") {
        std::thread::yield_now();
    }
    std::fs::remove_file(folder.join("one.py")).unwrap();
    wait_for(&program, &["two"]);
}
