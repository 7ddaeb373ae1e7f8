//! The default limits, in one place: how much of anything from outside is accepted before it is refused.
//!
//! Only numbers live here, and the one function that holds patterns to theirs. What happens at a limit is
//! said where it is applied.

use std::time::Duration;

use regex::{Regex, RegexBuilder};

pub const MCP_LINE_BYTES: usize = 4 << 20;
pub const MCP_REQUESTS_IN_FLIGHT: usize = 32;
/// A call that sleeps costs a thread and no more, so there may be more of them.
pub const MCP_WAITS_IN_FLIGHT: usize = 256;
/// Requests that may be unanswered before reading pauses. Far above what runs at a time: a client that
/// pipelines is served, one that floods waits.
pub const MCP_UNANSWERED_REQUESTS: usize = 1024;
/// What their lines may hold together: a few of the greatest length, or all of an ordinary one.
pub const MCP_UNANSWERED_BYTES: usize = 16 << 20;
/// Answers that are ready for a client that does not read them, before we do not read either.
pub const MCP_UNREAD_BYTES: usize = 16 << 20;
/// Resources that somebody is told about at a time; each may have a tree that is read again and again.
pub const MCP_SUBSCRIPTIONS: usize = 64;
pub const JSON_DEPTH: usize = 128;
/// What a person is shown of the arguments before they decide. Longer ones are refused: nobody consents to what they
/// cannot read.
pub const QUESTION_CHARACTERS: usize = 2_000;
/// A tree of `TREE_NODES` fits; nothing that a client could use is larger.
pub const REPLY_BYTES: usize = 16 << 20;

pub const HTTP_CONNECTIONS: usize = 256;
pub const HTTP_CALLS_IN_FLIGHT: usize = 128;
pub const HTTP_BODY_BYTES: usize = 1 << 20;
/// Where a picture may be sent along, as base64.
pub const HTTP_PICTURE_BODY_BYTES: usize = 24 << 20;
pub const HTTP_HEADER_BYTES: usize = 32 << 10;
pub const HTTP_HEADER_TIME: Duration = Duration::from_secs(5);
pub const HTTP_BODY_TIME: Duration = Duration::from_secs(10);
pub const HTTP_TOKEN_CHARACTERS: usize = 8;
/// Who may watch the events at a time, how many wait for a slow watcher, and how many calls a late one gets.
pub const EVENT_WATCHERS: usize = 16;
pub const EVENT_QUEUE: usize = 256;
pub const EVENT_HISTORY: usize = 200;
/// A longer result is left out of its event.
pub const EVENT_RESULT_BYTES: usize = 32 << 10;

pub const SELECTOR_BYTES: usize = 2 << 10;
pub const SELECTOR_STEPS: usize = 32;
pub const SELECTOR_PREDICATES: usize = 64;
/// Of those, regular expressions: one may take milliseconds to compile.
pub const SELECTOR_PATTERNS: usize = 8;
pub const REGEX_CHARACTERS: usize = 512;
/// What a pattern may grow to once compiled: `(?:a{1000}){1000}` is short to write and huge to hold.
pub const REGEX_COMPILED_BYTES: usize = 1 << 20;
pub const TYPED_TEXT_CHARACTERS: usize = 64 << 10;
pub const LABEL_CHARACTERS: usize = 200;
/// What is put onto the clipboard, and what is read from it: other programs may hold anything there.
pub const CLIPBOARD_CHARACTERS: usize = 256 << 10;
pub const CLIPBOARD_BYTES: usize = 4 << 20;

/// Installed programs that are known; of more, those at the end of the alphabet are not.
pub const APPS: usize = 2_000;
pub const LAUNCH_PROGRAM_CHARACTERS: usize = 2048;
pub const LAUNCH_ARGUMENTS: usize = 100;
pub const LAUNCH_ARGUMENT_CHARACTERS: usize = 8 << 10;
pub const EXEC_COMMAND_CHARACTERS: usize = 10_000;
/// A shorter `exec.secret` stops the start.
pub const EXEC_SECRET_CHARACTERS: usize = 12;

pub const TREE_NODES: usize = 20_000;
pub const TREE_DEPTH: usize = 64;
pub const TREE_CHILDREN_OF_ONE_NODE: usize = 2_000;
pub const TREE_TEXT_BYTES: usize = 8 << 10;
pub const TREE_WALK_TIME: Duration = Duration::from_secs(25);
/// Elements that are known by a ref; of more, those that were not used the longest are forgotten.
pub const REFS: usize = 32_768;
pub const PLATFORM_CALL_TIME: Duration = Duration::from_secs(3);

