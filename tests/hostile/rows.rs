//! The rows: an id, what comes in, what must come of it. They are examples of classes.

pub struct Row {
    pub id: &'static str,
    pub input: &'static str,
    pub outcome: &'static str,
    /// What of the row cannot be tried here, and why. A row without a test needs it.
    pub not_tried: Option<&'static str>,
}

const fn row(id: &'static str, input: &'static str, outcome: &'static str) -> Row {
    Row { id, input, outcome, not_tried: None }
}

impl Row {
    const fn but(self, not_tried: &'static str) -> Row {
        Row { not_tried: Some(not_tried), ..self }
    }
}

/// Under a heading each, in the order of the ids.
pub const SECTIONS: &[(&str, &[Row])] = &[
    ("The HTTP front door", FRONT),
    ("Paths from outside", PATHS),
    ("MCP over stdio", STDIO),
    ("Bombs", BOMBS),
    ("What stands on the screen", SCREEN),
    ("Secrets", SECRETS),
    ("Gates", GATES),
    ("A private desktop", PRIVATE),
    ("Commands", EXEC),
    ("A broken environment", BROKEN),
    ("Folders, files and costs", COSTS),
];

const FRONT: &[Row] = &[
    row("H-01", "a request for another host's name", "403; no tool runs, no step is taken"),
    row("H-02", "fifteen spellings of Host, three of them ours", "ours are served, the rest is 400 or 403"),
    row(
        "H-03",
        "an action from another origin, from `null`, from another port",
        "403; our own origin is served",
    ),
    row("H-05", "an action as `text/plain`, which a browser sends unasked", "415, nothing is done"),
    row("H-06", "a picture's address that would act, from another site", "403, nothing is done"),
    row("H-07", "an action by GET", "405"),
    row(
        "H-08",
        "no token, a wrong one, a misspelt scheme, the token in the address of a POST",
        "401 each; compared in constant time",
    ),
    row(
        "H-09",
        "the token in the address of a picture",
        "served; the token is in no log, and no referrer and no cache keep it",
    ),
    row("H-10", "an address beyond this machine without a token", "no start")
        .but("a flag that allows it all the same: there is none"),
    row("H-11", "a body of 2 MiB; a body without an end", "413, closed at the limit, memory stays"),
    row(
        "H-12",
        "a hundred connections that send a byte a second",
        "each is closed in time, others are served meanwhile",
    ),
    row(
        "H-14",
        "a socket for events from a stranger, without a token, with a huge frame",
        "403, 401, closed",
    )
    .but("frames: there is no WebSocket, events are sent one way and nothing is upgraded"),
    row(
        "H-15",
        "a window's title that is a script",
        "shown as text; the page's policy forbids all scripts but its own",
    )
    .but("whether a browser runs it is tried outside of this table, by tests/clients/page.mjs in ./test.sh"),
    row("H-16", "numbers that are none, too large or given twice", "400 with the field's name"),
];

const PATHS: &[Row] = &[
    row(
        "H-17",
        "a path that leaves its folder: `..`, absolute, a URL",
        "refused in the same words, whether the file exists or not",
    ),
    row("H-19", "a link that leads out, also one that is swapped in after the check", "refused"),
    row("H-20", "a pipe, a device, a folder, a huge sparse file as a scenario", "ScenarioInvalid, at once"),
    row(
        "H-21",
        "a picture to compare with that is outside, a bomb, cut off, of another format",
        "`passed: false` with a reason; memory stays",
    ),
    row(
        "H-22",
        "labels that are paths, have NUL or a line break, or are huge",
        "the id is ours; the label is stored as text, cut at 200",
    ),
    row("H-23", "another job's artifact", "403 or 404")
        .but("artifacts: there are no jobs yet; the routes that hand out files of traces are tried"),
    row("H-25", "an audit log or a trace folder that is a link", "no start"),
];

const STDIO: &[Row] = &[
    row("H-26", "a line that is no JSON, then a good one", "the good one is answered; stdout stays pure"),
    row(
        "H-28",
        "100 MiB without a line break",
        "dropped with an error; memory stays; the next line is answered",
    ),
    row("H-29", "arguments 10,000 levels deep", "an error, no overflow"),
    row(
        "H-30",
        "an unknown tool; arguments of the wrong type; `_caller`",
        "the field is named, nothing is done; a caller cannot name itself",
    ),
    row("H-31", "a call before `initialize`", "a clean answer"),
    row(
        "H-32",
        "versions of the protocol: old, new, unknown",
        "each era's own answer; the unknown gets the supported list",
    ),
    row(
        "H-33",
        "a wait that is cancelled; an unknown id that is cancelled",
        "it stops and is not answered; the other is ignored",
    ),
    row("H-35", "the end of input during a drag", "keys and buttons are let go; exit code 0"),
    row("H-37", "the reader of our output is gone, the input stays open", "the server ends"),
    row("H-38", "200 calls at once, large answers", "200 answers, each one line of JSON"),
    row("H-39", "a tool that panics, with all logs on", "Internal; stdout stays pure; the server lives"),
];

