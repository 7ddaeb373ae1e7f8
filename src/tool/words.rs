//! Tools by the words that receipts and models have for them: `click` is click_element.

use super::Table;
use super::lean::tool_word;

/// Words that are no part of a tool's name.
const WORDS: &[(&str, &str)] = &[
    ("type", "type_text"),
    ("write", "type_text"),
    ("press", "press_key"),
    ("key", "press_key"),
    ("keypress", "press_key"),
    ("screenshot", "get_screenshot"),
    ("select", "select_option"),
    ("fill", "set_value"),
    ("clear", "clear_text"),
    ("launch", "launch_app"),
    ("wait", "wait_for"),
    ("assert", "assert_state"),
    ("navigate", "open_url"),
    ("goto", "open_url"),
];

impl Table {
    /// The tool that is offered here and that a word stands for which is no tool's name.
    pub fn tool_by_word(&self, word: &str) -> Option<&'static str> {
        if self.find_tool(word).is_some() {
            return None;
        }
        let by_part = self.tool_names().find(|name| tool_word(name) == word);
        let by_word = || WORDS.iter().find(|(known, _)| *known == word).map(|(_, name)| *name);
        by_part.or_else(by_word).filter(|name| self.find_tool(name).is_some())
    }
}
