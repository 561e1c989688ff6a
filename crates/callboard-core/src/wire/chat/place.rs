//! The place of a value in a request, such as `messages[2].tool_calls[0].id`. Most are never written: only an error names its place.

use std::fmt;

/// A place, made of the places around it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// A message.
    Message(usize),
    /// A field of an object.
    Field(&'a Place<'a>, &'static str),
    /// An item of a list.
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// The place of a field.
    pub(super) fn field(&self, name: &'static str) -> Place<'_> {
        Place::Field(self, name)
    }

    /// The place of an item.
    pub(super) fn item(&self, number: usize) -> Place<'_> {
        Place::Item(self, number)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(number) => write!(f, "messages[{number}]"),
            Self::Field(object, name) => write!(f, "{object}.{name}"),
            Self::Item(list, number) => write!(f, "{list}[{number}]"),
        }
    }
}

impl From<Place<'_>> for String {
    fn from(place: Place<'_>) -> Self {
        place.to_string()
    }
}
