//! What a long run is made of.

/// Blanks, brackets, quotes, letters and digits.
pub(crate) const CHARACTERS: [&str; 18] =
    [" ", "\n", "[", "]", "{", "}", "(", ")", "<", "\"", "'", "\\", "`", ",", ":", "a", "0", "é"];

/// Beginnings of calls, marks, halves of marks, and names of tools.
pub(crate) const WORDS: [&str; 18] = [
    "[\n",
    "{\n",
    "``` ",
    "<|",
    "<tool_call>\n",
    "</tool_cal",
    "</parameter>",
    "x</parameter>",
    "</parameter> <",
    "<parameter=a>",
    "find_play",
    "find_play\n<arg_key>\n",
    "find_play with\n<tool_call>",
    "functions.",
    "[ARGS]",
    "[TOOL_CALLS]",
    "{\"name\": ",
    "\"a\": 1, ",
];

/// At least `size` bytes of a unit.
pub(crate) fn run(unit: &str, size: usize) -> String {
    unit.repeat(size.div_ceil(unit.len()))
}
