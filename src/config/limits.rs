//! The default limits, in one place: how much of anything from outside is accepted before it is refused.
//!
//! Only numbers live here. What happens at a limit is said where it is applied.

use std::time::Duration;

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
/// How long a call waits for the end of a web task; then it answers with the task as it is.
pub const WEB_TASK_WAIT: Duration = Duration::from_secs(300);
pub const HTTP_CALLS_IN_FLIGHT: usize = 128;
/// The same for calls that sleep: however many wait, a look is answered at once.
pub const HTTP_WAITS_IN_FLIGHT: usize = 128;
/// Connections beyond those, for the stop switch and for approvals alone.
pub const HTTP_KEPT_CONNECTIONS: usize = 16;
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
/// What the images that callers send may take at a time, of all calls together: two of 16 million pixels.
pub const PICTURE_WORK_BYTES: u64 = 128 << 20;
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

// Patterns are compiled below the config, which holds some, and pictures are another crate's; what is told of them is
// what is held.
const _: () = assert!(REGEX_CHARACTERS == crate::pattern::MOST_CHARACTERS);
const _: () = assert!(SCREENSHOT_PIXELS == pixels::image::MAX_PIXELS);
const _: () = assert!(REGEX_COMPILED_BYTES == crate::pattern::COMPILED_BYTES);
