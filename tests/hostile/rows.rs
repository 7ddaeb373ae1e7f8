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
    ("Pages", PAGES),
    ("Commands", EXEC),
    ("A broken environment", BROKEN),
    ("Folders, files and costs", COSTS),
    ("Jobs", JOBS),
    ("A browser and its network", BROWSER),
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
        .but("jobs of two servers; of one, files are found by their rows alone"),
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
    row("H-49", "a schema for results that fetches, loops or is huge", "refused when the job is made"),
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
        .but("the events of jobs are not searched for keys"),
    row("H-65", "a replay of text that was redacted", "NeedsSecret; no placeholder is typed"),
    row(
        "H-116",
        "a named secret in pieces: erased in part, copied in part, in another field",
        "the field is secret as long as it is there; parts are hidden",
    ),
    row("H-390", "a named secret that is erased, and brought back by undo", "its field stays hidden"),
    row(
        "H-391",
        "`tree_hash` and changes of a window in which a secret field holds one letter after the other",
        "no two values can be compared",
    ),
    row(
        "H-392",
        "a part of a named secret that is copied or dragged, and then a copy of nothing elsewhere",
        "the clipboard stays hidden until it is set, and so does a field that it is pasted into",
    ),
    row(
        "H-393",
        "a word that the agent made a secret, in what a person is asked about",
        "only the word is hidden, and the person is told that it is",
    ),
    row("H-395", "a named secret that shows, without `blur_screenshots`", "black in every picture"),
    row("H-396", "a named secret in an address, percent-encoded", "`[REDACTED]`"),
    row("H-399", "`{\"secret\":\"NAME\"}` written into a string", "refused with advice; nothing is typed"),
    row(
        "H-118",
        "a picture of something secret that moves, and text read from it",
        "black where it was and where it is; what the tree hides is not read",
    ),
    row("H-152", "a text with one hidden word, read from a picture", "the word is not read, and the rest is"),
];

const GATES: &[Row] = &[
    row(
        "H-398",
        "a config of a folder with rules and keys that hide everything",
        "a question shows its arguments, and the audit log who called what",
    ),
    row("H-66", "every way to one protected button", "ConfirmationRequired each time")
        .but("by way of a job, whose calls pass the same gate"),
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
    row("H-71", "a denied tool by way of another one", "PermissionDenied").but("by way of a job: H-265"),
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
        "H-330",
        "enter, pressed or typed, where it presses the window's default button",
        "ConfirmationRequired if a button of the window is protected",
    ),
    row(
        "H-331",
        "a consent that is used, unknown or for another call, with a call that needs none",
        "`warning` says so, and the consent is spent",
    ),
    row(
        "H-332",
        "escape while something protected has the focus",
        "not asked on an option; where escape is a protected shortcut, ConfirmationRequired",
    ),
    row(
        "H-370",
        "a text with two line breaks, of which the first brings up what the second would press",
        "ConfirmationRequired before the second, with how much was typed",
    ),
    row(
        "H-371",
        "tab and shift+tab while a protected button, box or link has the focus",
        "not asked: they press nothing; what is marked or open is chosen by tab and asked about",
    ),
    row(
        "H-372",
        "a protected name in accents, small capitals, squares, letters apart, or all in a script that looks Latin",
        "ConfirmationRequired",
    ),
    row(
        "H-373",
        "alt and the access key of something protected on a page",
        "the key is known with alt, and judged",
    ),
    row(
        "H-374",
        "a button with an icon alone whose tooltip (`title`, description) says what a rule protects",
        "ConfirmationRequired",
    ),
    row(
        "H-350",
        "a password or a card number that a page filled in itself, also when the page shows it",
        "in no look, reading, search, tree or list of changes",
    ),
    row(
        "H-300",
        "keys while a menu is open that the application does not show in its tree",
        "ConfirmationRequired if an entry of any menu of the window is protected",
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
    row("H-150", "a label that leads to a protected control of another name", "judged like the control"),
    row(
        "H-151",
        "a clock that ticks, a bar that fills, another part of the window that changes while the person is asked",
        "the answer holds, and the reply says what changed; a sum, a recipient or a choice that changed is asked about again",
    ),
    row(
        "H-400",
        "control characters, marks of direction, tags and zero-width characters in what a person is asked about",
        "they stand in the question written out, in arguments and in names; nothing is left out",
    ),
    row(
        "H-401",
        "enter in a field whose list or menu stands elsewhere in the window, also one that comes up while typing",
        "ConfirmationRequired if an option that shows is protected",
    ),
    row(
        "H-402",
        "a point of a page where a pointer meets what the box of the element does not show: stretched links, larger hit areas",
        "judged by what the browser finds there",
    ),
    row(
        "H-403",
        "shift and a click, a drag in a list, select all",
        "ConfirmationRequired if an option of the list is protected",
    ),
    row(
        "H-404",
        "a host with a dot at its end, an address of version 4 written as one of version 6",
        "one origin for rules, as it is one host for the network",
    ),
    row("H-405", "texts that change places while the person is asked", "asked again"),
    row("H-406", "a time that jumps by half a day while the person is asked", "asked again"),
    row(
        "H-407",
        "alt+f4, ctrl+w and ctrl+q where closing the window by its button is protected",
        "ConfirmationRequired",
    ),
    row(
        "H-408",
        "ctrl+tab, ctrl+pagedown and alt+2 where a tab is protected, with the focus elsewhere",
        "ConfirmationRequired",
    ),
    row(
        "H-409",
        "a point in an area of an image map",
        "ConfirmationRequired: what is there could not be read",
    ),
    row(
        "H-410",
        "a protected name drawn from right to left, in pieces, with hyphens, digits or letters of scripts that look Latin",
        "ConfirmationRequired",
    ),
    row(
        "H-411",
        "the key of a sign that a protected button is called; a cell in a protected row",
        "ConfirmationRequired",
    ),
    row("H-412", "text that a style sheet writes", "it is read and compared like any other text"),
    row(
        "H-413",
        "a button, link or option that is called otherwise than it reads: `aria-label`, a label around it, a text in it",
        "ConfirmationRequired if the name or what stands on it is protected",
    ),
    row(
        "H-414",
        "the keyboard focus in a closed shadow root",
        "judged, and kept secret, by the element that has it there",
    ),
    row(
        "H-417",
        "alt and the letter of a check box, a radio button, a tab, or of the label of a button",
        "ConfirmationRequired, where the toolkit tells the key",
    ),
    row("H-416", "a named secret that a page shows in capitals", "hidden like the secret as it is"),
    row(
        "H-415",
        "a click or a drop on a part of a page of which the tree has only the text",
        "ConfirmationRequired if that text is protected",
    ),
    row("H-117", "random inputs on a window with one protected element", "it never changes without consent"),
    row(
        "H-285",
        "claims and waits about the value of a secret field",
        "refused as such; neither a yes nor a no about its content",
    ),
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
    row(
        "H-286",
        "a folder that is lent to a private desktop and is none, or is the whole system",
        "no private desktop; only what is named can be written",
    ),
];