const BOMBS: &[Row] = &[
    row("H-41", "a scenario of aliases of aliases, of itself, 100,000 levels deep", "ScenarioInvalid"),
    row(
        "H-42",
        "a scenario with unknown targets, doubles, without states, of 50 MB",
        "ScenarioInvalid with the place; the aliases of keys are read",
    ),
    row(
        "H-43",
        "patterns that explode, that look around, that are broken",
        "matched fast or BadRequest; never ignored",
    ),
    row(
        "H-45",
        "selectors: 10,000 steps, 1 MiB, unbalanced, odd indexes, quotes",
        "BadRequest or the right element; work is bounded",
    ),
    row(
        "H-46",
        "a tree of a million nodes, 100,000 levels, 2^30 children, a cycle",
        "`truncated: true` within the limits",
    ),
    row("H-47", "a grid of no or of 10^8 columns", "BadRequest"),
    row("H-48", "1,000 conditions; no pause; an endless or negative wait", "the limits hold, or BadRequest"),
    row("H-49", "a schema for results that fetches, loops or is huge", "refused when the job is made")
        .but("there are no jobs yet, so nothing takes a schema"),
    row(
        "H-50",
        "10 MB to type; 10^9 clicks; places off the screen; times without an end",
        "BadRequest; no input is sent",
    ),
];

const SCREEN: &[Row] = &[
    row("H-51", "a title with terminal codes", "stripped everywhere; the element is still found"),
    row("H-52", "invisible characters in an argument", "escaped in the audit log"),
    row(
        "H-53",
        "a screen that gives orders, and a client that obeys",
        "policy holds; the audit log shows what was tried",
    ),
    row(
        "H-54",
        "text that closes our envelope; a forged confirmation",
        "the envelope stays closed; ConfirmationInvalid",
    ),
    row(
        "H-56",
        "an element that changes between look and click",
        "looked at again before the input; no click",
    ),
    row("H-57", "everything that was seen", "marked `untrusted`"),
];

const SECRETS: &[Row] = &[
    row(
        "H-58",
        "a secret typed into a password field, then every way to read",
        "it is nowhere but in the application",
    ),
    row(
        "H-59",
        "a password's value in trees, changes, patches, snapshots, waits, claims, finds, receipts, the clipboard",
        "`[REDACTED]`",
    ),
    row(
        "H-60",
        "`blur_screenshots`",
        "black in every picture, also those that are traced, previewed or sent to a model",
    ),
    row("H-61", "a broken pattern for redaction", "no start"),
    row("H-63", "an API key in an address, or echoed in an error", "scrubbed")
        .but("the events of jobs: there are no jobs"),
    row("H-65", "a replay of text that was redacted", "NeedsSecret; no placeholder is typed"),
    row(
        "H-116",
        "a named secret in pieces: erased in part, copied in part, in another field",
        "the field is secret until it is emptied; parts are hidden",
    ),
    row(
        "H-118",
        "a picture of something secret that moves, and text read from it",
        "black where it was and where it is; what the tree hides is not read",
    ),
];

