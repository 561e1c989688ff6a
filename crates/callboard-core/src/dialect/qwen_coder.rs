//! Qwen3-Coder: `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`.
//!
//! The outer tags are often missing, and so is any closing tag.

use super::tagged::Spelling;

pub(super) const QWEN_CODER: Spelling = Spelling {
    function: "<function=",
    function_end: "</function>",
    parameter: "<parameter=",
    key_end: ">",
    value: "",
    parameter_end: "</parameter>",
    outer_end: "</tool_call>",
    outside: &["</tool_call>", "<tool_call>", "<function="],
};

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    const PARIS: &str = r#"call get_weather {"city":"Paris"}"#;

    #[test]
    fn clean() {
        complete(&[
            (
                "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
                &[r#"call get_weather {"city":"Paris","days":"3"}"#],
            ),
            (
                "I'll look.\n\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
                &["text I'll look.", PARIS],
            ),
            ("<tool_call><function=list_files></function></tool_call>\n\nDone.", &["call list_files {}", "text Done."]),
            (
                "<tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=list_files>\n</function>\n</tool_call>",
                &[PARIS, "call list_files {}"],
            ),
            (
                "<function=write_file><parameter=content>\n\n  a\n\n</parameter></function>",
                &[r#"call write_file {"content":"\n  a\n"}"#],
            ),
            (r#"<function=get_weather>{"city": "Paris"}</function>"#, &[r#"call get_weather {"city": "Paris"}"#]),
        ]);
    }

    #[test]
    fn values_may_hold_tags() {
        complete(&[
            (
                "<tool_call><function=write_file><parameter=content>a </parameter> b </function> c <tool_call> d</parameter></function></tool_call>",
                &[r#"call write_file {"content":"a </parameter> b </function> c <tool_call> d"}"#],
            ),
            (
                "<tool_call><function=write_file><parameter=content><b>{`x`}</b> < 3</parameter></function></tool_call>",
                &[r#"call write_file {"content":"<b>{`x`}</b> < 3"}"#],
            ),
        ]);
    }

    #[test]
    fn missing_closing_tags() {
        complete(&[
            (
                "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n<parameter=days>\n3\n</function>\n</tool_call>",
                &[r#"call get_weather {"city":"Paris","days":"3"}"#],
            ),
            ("<function=get_weather>\n<parameter=city>\nParis\n</function>", &[PARIS]),
            ("<function=get_weather>\n<parameter=city>\nParis\n</parameter>", &[PARIS]),
            ("<function=get_weather>\n<parameter=city>\nParis", &[PARIS]),
            ("<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</tool_call>", &[PARIS]),
            ("<function=get_weather><parameter=city>Paris</parameter>\nThat's it.", &[PARIS, "text That's it."]),
            ("<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</tool_call>", &[PARIS]),
        ]);
    }

    #[test]
    fn what_the_limit_cut_is_not_delivered() {
        let call = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>";
        for at in 4..call.len() {
            cut(&[(&format!("So.\n{}", &call[..at]), &["text So."])]);
        }
        cut(&[(call, &[PARIS])]);
    }

    #[test]
    fn prose_about_the_tags_is_text() {
        unchanged(&[
            "Write <function=NAME> and so on.",
            "In Rust <function> is nothing, <functional> neither.",
            "Write `<function=get_weather>` and `</function>`.",
            "<parameter name=\"x\">5</parameter>",
        ]);
    }
}
