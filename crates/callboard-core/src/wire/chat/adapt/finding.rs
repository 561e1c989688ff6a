//! What was found out about a model of a server, as it is named in the store and in the API.

use super::{Feature, Quirk, Support};

/// One thing that was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A form that requests must have, learned from a refusal or found by a probe.
    Quirk(Quirk),
    /// What the server does with a feature.
    Capability(Feature, Support),
}

impl Finding {
    /// The word for quirks.
    pub const QUIRK: &'static str = "quirk";
    /// The word for capabilities.
    pub const CAPABILITY: &'static str = "capability";

    /// What kind of thing it is.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Quirk(_) => Self::QUIRK,
            Self::Capability(..) => Self::CAPABILITY,
        }
    }

    /// Its name: for a model there is one finding of a kind and name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Quirk(quirk) => quirk.to_string(),
            Self::Capability(feature, _) => feature.as_str().to_owned(),
        }
    }

    /// What was found; a quirk says it with its name.
    #[must_use]
    pub fn value(&self) -> &'static str {
        match self {
            Self::Quirk(_) => "",
            Self::Capability(_, support) => support.as_str(),
        }
    }

    /// Reads what the other three give; none for words of another version.
    #[must_use]
    pub fn read(kind: &str, name: &str, value: &str) -> Option<Self> {
        match kind {
            Self::QUIRK => Quirk::read(name).map(Self::Quirk),
            Self::CAPABILITY => Some(Self::Capability(Feature::read(name)?, Support::read(value)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_read_as_they_are_written() {
        let capabilities = Feature::ALL
            .into_iter()
            .flat_map(|feature| Support::ALL.into_iter().map(move |support| Finding::Capability(feature, support)));
        let quirks = [Quirk::Tools, Quirk::Field("top_k".to_owned()), Quirk::MessageField("name".to_owned())];
        for finding in capabilities.chain(quirks.map(Finding::Quirk)) {
            assert_eq!(Finding::read(finding.kind(), &finding.name(), finding.value()), Some(finding));
        }
        for (kind, name, value) in [("quirk", "tulips", ""), ("capability", "tools", "adored"), ("mood", "tools", "")] {
            assert_eq!(Finding::read(kind, name, value), None, "{kind} {name} {value}");
        }
    }
}
