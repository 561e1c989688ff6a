//! MiniMax M2: `<minimax:tool_call><invoke name="…"><parameter name="…">…</parameter></invoke>…`, and
//! DSML, the form of DeepSeek since V3.2, which spells the same tags with its own prefix.

use super::tagged::Spelling;

pub(super) const INVOKE: Spelling = Spelling {
    function: "<invoke name=",
    function_end: "</invoke>",
    parameter: "<parameter name=",
    key_end: ">",
    value: "",
    parameter_end: "</parameter>",
    outer_end: "</minimax:tool_call>",
    outside: &["</minimax:tool_call>", "</function_calls>", "</tool_call>", "</tool_calls>", "<invoke name="],
};

pub(super) const DSML: Spelling = Spelling {
    function: "<｜DSML｜invoke name=",
    function_end: "</｜DSML｜invoke>",
    parameter: "<｜DSML｜parameter name=",
    key_end: ">",
    value: "",
    parameter_end: "</｜DSML｜parameter>",
    outer_end: "</｜DSML｜function_calls>",
    outside: &["</｜DSML｜function_calls>", "</｜DSML｜tool_calls>", "<｜DSML｜invoke name="],
};

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, unchanged};

    const PARIS: &str = r#"call get_weather {"city":"Paris"}"#;

    #[test]
    fn clean_and_unclosed() {
        complete(&[
            (
                "Ok.\n<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>\n<invoke name=\"list_files\">\n</invoke>\n</minimax:tool_call>",
                &["text Ok.", PARIS, "call list_files {}"],
            ),
            (
                "<function_calls>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>\n</function_calls>",
                &[PARIS],
            ),
            (
                "Ok.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
                &["text Ok.", PARIS],
            ),
            (
                "<｜DSML｜tool_calls><｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter name=\"city\" string=\"true\">Paris",
                &[PARIS],
            ),
        ]);
    }

    #[test]
    fn prose_about_the_tags_is_text() {
        unchanged(&["Use <invoke name=X> here.", "The <function_calls> tag."]);
    }
}
