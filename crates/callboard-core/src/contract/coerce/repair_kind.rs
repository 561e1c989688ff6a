//! The repairs a schema can ask for, and their public names.

/// A repair that a schema asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoerceRepair {
    /// `"5"` for `5`.
    NumberFromText,
    /// `"true"` for `true`.
    BooleanFromText,
    /// `5.0` for `5`.
    IntegerFromFloat,
    /// `"x"` for `["x"]`.
    ArrayAroundScalar,
    /// `{…}` for `[{…}]`.
    ArrayAroundObject,
    /// `2` for `"2"`, the only such value of an enum.
    TextFromNumber,
    /// `true` for `"true"`, the only such value of an enum.
    TextFromBoolean,
    /// `" Celsius"` for `"celsius"`.
    EnumSpelling,
    /// `null` for an optional property that cannot be null: left out.
    NullForOptional,
    /// `"[1]"` for `[1]`.
    JsonInText,
}

impl CoerceRepair {
    /// The name used in headers, metrics and traces.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NumberFromText => "number_from_text",
            Self::BooleanFromText => "boolean_from_text",
            Self::IntegerFromFloat => "integer_from_float",
            Self::ArrayAroundScalar => "array_around_scalar",
            Self::ArrayAroundObject => "array_around_object",
            Self::TextFromNumber => "text_from_number",
            Self::TextFromBoolean => "text_from_boolean",
            Self::EnumSpelling => "enum_spelling",
            Self::NullForOptional => "null_for_optional",
            Self::JsonInText => "json_in_text",
        }
    }
}