const GATES: &[Row] = &[
    row("H-66", "every way to one protected button", "ConfirmationRequired each time")
        .but("by way of a job: there are no jobs"),
    row("H-67", "a consent used twice, also at the same time", "one success"),
    row("H-68", "a consent that is too old; a clock set back", "ConfirmationInvalid")
        .but("setting the clock of the machine back: consents go by monotonic time, which H-95 holds"),
    row(
        "H-69",
        "a consent for anything else than what was asked",
        "ConfirmationInvalid, and the consent is spent",
    ),
    row(
        "H-70",
        "thousands of wrong secrets and tokens",
        "after a few, pauses that grow, and a line in the log",
    ),
    row("H-71", "a denied tool by way of another one", "PermissionDenied")
        .but("by way of a job: there are no jobs"),
    row("H-72", "an allow list without a default", "what is not listed is denied"),
    row("H-73", "two actions allowed, fifty tried at once", "exactly two effects"),
    row("H-74", "the budgets of pictures, model tokens and time", "BudgetExceeded"),
    row("H-75", "dry runs of every input; the edges of the allowed region", "no input; refused outside"),
    row(
        "H-111",
        "keys and the wheel inside open menus, lists, combo boxes, radio groups and tabs",
        "ConfirmationRequired if one of the options is protected",
    ),
    row(
        "H-112",
        "a protected name spelled otherwise, in something that is pressed, or on a label",
        "ConfirmationRequired",
    ),
    row(
        "H-113",
        "what comes up under the pointer, between two clicks, and between press and release",
        "looked at again before each press; nothing is pressed",
    ),
    row("H-114", "a window that changes while the person is asked", "asked again, with what changed"),
    row("H-115", "arguments too long for a question", "the whole is shown, or it is refused; nothing is cut"),
    row("H-117", "random inputs on a window with one protected element", "it never changes without consent"),
    row(
        "H-130",
        "every tool on a window of an application that is denied",
        "listed without its title; no text, tree or pixel of it leaves; no input reaches it",
    ),
    row(
        "H-131",
        "an application that the person has to be asked about",
        "withheld until the person agrees; asked once in a session; a no holds, and nobody else can answer",
    ),
];

const PRIVATE: &[Row] = &[
    row(
        "H-132",
        "a program on an isolated private desktop that reads files, writes to the system, and looks for processes, displays, sockets and the network",
        "it gets nowhere; its window and its elements are there",
    ),
    row(
        "H-133",
        "isolation that is demanded or expected, where it is not possible",
        "no private desktop; or a warning on stderr, in `doctor` and in `get_capabilities`",
    ),
];

const EXEC: &[Row] = &[
    row("H-76", "a command while that is off, without or with a wrong secret", "refused"),
    row("H-77", "names that are shell or options", "arguments only; nothing is run"),
    row(
        "H-78",
        "a command that outlives its time with children",
        "the whole family is ended, `timed_out: true`",
    ),
    row("H-79", "a flood of output; bytes that are no text", "cut and said so; memory stays"),
    row(
        "H-80",
        "an empty, endless or broken command; a wrong folder; a shell that is not offered",
        "BadRequest",
    ),
    row(
        "H-81",
        "keys of ours and of others in the environment",
        "no program that we start gets them, on any way",
    ),
];

const BROKEN: &[Row] = &[
    row(
        "H-82",
        "an application that dies in the middle of a walk",
        "a part of the tree, or WindowGone; the next call is fine",
    ),
    row("H-83", "an application that never answers", "a timeout that says where; other windows are served"),
    row(
        "H-84",
        "a mute accessibility bus; no session bus; no display; the X server gone",
        "the server says so, lives and connects again",
    ),
    row("H-85", "a window id that is given to the next program", "WindowGone for the old uid and its refs"),
    row(
        "H-86",
        "the server killed while it holds keys or a button",
        "they are let go, at the end or by the next server",
    ),
    row("H-88", "the clipboard in the way of typing", "it is not used for typing, or restored"),
    row(
        "H-89",
        "a full disk at the n-th write",
        "no audit, no input; the trace stops with an error; no torn line but the last",
    ),
    row(
        "H-90",
        "an audit log that is removed, replaced or shared",
        "noticed before the next input; made anew and said so, or no input; no line lost",
    ),
    row(
        "H-91",
        "the server killed during a trace",
        "every whole line can be read; a replay says where it tore",
    ),
    row("H-92", "a port in use; a broken config; an unknown key", "a clear end")
        .but("a database: there is none"),
    row("H-94", "a monitor that is gone between picture and click", "the old picture is refused"),
    row("H-95", "a clock that jumps", "what expires goes by monotonic time"),
];

const COSTS: &[Row] = &[
    row(
        "H-120",
        "a `config.json` that somebody else put into the working folder",
        "obeyed where it tightens; what it would open is left out and named",
    ),
    row(
        "H-121",
        "small pictures that unpack to hundreds of megabytes, twenty at once",
        "one budget of memory for all; what never fits is refused",
    ),
    row("H-122", "an audit log that cannot be rotated", "no line is lost, however often it is tried"),
    row(
        "H-123",
        "300 half-open connections; every place in use",
        "the stop switch and approvals are reached",
    ),
    row("H-124", "a private desktop whose server or keeper is killed while it starts", "no folder stays"),
    row(
        "H-125",
        "a program that stops the keeper of its private desktop",
        "the start goes on, or ends with a reason",
    ),
    row("H-126", "a trace that is removed while it is written", "a warning, and `trace_error` at its end"),
    row("H-127", "150 waits over REST", "other calls are answered at once"),
    row("H-128", "a flag's value that is also the name of a command", "it is the value"),
];