const PAGES: &[Row] = &[
    row("H-220", "a page that speaks to an agent", "its text is marked as suspicious"),
    row(
        "H-221",
        "text of a page that a person cannot see: transparent, beside the page, without a size",
        "it is marked as hidden, or not shown",
    ),
    row(
        "H-222",
        "a password, a one-time code and the number of a card in fields of a page",
        "their values are in no reply",
    ),
    row(
        "H-223",
        "names of elements that look like lines of an outline",
        "they stay in their line, and their refs lead nowhere",
    ),
    row(
        "H-224",
        "elements within each other, each named by all that is in it",
        "read in time; what was not read is said",
    ),
    row(
        "H-225",
        "a snapshot whose arrays lead nowhere, in circles, or have no end",
        "a tree or nothing; no panic, no endless loop",
    ),
    row(
        "H-200",
        "addresses that are no pages: files, scripts, `data:`, the browser's own, with a password",
        "403",
    ),
    row(
        "H-305",
        "an address that is refused by its host, opened over a page that is half filled in",
        "403; the page stays as it is",
    ),
    row(
        "H-306",
        "the OK of a dialog that was answered, pressed while another dialog is open",
        "not found; the other dialog stays",
    ),
    row("H-307", "a page that shows what was typed into its secret field", "it is hidden there too"),
    row("H-201", "files for a page from outside of the folder that is shared, also through links", "403"),
    row(
        "H-202",
        "a file whose name is written into a chooser in place of choose_files",
        "the same rules judge it",
    ),
    row("H-203", "a download that is larger than is allowed", "cancelled, and it cannot be kept"),
    row("H-204", "a page that opens forty tabs", "20 are there, the rest is closed"),
    row("H-205", "a page that opens one dialog after the other", "its tab is closed after 20"),
    row("H-206", "a page that never comes, or never ends", "a Timeout, or what is there with `loading`"),
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
    row("H-153", "20 readings of a large screen at once", "one budget of pixels for all: 300 MB in all"),
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

const JOBS: &[Row] = &[
    row("H-230", "a job that starts jobs", "refused"),
    row("H-231", "settings in a file that others can write", "they decide nothing"),
    row(
        "H-295",
        "an agent that answers the question of its own job, or about an application, over HTTP",
        "401: where a person is asked there, the server has a token",
    ),
    row(
        "H-296",
        "a store with a job that waits, in the working folder or in a file that others can write",
        "it is not read, or refused; the job is not run",
    ),
    row(
        "H-297",
        "an `.env` in the working folder that makes ScreenJob's API listen to others",
        "the start is refused",
    ),
    row("H-232", "requests to the listener for ScreenJob's clients without its token", "401, on every route"),
    row(
        "H-260",
        "a model that carries out every order of the screen, on every wire",
        "what policy allows, and no more; what it tried is in the audit log",
    ),
    row(
        "H-261",
        "a model's server that answers with a page, half of an answer, another address, 50 MiB, silence, 200 calls, or \
         arguments that cannot be read",
        "nothing is done, it is asked again a few times at most, and the key goes nowhere else",
    ),
    row(
        "H-262",
        "a server that does not count tokens, counts below zero, or breaks off; a model without a price under a cap",
        "estimated and marked, counted all the same, refused",
    ),
    row(
        "H-263",
        "a safety model that refuses, asks, hangs, breaks off, or answers in its own words",
        "the job is rejected, and that is on record; an override needs the server's word and is in the audit log",
    ),
    row(
        "H-264",
        "a result that the screen dictates",
        "held to the schema of the job; OutputInvalid, the text kept",
    ),
    row(
        "H-265",
        "a disabled tool under another name, of a dialect or inside another tool",
        "refused; a name of a dialect denies everything that does the same",
    ),
    row("H-266", "a model that runs commands where jobs may not", "not offered, refused, nothing started"),
    row(
        "H-299",
        "settings, hooks and plugins for a coding agent in the working folder; a job whose model is a flag of its program",
        "the agent is started in an empty folder of its own; the job is refused",
    ),
    row(
        "H-315",
        "a job whose worker is killed again and again to get its limits anew",
        "limits hold for all attempts",
    ),
    row(
        "H-316",
        "a second server that takes the queue of another, with another desk",
        "each runs its own jobs",
    ),
    row("H-317", "a disk that a job fills", "the job ends with the reason; no other is taken"),
    row("H-360", "a disk that several jobs fill at once", "each ends with the reason"),
    row("H-318", "a client that plans a job and leaves its id out", "its calls are still steps of the job"),
    row(
        "H-267",
        "a stranger at the port that a coding agent plans by: no token, another host's name, half a request, 5 MiB",
        "401, 403 or 400; nothing is done",
    ),
    row(
        "H-325",
        "a goal, a planner's words or a result that are markup, in the job view",
        "shown as text; nothing runs and nothing is fetched",
    )
    .but("whether a browser runs it is tried outside of this table, by tests/clients/page.mjs in ./test.sh"),
    row(
        "H-326",
        "a job that asks for a desk, a program or a scenario that its owner did not allow",
        "refused before it is queued; nothing starts",
    ),
    row(
        "H-327",
        "a job whose browser is to begin at a host that the rules of the network refuse",
        "the host is not asked: only what the owner names on the command line may be reached by being named",
    ),
    row(
        "H-328",
        "ScreenJob's page without the token, with a wrong one, and with one whose characters no protocol has",
        "the page asks for it before it asks for anything; 401; a right one is escaped, and is in no address",
    ),
    row(
        "H-380",
        "a planner that records calls, has them refused, and replays them",
        "recordings, replays and scenarios are not for jobs; a call that is replayed has the scope of who replays it",
    ),
    row(
        "H-381",
        "a model that is asked and never answers, under a cap in dollars",
        "each attempt counts with the most that it may cost before the next is asked",
    ),
    row(
        "H-382",
        "a model's server that says that prompts and answers have no tokens",
        "estimated, so the cap holds",
    ),
];

const BROWSER: &[Row] = &[
    row(
        "H-180",
        "an address in another spelling: IPv4 in IPv6, NAT64, 6to4, a cloud's metadata service",
        "judged as what it reaches",
    ),
    row(
        "H-181",
        "a name that leads to this machine or its neighbours",
        "refused, unless the host itself is named",
    ),
    row(
        "H-182",
        "a page that asks for a host that it may not reach, by its name or its address",
        "no connection is opened; the answer says which rule refused it",
    ),
    row("H-183", "another program of this machine that finds the browser's proxy", "407"),
    row("H-184", "300 connections to the proxy", "further ones are told 503; all end with the browser"),
    row(
        "H-185",
        "`chrome:`, `data:`, `javascript:`, `view-source:`, `file:`",
        "refused before anything is opened",
    ),
    row(
        "H-186",
        "redirects, frames, workers, WebSockets, beacons, WebRTC, WebTransport to a forbidden host",
        "neither a connection nor a packet reaches it",
    ),
    row(
        "H-394",
        "a frame of another site that takes the focus again and again while a secret is typed",
        "it gets nothing of it",
    ),
    row("H-397", "a blank window that a page of a hidden origin wrote", "its title and texts are hidden"),
    row("H-187", "a secret of one origin on another page, or in a frame of another site", "PermissionDenied"),
    row(
        "H-188",
        "a profile whose name is a path, whose folder others can read, or that is in use",
        "refused",
    ),
    row("H-189", "`--attach` to another machine", "refused; nothing is asked there"),
    row(
        "H-301",
        "a page that came of a form, loaded again or returned to",
        "the form is not sent again; `note` says so",
    ),
    row(
        "H-298",
        "what a page of a hidden origin is called, writes to its console, and sends",
        "told without title, address, text or name",
    ),
];