pub const SCREENSHOT_PIXELS: u64 = 64_000_000;
pub const REFERENCE_PICTURE_BYTES: u64 = 32 << 20;
pub const SKETCH_SIDE: usize = 1_000;
/// Elements with numbers in one picture: with more of them it could not be read.
pub const MARKS: usize = 200;
/// Pictures that are kept to be compared with, and what they may hold together.
pub const FRAMES: usize = 8;
pub const FRAME_BYTES: usize = 64 << 20;
/// Boxes of what changed in one reply.
pub const CHANGED_BOXES: usize = 50;

pub const WAIT_CONDITIONS: usize = 64;
pub const ACT_STEPS: usize = 64;
pub const ACT_ALTERNATIVES: usize = 16;
pub const ACT_EXPECTATIONS: usize = 16;
/// Each holds a picture.
pub const VISUAL_CONDITIONS: usize = 4;
pub const PREDICATES: usize = 256;
pub const PREDICATE_BYTES: usize = 16 << 10;
pub const TRACE_BYTES: u64 = 1 << 30;
/// A trace stops before it fills the disk that everything else needs.
pub const TRACE_FREE_BYTES: u64 = 200 << 20;
/// How long a traced call may be held up by the look at the windows before it, and after it.
pub const TRACE_LOOK_TIME: Duration = Duration::from_secs(2);
/// What a replay reads into memory.
pub const TRACE_READ_BYTES: u64 = 64 << 20;
/// The first line of a trace, as far as a list of traces reads it.
pub const TRACE_HEADER_BYTES: u64 = 16 << 10;
/// Traces that a list names; the newest come first.
pub const TRACES_LISTED: usize = 200;
/// The longest arguments that the config allows, and a row around them.
pub const TRACE_LINE_BYTES: usize = 17 << 20;
pub const REPLAYS: usize = 32;

pub const YAML_BYTES: usize = 1 << 20;
pub const YAML_NODES: usize = 10_000;
pub const CONFIG_BYTES: usize = 1 << 20;

/// Compiles a pattern from outside, or says in one line why not.
pub fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    compile_pattern_in(pattern, true)
}

/// The same, for a caller who chooses whether the case of letters counts.
pub fn compile_pattern_in(pattern: &str, case_sensitive: bool) -> Result<Regex, String> {
    let characters = pattern.chars().count();
    if characters > REGEX_CHARACTERS {
        return Err(format!(
            "the pattern has {characters} characters, at most {REGEX_CHARACTERS} are allowed"
        ));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(!case_sensitive)
        .size_limit(REGEX_COMPILED_BYTES)
        .build()
        .map_err(|error| in_one_line(pattern, &error))
}

fn in_one_line(pattern: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(bytes) => {
            format!("the pattern compiles to more than {bytes} bytes; use smaller repetitions")
        }
        // The crate draws the pattern with a caret under the fault; its last line names the fault.
        other => {
            let drawn = other.to_string();
            let last = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let place = fault(pattern).map_or(String::new(), |at| format!(" (at character {at})"));
            format!("the pattern does not compile: {last}{place}")
        }
    }
}

/// Where a pattern is wrong, counted from 1.
fn fault(pattern: &str) -> Option<usize> {
    let offset = match regex_syntax::parse(pattern).err()? {
        regex_syntax::Error::Parse(error) => error.span().start.offset,
        regex_syntax::Error::Translate(error) => error.span().start.offset,
        _ => return None,
    };
    Some(pattern.get(..offset)?.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: &str) {
        let complaint = compile_pattern(pattern).err().unwrap_or_else(|| "compiles".to_owned());
        assert!(complaint.contains(expected), "{pattern:.40}: {complaint}");
    }

    #[test]
    fn ordinary_patterns_compile() {
        check("(?i)delete|remove", "compiles");
        check("", "compiles");
        check(&"é".repeat(REGEX_CHARACTERS), "compiles");
    }

    /// H-43 on code: every pattern is compiled here.
    #[test]
    fn bad_patterns_say_why_in_one_line() {
        check("(", "unclosed group (at character 1)");
        check("é+(a", "unclosed group (at character 3)");
        check(r"a\p{Nope}", "(at character 2)");
        check("(?=a)", "look-around");
        check(r"(a)\1", "backreferences");
        check("(?:a{1000}){1000}", "more than 1048576 bytes");
        check(&"a".repeat(REGEX_CHARACTERS + 1), "513 characters");
        assert!(!compile_pattern("(").expect_err("unclosed").contains('\n'));
    }
}
