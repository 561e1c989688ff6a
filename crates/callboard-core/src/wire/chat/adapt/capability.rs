//! What a model server does with the parts of a request that concern tools, and how tools reach its models because of it.
//!
//! A field that is refused is a [`Quirk`](super::Quirk). A field may also be accepted and ignored, which only a probe can tell.

use std::collections::BTreeMap;
use std::fmt;

/// A part of a request that servers may ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// `tools`: the model sees them.
    Tools,
    /// `tool_choice: "required"`: there is a call.
    RequiredChoice,
    /// A named `tool_choice`: there is a call of that function, its arguments constrained to the schema.
    NamedChoice,
    /// `parallel_tool_calls: false`: there is at most one call.
    ParallelToolCalls,
    /// `response_format` with a schema: the answer is constrained to it.
    ResponseFormat,
    /// `strict` in tools: arguments are constrained to the schema.
    Strict,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Tools,
        Self::RequiredChoice,
        Self::NamedChoice,
        Self::ParallelToolCalls,
        Self::ResponseFormat,
        Self::Strict,
    ];

    /// Its name in the API and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::RequiredChoice => "tool_choice:required",
            Self::NamedChoice => "tool_choice:named",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::ResponseFormat => "response_format",
            Self::Strict => "strict",
        }
    }

    /// The feature of this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == name)
    }
}

/// What a server does with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It does what the field says.
    Honored,
    /// It accepts the field and does nothing with it.
    Ignored,
    /// It answers with an error.
    Refused,
}

impl Support {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Honored, Self::Ignored, Self::Refused];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Honored => "honored",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }

    /// The support of this name.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|support| support.as_str() == word)
    }
}

/// How tools reach a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsMode {
    /// In the request; the server puts them before the model and parses its calls.
    Native,
    /// In the prompt; the calls are read from the text.
    Prompt,
    /// In the prompt; which tool is called, and with which arguments, is decided by constrained decoding.
    Constrained,
}

impl ToolsMode {
    /// The words for them in settings; `auto` is none of them.
    pub const WORDS: [&'static str; 4] = ["auto", "native", "prompt", "constrained"];

    /// The mode that a setting asks for.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        [Self::Native, Self::Prompt, Self::Constrained].into_iter().find(|mode| mode.to_string() == word)
    }
}

impl fmt::Display for ToolsMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Native => "native",
            Self::Prompt => "prompt",
            Self::Constrained => "constrained",
        })
    }
}

/// How a server can be made to write JSON of a given schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// By a named `tool_choice`: the parameters of that function are the schema.
    NamedChoice,
    /// By `response_format`.
    ResponseFormat,
}

impl Constraint {
    /// The feature that it rests on.
    #[must_use]
    pub fn feature(self) -> Feature {
        match self {
            Self::NamedChoice => Feature::NamedChoice,
            Self::ResponseFormat => Feature::ResponseFormat,
        }
    }
}

/// What is known of one model of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities(BTreeMap<Feature, Support>);

impl Capabilities {
    /// What it does with a feature, where that is known.
    #[must_use]
    pub fn get(&self, feature: Feature) -> Option<Support> {
        self.0.get(&feature).copied()
    }

    /// Remembers what it does with a feature.
    pub fn set(&mut self, feature: Feature, support: Support) {
        self.0.insert(feature, support);
    }

    /// All that is known.
    pub fn iter(&self) -> impl Iterator<Item = (Feature, Support)> + '_ {
        self.0.iter().map(|(feature, support)| (*feature, *support))
    }

    /// True while nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// False where a choice among the tools is known not to be kept.
    #[must_use]
    pub fn force_choices(&self) -> bool {
        let features = [Feature::RequiredChoice, Feature::NamedChoice];
        features.into_iter().all(|feature| self.get(feature).is_none_or(|support| support == Support::Honored))
    }

    /// How its output can be constrained. A named choice comes first: its calls are native ones.
    #[must_use]
    pub fn constraint(&self) -> Option<Constraint> {
        let honors = |feature| self.get(feature) == Some(Support::Honored);
        match (honors(Feature::NamedChoice), honors(Feature::ResponseFormat)) {
            (true, _) => Some(Constraint::NamedChoice),
            (false, true) => Some(Constraint::ResponseFormat),
            (false, false) => None,
        }
    }

    /// How tools reach the model where no setting says it: natively, unless the server is known not to pass them on.
    #[must_use]
    pub fn tools_mode(&self) -> ToolsMode {
        match self.get(Feature::Tools) {
            Some(Support::Ignored) if self.constraint().is_some() => ToolsMode::Constrained,
            Some(Support::Ignored | Support::Refused) => ToolsMode::Prompt,
            Some(Support::Honored) | None => ToolsMode::Native,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(features: &[(Feature, Support)]) -> Capabilities {
        Capabilities(features.iter().copied().collect())
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert!(Feature::ALL.into_iter().all(|feature| Feature::read(feature.as_str()) == Some(feature)));
        assert!(Support::ALL.into_iter().all(|support| Support::read(support.as_str()) == Some(support)));
        let modes = ToolsMode::WORDS.map(|word| ToolsMode::read(word).map(|mode| mode.to_string()));
        assert_eq!(modes.map(Option::unwrap_or_default), ["", "native", "prompt", "constrained"]);
    }

    #[test]
    fn tools_are_native_until_the_server_is_known_to_drop_them() {
        use Feature::{NamedChoice, ResponseFormat, Tools};
        use Support::{Honored, Ignored, Refused};
        let table: [(&[(Feature, Support)], ToolsMode); 6] = [
            (&[], ToolsMode::Native),
            (&[(Tools, Honored), (NamedChoice, Honored)], ToolsMode::Native),
            (&[(Tools, Ignored)], ToolsMode::Prompt),
            (&[(Tools, Refused), (ResponseFormat, Honored)], ToolsMode::Prompt),
            (&[(Tools, Ignored), (ResponseFormat, Honored)], ToolsMode::Constrained),
            (&[(Tools, Ignored), (NamedChoice, Honored)], ToolsMode::Constrained),
        ];
        for (features, mode) in table {
            assert_eq!(known(features).tools_mode(), mode, "{features:?}");
        }
    }
}
