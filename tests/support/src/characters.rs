//! Characters for tests, and a folder to load them from.

use tempfile::TempDir;

use crate::{ModelServer, Program};

/// A folder of characters.
pub struct CharacterFolder(TempDir);

impl Default for CharacterFolder {
    fn default() -> Self {
        Self(TempDir::new().unwrap())
    }
}

impl CharacterFolder {
    /// A folder with one character.
    pub fn with(name: &str, code: &str) -> Self {
        let folder = Self::default();
        folder.write(name, code);
        folder
    }

    /// Writes or replaces a character's file.
    pub fn write(&self, name: &str, code: &str) {
        std::fs::write(self.0.path().join(format!("{name}.py")), code).unwrap();
    }

    /// Removes a character's file.
    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.path().join(format!("{name}.py"))).unwrap();
    }

    /// The folder.
    pub fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Starts a program with these characters in front of a model server.
    pub fn serve(&self, server: &ModelServer) -> Program {
        Program::start(&["--upstream", &server.url, "--characters", self.path()], &[])
    }
}

/// Keeps a count.
pub const COUNTER: &str = r#"
CHARACTER_NAME = "Counter"
INSTRUCTIONS = {"instruction_prompt": "You count."}

class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "You count."

    def make_turn_context(self):
        return f"The count is {self.count}."

    def add(self, number: int = 1) -> str:
        """Add a number to the count."""
        self.count += number
        if self.count > 100:
            raise ValueError("too many")
        return f"The count is {self.count}."

TOOLS = [PromptGenerator.add]
"#;
