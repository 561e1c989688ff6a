//! The command line as `--name value` pairs. There are no defaults: the commands of the bench pass every option.

use std::collections::HashMap;
use std::str::FromStr;

use crate::Outcome;

pub(crate) struct Arguments(HashMap<String, String>);

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut pairs = HashMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| format!("expected --NAME, got {word}"))?;
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            pairs.insert(name.to_owned(), value);
        }
        Ok(Self(pairs))
    }

    pub(crate) fn text(&self, name: &str) -> Outcome<&str> {
        Ok(self.0.get(name).ok_or_else(|| format!("--{name} is missing"))?)
    }

    pub(crate) fn number<N: FromStr>(&self, name: &str) -> Outcome<N> {
        let text = self.text(name)?;
        text.parse().map_err(|_| format!("--{name} must be a number, got {text}").into())
    }
}
