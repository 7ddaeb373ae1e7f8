# Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.
"""What the server takes and answers."""
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Reply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]


class ErrorReplyError(TypedDict):
    code: str
    message: str
    recoverable: bool
    suggested_next_tool: str | None
    context: dict[str, Any]


class ErrorReply(TypedDict):
    ok: Literal[False]
    success: Literal[False]
    step_id: NotRequired[int]
    error: ErrorReplyError


class ActArguments(TypedDict):
    # {do:TOOL, its arguments…, expect?, within_ms?, on_fail?}. TOOL acts (also drag{from,to}), waits or asserts. expect: "changed", "text: WORDS" (whole), "text_contains: PART", "window: TITLE" (new), "gone: e12", "value: TEXT", assert_state predicates or wait_for conditions, all met in within_ms (3000).
    steps: list[dict[str, Any]]
    # {NAME:[steps]}: run in place of a step that fails with on_fail:NAME.
    alternatives: NotRequired[dict[str, Any] | None]
    # Of all steps; default focused.
    window_uid: NotRequired[str | None]
    # Time limit of all steps together; default 45000.
    timeout_ms: NotRequired[int | None]
    # Full replies of the steps instead of a summary.
    full: NotRequired[bool | None]
    # At most so many.
    max_tokens: NotRequired[int | None]
    # Check all, do nothing.
    dry_run: NotRequired[bool | None]


class ActReplyStepsItem(TypedDict):
    step: str
    do: str
    # How sure it is that what was asked for came about; the worst last.
    verdict: Literal["failed", "confirmed", "unconfirmed"]
    # The expectation that was not met, and what was seen instead.
    unmet: NotRequired[Any]
    # What was expected held before the step, so that it says nothing about it.
    held_before: NotRequired[bool]


class ActReplyError(TypedDict):
    code: str
    message: str


class ActReplyForeseenItem(TypedDict):
    step: str
    do: str
    # Why its element is not there yet; it is looked for again when its turn comes.
    not_yet: NotRequired[str | None]
    # The person has to agree: before the first step, or in a call of its own.
    needs_consent: NotRequired[bool]


class ActReplyNewWindowsItem(TypedDict):
    window_uid: str
    title: str


class ActReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    # How sure it is that what was asked for came about; the worst last.
    verdict: Literal["failed", "confirmed", "unconfirmed"]
    steps: list[ActReplyStepsItem]
    # Why it failed: what its last step met.
    error: NotRequired[ActReplyError | None]
    # The step that failed; nothing ran after it.
    stopped_at: NotRequired[str | None]
    not_run: NotRequired[int]
    dry_run: NotRequired[bool]
    # Of a dry run: the steps, and whether what they need is there already.
    foreseen: NotRequired[list[ActReplyForeseenItem]]
    window_uid: NotRequired[str | None]
    new_windows: NotRequired[list[ActReplyNewWindowsItem]]
    closed_windows: NotRequired[list[str]]
    # Lines that were left out for lack of room; look shows them.
    lines_left_out: NotRequired[int]


class AssertStateArguments(TypedDict):
    # {kind,…}: element_exists, element_absent{ref|selector}; value_equals{selector,expected}; value_matches{selector,regex}; element_state{ref|selector,checked?,expanded?,…}; text_visible{regex}; window_focused, window_exists{title_regex}; tree_hash_equals{expected_hash}; screenshot_similar{reference_path}; pixel_color{x,y,color}; region_similar{region,since}; oracle{name}; each window_uid?.
    predicates: NotRequired[list[dict[str, Any]] | None]
    # The same, or one object: the older spelling.
    predicate: NotRequired[dict[str, Any] | list[dict[str, Any]] | None]


class AssertStateReplyResultsItem(TypedDict):
    kind: str
    passed: bool
    observed: Any
    args: dict[str, Any]
    error_code: NotRequired[str | None]


class AssertStateReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    all_passed: bool
    results: list[AssertStateReplyResultsItem]


class BringToForegroundArguments(TypedDict):
    # It or window_index is required.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class BringToForegroundReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    window: str
    window_uid: str
    note: NotRequired[str | None]
    api_note: NotRequired[str | None]
    clicked_x: NotRequired[int | None]
    clicked_y: NotRequired[int | None]
    dry_run: NotRequired[bool]


class BrowserStateArguments(TypedDict):
    # At most so many.
    max_tokens: NotRequired[int | None]


class BrowserStateReplyTabsItem(TypedDict):
    window_uid: str
    title: str
    focused: bool


class BrowserStateReplyCookiesItem(TypedDict):
    host: str
    count: int


class BrowserStateReplyTrafficItem(TypedDict):
    host: str
    sent_bytes: int
    received_bytes: int


class BrowserStateReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    tabs: list[BrowserStateReplyTabsItem]
    cookies: list[BrowserStateReplyCookiesItem]
    # Empty where the browser is somebody else's.
    traffic: list[BrowserStateReplyTrafficItem]


class ChooseFilesArguments(TypedDict):
    # In the folder that the user shares; none closes the chooser.
    paths: list[str]
    # Default: the chooser that is open.
    window_uid: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ChooseFilesReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window_uid: str
    # How many files the page got.
    files: int
    # The field of the page took them.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    dry_run: NotRequired[bool]


class ClearSiteDataArguments(TypedDict):
    # What to forget.
    what: Literal["cookies", "storage", "all"]
    # Of this origin alone, as https://example.org.
    origin: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ClearSiteDataReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    cleared: bool
    dry_run: NotRequired[bool]


class ClearTextArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ClearTextReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClearTextReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class ClearTextReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: ClearTextReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[ClearTextReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class ClearTextReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class ClearTextReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class ClearTextReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class ClearTextReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: ClearTextReplyTarget
    before: ClearTextReplyBefore
    after: ClearTextReplyAfter
    changed: bool
    new_dialogs: list[ClearTextReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class ClickAtArguments(TypedDict):
    # Screen pixel.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # Default left.
    button: NotRequired[Literal["left", "right", "middle"] | None]
    # Double click.
    double: NotRequired[bool | None]
    # How many clicks; `double` is two.
    count: NotRequired[int | None]
    # Held meanwhile.
    modifiers: NotRequired[list[Literal["ctrl", "alt", "shift", "meta"]] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ClickAtReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class ClickAtReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    # A window that was behind others or without the focus came to the front.
    raised: NotRequired[bool]
    duration_ms: int
    new_dialogs: list[ClickAtReplyNewDialogsItem]


class ClickElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Default left.
    button: NotRequired[Literal["left", "right", "middle"] | None]
    # Clicks; default 1.
    count: NotRequired[int | None]
    # Held meanwhile.
    modifiers: NotRequired[list[Literal["ctrl", "alt", "shift", "meta"]] | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    # Consent token.
    confirm_token: NotRequired[str | None]


class ClickElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClickElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class ClickElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: ClickElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[ClickElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class ClickElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class ClickElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class ClickElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class ClickElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: ClickElementReplyTarget
    before: ClickElementReplyBefore
    after: ClickElementReplyAfter
    changed: bool
    new_dialogs: list[ClickElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class ClickElementAndObserveArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Default left.
    button: NotRequired[Literal["left", "right", "middle"] | None]
    # Clicks; default 1.
    count: NotRequired[int | None]
    # Held meanwhile.
    modifiers: NotRequired[list[Literal["ctrl", "alt", "shift", "meta"]] | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Pause before looking; default 200.
    wait_after_ms: NotRequired[int | None]
    # Tree token: only the changes since.
    since: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    # Consent token.
    confirm_token: NotRequired[str | None]


class ClickElementAndObserveReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClickElementAndObserveReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class ClickElementAndObserveReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: ClickElementAndObserveReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[ClickElementAndObserveReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class ClickElementAndObserveReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class ClickElementAndObserveReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class ClickElementAndObserveReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class ClickElementAndObserveReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: ClickElementAndObserveReplyTarget
    before: ClickElementAndObserveReplyBefore
    after: ClickElementAndObserveReplyAfter
    changed: bool
    new_dialogs: list[ClickElementAndObserveReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    observation: NotRequired[Any]


class ClickTextArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClickTextArguments(TypedDict):
    # As written there.
    text: str
    # Default contains.
    match: NotRequired[Literal["contains", "exact", "regex"] | None]
    # Only this part of the screen.
    region: NotRequired[ClickTextArgumentsRegion | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    case_sensitive: NotRequired[bool | None]
    # Leave out words with less confidence; default `ocr.min_confidence` of the config.
    min_confidence: NotRequired[int | None]
    # False: every word by itself instead of words in lines.
    group_lines: NotRequired[bool | None]
    # Tesseract's page segmentation mode; default `ocr.psm_window` of the config.
    psm: NotRequired[int | None]
    # Which of several, from 1.
    nth: NotRequired[int | None]
    # Of several: first in reading order, best match, or nth. Default the first whole word in the same case.
    occurrence: NotRequired[Literal["first", "best", "nth"] | None]
    # Default left.
    button: NotRequired[Literal["left", "right", "middle"] | None]
    # Clicks; default 1.
    count: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ClickTextReplyFoundBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClickTextReplyFound(TypedDict):
    text: str
    # The whole line, where there is more of it.
    line: NotRequired[str | None]
    confidence: int
    # On the screen.
    bounds: ClickTextReplyFoundBounds
    x: int
    y: int


class ClickTextReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ClickTextReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class ClickTextReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: ClickTextReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[ClickTextReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class ClickTextReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class ClickTextReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    # What was clicked, in its middle.
    found: ClickTextReplyFound
    # Which of how many, where there are several.
    nth: NotRequired[int | None]
    of: NotRequired[int | None]
    # The element under the point, where there is one.
    target: NotRequired[ClickTextReplyTarget | None]
    changed: bool
    new_dialogs: list[ClickTextReplyNewDialogsItem]
    duration_ms: int
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class ClipboardGetArguments(TypedDict):
    # At most so many.
    max_tokens: NotRequired[int | None]


class ClipboardGetReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    # Absent when it holds no text.
    text: NotRequired[str | None]
    characters: int
    # What it holds instead.
    formats: NotRequired[list[str]]


class ClipboardSetArgumentsText2(TypedDict):
    secret: str


class ClipboardSetArguments(TypedDict):
    text: str | ClipboardSetArgumentsText2
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ClipboardSetReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    characters: int
    dry_run: NotRequired[bool]


class DoubleClickAtArguments(TypedDict):
    # Screen pixel.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class DoubleClickAtReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class DoubleClickAtReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    # A window that was behind others or without the focus came to the front.
    raised: NotRequired[bool]
    duration_ms: int
    new_dialogs: list[DoubleClickAtReplyNewDialogsItem]


class DoubleClickElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class DoubleClickElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class DoubleClickElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class DoubleClickElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: DoubleClickElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[DoubleClickElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class DoubleClickElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class DoubleClickElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class DoubleClickElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class DoubleClickElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: DoubleClickElementReplyTarget
    before: DoubleClickElementReplyBefore
    after: DoubleClickElementReplyAfter
    changed: bool
    new_dialogs: list[DoubleClickElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class DownloadsArguments(TypedDict):
    # Wait so long for running ones.
    wait_ms: NotRequired[int | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class DownloadsReplyDownloadsItem(TypedDict):
    id: str
    name: str
    url: str
    # running, complete, cancelled or kept.
    state: str
    received_bytes: int
    total_bytes: NotRequired[int | None]
    # Where the file is, once it is kept.
    path: NotRequired[str | None]
    note: NotRequired[str | None]


class DownloadsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    downloads: list[DownloadsReplyDownloadsItem]


class DragArgumentsFrom2(TypedDict):
    x: NotRequired[int]
    y: NotRequired[int]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"]]
    image: NotRequired[str]
    # The older spelling.
    image_id: NotRequired[str]
    row: NotRequired[int]
    col: NotRequired[int]
    dx: NotRequired[float]
    dy: NotRequired[float]
    # Like e17; knows its window.
    ref: NotRequired[str]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str]
    # Or id in the tree.
    element_id: NotRequired[str]


class DragArgumentsTo2(TypedDict):
    x: NotRequired[int]
    y: NotRequired[int]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"]]
    image: NotRequired[str]
    # The older spelling.
    image_id: NotRequired[str]
    row: NotRequired[int]
    col: NotRequired[int]
    dx: NotRequired[float]
    dy: NotRequired[float]
    # Like e17; knows its window.
    ref: NotRequired[str]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str]
    # Or id in the tree.
    element_id: NotRequired[str]


DragArguments = TypedDict("DragArguments", {
    "from": "str | DragArgumentsFrom2",
    "to": "str | DragArgumentsTo2",
    "modifiers": "NotRequired[list[Literal[\"ctrl\", \"alt\", \"shift\", \"meta\"]] | None]",
    "duration_s": "NotRequired[float | None]",
    "window_uid": "NotRequired[str | None]",
    "window_index": "NotRequired[int | None]",
    "window_title": "NotRequired[str | None]",
    "dry_run": "NotRequired[bool | None]",
    "confirm_token": "NotRequired[str | None]",
})


DragReply = TypedDict("DragReply", {
    "ok": "Literal[True]",
    "success": "Literal[True]",
    "step_id": "int",
    "caused_by_step_id": "int | None",
    "untrusted": "NotRequired[bool]",
    "suspicious": "NotRequired[Literal[True]]",
    "suspicious_places": "NotRequired[list[Any]]",
    "warning": "NotRequired[str]",
    "action": "str",
    "note": "NotRequired[str | None]",
    "scenario_reaction": "NotRequired[bool]",
    "dry_run": "NotRequired[bool]",
    "from": "list[int]",
    "to": "list[int]",
    "modifiers": "list[Literal[\"ctrl\", \"alt\", \"shift\", \"meta\"]]",
    "path": "list[list[int]]",
})


class ExecCommandArguments(TypedDict):
    # For the shell.
    command: str
    # Default: config.
    shell: NotRequired[Literal["bash", "sh", "powershell", "cmd"] | None]
    # Default 30.
    timeout_s: NotRequired[int | None]
    # Folder to run in.
    cwd: NotRequired[str | None]
    # The value of exec.secret.
    secret: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ExecCommandReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    executed: bool
    timed_out: bool
    shell: Literal["bash", "sh", "powershell", "cmd"]
    command: str
    argv: list[str]
    timeout_s: int
    cwd: str
    duration_ms: int
    # Absent when it was ended by us.
    exit_code: NotRequired[int | None]
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    # Bytes that are not UTF-8 are replaced by U+FFFD.
    stdout_not_utf8: NotRequired[bool]
    stderr_not_utf8: NotRequired[bool]
    dry_run: NotRequired[bool]


class FindArguments(TypedDict):
    # Words on it, roughly.
    text: NotRequired[str | None]
    # What it is, e.g. button.
    role: NotRequired[str | None]
    # Default: all windows.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Matches; default 5.
    limit: NotRequired[int | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class FindReplyMatchesItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class FindReplyMatchesItem(TypedDict):
    score: float
    ref: str
    role: str
    name: str
    value: NotRequired[str | None]
    disabled: NotRequired[bool]
    offscreen: NotRequired[bool]
    # Why a person cannot see it, where the application does not say so.
    hidden: NotRequired[str | None]
    bounds: FindReplyMatchesItemBounds
    # "ocr": it was read in the pixels of a window without elements.
    source: NotRequired[str | None]
    window_uid: str
    path: str
    before: str | None
    after: str | None


class FindReplySearched(TypedDict):
    windows: int
    elements: int


class FindReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    count: int
    # How many more match.
    not_listed: int
    matches: list[FindReplyMatchesItem]
    searched: FindReplySearched
    # Windows that could not be read.
    unreadable: NotRequired[dict[str, str]]


class FindElementArguments(TypedDict):
    # Window/Button[name="OK"], //Edit, Dialog > Button, [name*="part"], [name~="regex"].
    selector: str
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class FindElementReplyBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class FindElementReplyAllMatchesItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class FindElementReplyAllMatchesItem(TypedDict):
    element_id: str
    ref: str
    bounds: FindElementReplyAllMatchesItemBounds
    name: str
    role: str


class FindElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window_uid: str
    element_id: str
    selector: str
    bounds: FindElementReplyBounds
    ref: str
    ambiguous_matches: int
    all_matches: list[FindElementReplyAllMatchesItem]


class FinishJobArguments(TypedDict):
    # From run_job; `last` for the one that you plan.
    job_id: str
    # What was found or done, as output_schema wants it.
    result: NotRequired[Any]
    # Why it cannot be done, instead of a result.
    fail: NotRequired[str | None]


class FinishJobReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    job_id: str
    status: str


class FocusElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class FocusElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class FocusElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class FocusElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: FocusElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[FocusElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class FocusElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class FocusElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class FocusElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class FocusElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: FocusElementReplyTarget
    before: FocusElementReplyBefore
    after: FocusElementReplyAfter
    changed: bool
    new_dialogs: list[FocusElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


GetBudgetStatusArguments: TypeAlias = "dict[str, Any]"


class GetBudgetStatusReplyActions(TypedDict):
    used: int
    limit: int | None
    remaining: int | None


class GetBudgetStatusReplyScreenshots(TypedDict):
    used: int
    limit: int | None
    remaining: int | None


class GetBudgetStatusReplyVlmTokens(TypedDict):
    used: int
    limit: int | None
    remaining: int | None


class GetBudgetStatusReplySessionSeconds(TypedDict):
    elapsed: int
    limit: int | None
    remaining: int | None


class GetBudgetStatusReplyActionsPerMinute(TypedDict):
    in_window: int
    limit: int | None
    remaining: int | None


class GetBudgetStatusReplySentByToolValue(TypedDict):
    calls: int
    tokens: int
    bytes: int


class GetBudgetStatusReplySent(TypedDict):
    tokens: int
    bytes: int
    by_tool: dict[str, GetBudgetStatusReplySentByToolValue]


class GetBudgetStatusReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    actions: NotRequired[GetBudgetStatusReplyActions | None]
    screenshots: NotRequired[GetBudgetStatusReplyScreenshots | None]
    vlm_tokens: NotRequired[GetBudgetStatusReplyVlmTokens | None]
    session_seconds: NotRequired[GetBudgetStatusReplySessionSeconds | None]
    actions_per_minute: NotRequired[GetBudgetStatusReplyActionsPerMinute | None]
    configured: bool
    # What clients have been sent so far. Tokens are estimated.
    sent: GetBudgetStatusReplySent


GetCapabilitiesArguments: TypeAlias = "dict[str, Any]"


class GetCapabilitiesReplySupports(TypedDict):
    accessibility_tree: bool
    uia_invoke: bool
    occlusion_detection: bool
    drag: bool
    ocr: bool
    vlm: bool
    redaction: bool
    scenarios: bool
    tracing: bool
    replay: bool
    image_blur: bool
    wsl_powershell: bool
    bring_to_foreground: bool
    element_targeting: bool
    observe_with_diff: bool


class GetCapabilitiesReplyConfigAsciiGrid(TypedDict):
    width: int
    height: int


class GetCapabilitiesReplyConfig(TypedDict):
    tree_max_depth: int
    tree_default_depth: int
    ascii_grid: GetCapabilitiesReplyConfigAsciiGrid


class GetCapabilitiesReplyTreeStatsValue(TypedDict):
    captured_at: float
    capture_ms: int
    node_count: int
    named_node_count: int


class GetCapabilitiesReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    platform: str
    adapter: str
    version: str
    protocol_version: int
    supports: GetCapabilitiesReplySupports
    config: GetCapabilitiesReplyConfig
    tree_stats: dict[str, GetCapabilitiesReplyTreeStatsValue]
    unavailable: NotRequired[str | None]
    # The OCR engine: the tesseract library or program, or the system's; absent if there is none.
    ocr_engine: NotRequired[str | None]
    # What does not work on this desktop, always or at the moment, a sentence each.
    limitations: NotRequired[list[str]]
    config_error: NotRequired[str | None]


GetCursorArguments: TypeAlias = "dict[str, Any]"


class GetCursorReplyWindow(TypedDict):
    window_uid: str
    title: str


class GetCursorReplyElementBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetCursorReplyElement(TypedDict):
    ref: str
    role: str
    name: str
    bounds: GetCursorReplyElementBounds


class GetCursorReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    x: int
    y: int
    # The index that get_monitors gives it; absent where no monitor is known.
    monitor: NotRequired[int | None]
    window: NotRequired[GetCursorReplyWindow | None]
    element: NotRequired[GetCursorReplyElement | None]


class GetFullScreenshotArgumentsGrid(TypedDict):
    rows: NotRequired[int]
    cols: NotRequired[int]
    labels: NotRequired[bool]


class GetFullScreenshotArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetFullScreenshotArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Columns; default 110.
    grid_width: NotRequired[int | None]
    # Rows; default 38.
    grid_height: NotRequired[int | None]
    structured: NotRequired[bool | None]
    # Overlay the text that OCR reads.
    ocr: NotRequired[bool | None]
    # Draw {rows,cols,labels}.
    grid: NotRequired[GetFullScreenshotArgumentsGrid | None]
    # Number what can be acted on.
    marks: NotRequired[bool | None]
    format: NotRequired[Literal["png", "jpeg", "webp"] | None]
    quality: NotRequired[int | None]
    # Only {x,y,width,height} of the screen.
    region: NotRequired[GetFullScreenshotArgumentsRegion | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class GetFullScreenshotReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetFullScreenshotReplyGrid(TypedDict):
    rows: int
    cols: int
    # In pixels of the screen.
    cell_width: float
    cell_height: float
    indexing: str
    # Where every cell has its label, both are 1; 0 without labels.
    label_every_row: int
    label_every_col: int
    aim: str


class GetFullScreenshotReplyMarksItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetFullScreenshotReplyMarksItemCenter(TypedDict):
    x: int
    y: int


class GetFullScreenshotReplyMarksItem(TypedDict):
    n: int
    ref: str
    role: str
    name: str
    bounds: GetFullScreenshotReplyMarksItemBounds
    center: GetFullScreenshotReplyMarksItemCenter
    disabled: NotRequired[bool]


class GetFullScreenshotReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    screenshot_scope: str
    format: str
    encoding: str
    width: int
    height: int
    # Where a region was taken; the whole screen needs no words.
    source_bbox: NotRequired[GetFullScreenshotReplySourceBbox | None]
    sketch: str | None
    # Pointer tools accept pixels of this screenshot if you give its id.
    image_id: str
    # Pixels of the screenshot for one of the screen.
    scale: float
    grid: NotRequired[GetFullScreenshotReplyGrid | None]
    # Each number and its element.
    marks: NotRequired[list[GetFullScreenshotReplyMarksItem] | str | None]
    data: str


GetMonitorsArguments: TypeAlias = "dict[str, Any]"


class GetMonitorsReplyMonitorsItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetMonitorsReplyMonitorsItemLogicalBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetMonitorsReplyMonitorsItemPhysicalBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetMonitorsReplyMonitorsItem(TypedDict):
    index: int
    primary: bool
    bounds: GetMonitorsReplyMonitorsItemBounds
    scale_factor: float
    logical_bounds: GetMonitorsReplyMonitorsItemLogicalBounds
    physical_bounds: GetMonitorsReplyMonitorsItemPhysicalBounds


class GetMonitorsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    monitors: list[GetMonitorsReplyMonitorsItem]


class GetOcrArgumentsBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetOcrArguments(TypedDict):
    # It or window_index is required.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Only this element, like e17.
    ref: NotRequired[str | None]
    # Only this element.
    element_id: NotRequired[str | None]
    # Only this box of the window.
    bbox: NotRequired[GetOcrArgumentsBbox | None]
    # Leave out words with less confidence; default `ocr.min_confidence` of the config.
    min_confidence: NotRequired[int | None]
    # Read this PNG in base64 instead of a window.
    image_b64: NotRequired[str | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class GetOcrReplyWordsItemBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetOcrReplyWordsItem(TypedDict):
    text: str
    confidence: int
    bbox: GetOcrReplyWordsItemBbox


class GetOcrReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    window_uid: NotRequired[str | None]
    words: list[GetOcrReplyWordsItem]


GetRedactionStatusArguments: TypeAlias = "dict[str, Any]"


class GetRedactionStatusReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    enabled: bool
    active: bool
    patterns_count: NotRequired[int | None]
    applied_count: NotRequired[int | None]
    blur_screenshots: NotRequired[bool | None]


class GetScreenDescriptionArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Sources; default combined: all that this server has.
    mode: NotRequired[Literal["accessibility", "ocr", "vlm", "combined", "auto"] | None]
    # Cut the text to this many tokens.
    max_tokens: NotRequired[int | None]
    # Element id or ref: only its subtree.
    focus_element: NotRequired[str | None]


class GetScreenDescriptionReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    window_uid: str
    effective_mode: str
    description: str
    truncated: bool
    # The `[vlm]` part as data, when the model was asked in passes.
    vlm_structured: NotRequired[Any]


class GetScreenSketchArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Columns; default 110.
    grid_width: NotRequired[int | None]
    # Rows; default 38.
    grid_height: NotRequired[int | None]
    structured: NotRequired[bool | None]
    # Overlay the text that OCR reads.
    ocr: NotRequired[bool | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class GetScreenSketchReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    grid_width: int
    grid_height: int
    ocr_overlay: NotRequired[bool | None]
    sketch: str
    elements: NotRequired[list[Any]]
    legend: NotRequired[Any]


class GetScreenshotArgumentsGrid(TypedDict):
    rows: NotRequired[int]
    cols: NotRequired[int]
    labels: NotRequired[bool]


class GetScreenshotArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotArguments(TypedDict):
    # Default: the whole screen.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Draw {rows,cols,labels}.
    grid: NotRequired[GetScreenshotArgumentsGrid | None]
    # Number what can be acted on.
    marks: NotRequired[bool | None]
    format: NotRequired[Literal["png", "jpeg", "webp"] | None]
    quality: NotRequired[int | None]
    # Only {x,y,width,height} of the screen.
    region: NotRequired[GetScreenshotArgumentsRegion | None]


class GetScreenshotReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotReplyGrid(TypedDict):
    rows: int
    cols: int
    # In pixels of the screen.
    cell_width: float
    cell_height: float
    indexing: str
    # Where every cell has its label, both are 1; 0 without labels.
    label_every_row: int
    label_every_col: int
    aim: str


class GetScreenshotReplyMarksItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotReplyMarksItemCenter(TypedDict):
    x: int
    y: int


class GetScreenshotReplyMarksItem(TypedDict):
    n: int
    ref: str
    role: str
    name: str
    bounds: GetScreenshotReplyMarksItemBounds
    center: GetScreenshotReplyMarksItemCenter
    disabled: NotRequired[bool]


class GetScreenshotReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    format: str
    encoding: str
    width: int
    height: int
    source_bbox: GetScreenshotReplySourceBbox
    # Pointer tools accept pixels of this screenshot if you give its id.
    image_id: str
    # Pixels of the screenshot for one of the screen.
    scale: float
    grid: NotRequired[GetScreenshotReplyGrid | None]
    # Each number and its element.
    marks: NotRequired[list[GetScreenshotReplyMarksItem] | str | None]
    data: str


class GetScreenshotCroppedArgumentsBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotCroppedArguments(TypedDict):
    # Default: the whole screen.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Only this element, like e17.
    ref: NotRequired[str | None]
    # Only this element.
    element_id: NotRequired[str | None]
    # Only this box of the window.
    bbox: NotRequired[GetScreenshotCroppedArgumentsBbox | None]
    # Pixels around it.
    padding_px: NotRequired[int | None]
    # Shrink to this width.
    max_width: NotRequired[int | None]


class GetScreenshotCroppedReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotCroppedReplyScreenBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetScreenshotCroppedReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    format: str
    encoding: str
    width: int
    height: int
    # The part, relative to the window.
    source_bbox: GetScreenshotCroppedReplySourceBbox
    # The part, on the screen.
    screen_bbox: GetScreenshotCroppedReplyScreenBbox
    # Pointer tools accept pixels of this screenshot if you give its id.
    image_id: str
    # Pixels of the screenshot for one of the screen.
    scale: float
    data: str


class GetVisibleAreasArguments(TypedDict):
    # It or window_index is required.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]


class GetVisibleAreasReplyVisibleRegionsItem(TypedDict):
    x: int
    y: int
    width: int
    height: int


class GetVisibleAreasReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    window_uid: str
    visible_regions: list[GetVisibleAreasReplyVisibleRegionsItem]


class GetWebTaskArguments(TypedDict):
    # From run_web_task; `last` for the newest.
    taskId: str
    # Wait so long for its end.
    waitMs: NotRequired[int | None]


class GetWebTaskReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    taskId: str
    status: str


class GetWindowStructureArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # outline: short text with refs.
    format: NotRequired[Literal["json", "outline"] | None]
    # Levels below the root; default 5, of an outline all.
    depth: NotRequired[int | None]
    # Element id or ref: only its subtree.
    scope: NotRequired[str | None]
    # Roles that match, e.g. ["Button"].
    roles: NotRequired[list[str] | None]
    # Roles that do not match.
    exclude_roles: NotRequired[list[str] | None]
    # Regex searched in names.
    name_regex: NotRequired[str | None]
    # Match only visible elements.
    visible_only: NotRequired[bool | None]
    # Cut names and values to this length.
    max_text_len: NotRequired[int | None]
    # Drop what does not hold (else filters only mark pages).
    prune_empty: NotRequired[bool | None]
    # Page size: a flat list of nodes.
    max_nodes: NotRequired[int | None]
    # next_cursor of the page before.
    page_cursor: NotRequired[str | None]
    # What an outline should not leave out: groups, repeats, hidden, bars, bounds, texts, details.
    keep: NotRequired[list[Literal["groups", "repeats", "hidden", "bars", "bounds", "texts", "details", "cells"]] | None]
    # Where a window exposes no elements, use the lines that OCR reads.
    ocr: NotRequired[bool | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class GetWindowStructureReplyPerf(TypedDict):
    capture_ms: int
    node_count: int
    cache: str
    depth_used: int


class GetWindowStructureReplyDegraded(TypedDict):
    reason: str
    named_node_count: int
    threshold: int
    suggested_fallbacks: list[str]
    # Why, where the platform knows.
    detail: NotRequired[str | None]


class GetWindowStructureReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    window_uid: str
    element_count: int
    node_count: int
    tree: Any
    tree_hash: str
    tree_token: str | None
    truncated: bool
    next_cursor: str | None
    depth_used: int
    depth_truncated: bool
    # What reading the window cost.
    perf: GetWindowStructureReplyPerf
    # Present and false when the application could not be read to the end.
    complete: NotRequired[bool | None]
    scope: NotRequired[str | None]
    # Too few named elements to work with: other eyes may see more.
    degraded: NotRequired[GetWindowStructureReplyDegraded | None]


class GetWindowStructureReply2Dropped(TypedDict):
    hidden: NotRequired[int]
    groups: NotRequired[int]
    repeats: NotRequired[int]
    bars: NotRequired[int]
    # Empty cells of tables.
    cells: NotRequired[int]
    # Below the depth that was asked for.
    deeper: NotRequired[int]
    # By the caller's own filters.
    filtered: NotRequired[int]
    # Into a line that says how many.
    folded: NotRequired[int]


class GetWindowStructureReply2Degraded(TypedDict):
    reason: str
    named_node_count: int
    threshold: int
    suggested_fallbacks: list[str]
    # Why, where the platform knows.
    detail: NotRequired[str | None]


class GetWindowStructureReply2(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    window_uid: str
    format: str
    node_count: int
    # Lines.
    shown: int
    # Elements that the rules left out.
    dropped: GetWindowStructureReply2Dropped
    tree_token: str | None
    truncated: bool
    next_cursor: NotRequired[str | None]
    complete: NotRequired[bool | None]
    # Too few named elements to work with: other eyes may see more.
    degraded: NotRequired[GetWindowStructureReply2Degraded | None]


GetWindowStructureReply: TypeAlias = "GetWindowStructureReply | GetWindowStructureReply2"


class HoverAtArguments(TypedDict):
    # Screen pixel.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # How long to stay; default 250.
    hover_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class HoverAtReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    x: int
    y: int
    hover_ms: int


class HoverElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # How long to stay; default 250.
    hover_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class HoverElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class HoverElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class HoverElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: HoverElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[HoverElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class HoverElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class HoverElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class HoverElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class HoverElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: HoverElementReplyTarget
    before: HoverElementReplyBefore
    after: HoverElementReplyAfter
    changed: bool
    new_dialogs: list[HoverElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class InvokeElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class InvokeElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class InvokeElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class InvokeElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: InvokeElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[InvokeElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class InvokeElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class InvokeElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class InvokeElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class InvokeElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: InvokeElementReplyTarget
    before: InvokeElementReplyBefore
    after: InvokeElementReplyAfter
    changed: bool
    new_dialogs: list[InvokeElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class JobControlArguments(TypedDict):
    # From run_job; `last` for the newest.
    job_id: str
    # What is wanted of it.
    action: Literal["pause", "resume", "cancel"]


class JobControlReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    job_id: str
    status: str


class JobStatusArguments(TypedDict):
    # From run_job; `last` for the newest.
    job_id: str
    # Wait so long for its end.
    wait_ms: NotRequired[int | None]


class JobStatusReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    job_id: str
    status: str


class KeepDownloadArguments(TypedDict):
    # As downloads tells it.
    id: str
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class KeepDownloadReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    id: str
    name: str
    url: str
    # running, complete, cancelled or kept.
    state: str
    received_bytes: int
    total_bytes: NotRequired[int | None]
    # Where the file is, once it is kept.
    path: NotRequired[str | None]
    note: NotRequired[str | None]
    dry_run: NotRequired[bool]


class KeyIntoElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Key or combination: enter, ctrl+a.
    keys: str
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class KeyIntoElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class KeyIntoElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class KeyIntoElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: KeyIntoElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[KeyIntoElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class KeyIntoElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class KeyIntoElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class KeyIntoElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class KeyIntoElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: KeyIntoElementReplyTarget
    before: KeyIntoElementReplyBefore
    after: KeyIntoElementReplyAfter
    changed: bool
    new_dialogs: list[KeyIntoElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class LaunchAppArgumentsMatch(TypedDict):
    # Or one of:
    window_uid: NotRequired[str]
    # Part of it.
    title: NotRequired[str]
    title_regex: NotRequired[str]
    # Its name.
    process: NotRequired[str]


class LaunchAppArguments(TypedDict):
    # App id or program.
    program: str
    # As they are; no shell.
    args: NotRequired[list[str] | None]
    cwd: NotRequired[str | None]
    # Default true.
    wait_for_window: NotRequired[bool | None]
    # Which window.
    match: NotRequired[LaunchAppArgumentsMatch | None]
    timeout_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class LaunchAppReplyWindow(TypedDict):
    window_uid: str
    title: str
    process: str
    pid: int
    # Whether keys go to it.
    focused: bool


class LaunchAppReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    executed: bool
    argv: list[str]
    cwd: NotRequired[str | None]
    pid: NotRequired[int | None]
    running: NotRequired[bool | None]
    window_found: NotRequired[bool | None]
    window: NotRequired[LaunchAppReplyWindow | None]
    # The window still changes, or only a splash screen shows.
    loading: NotRequired[bool]
    # The window was open before: a program that was running took the work over.
    reused: NotRequired[bool]
    note: NotRequired[str | None]
    # Where its files go, on a private desktop.
    where_files_go: NotRequired[str | None]
    dry_run: NotRequired[bool]


class ListAppsArguments(TypedDict):
    # Part of a name or id.
    filter: NotRequired[str | None]
    limit: NotRequired[int | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class ListAppsReplyRunningItemWindowsItem(TypedDict):
    window_uid: str
    title: str


class ListAppsReplyRunningItem(TypedDict):
    name: str
    pid: int
    windows: list[ListAppsReplyRunningItemWindowsItem]


class ListAppsReplyInstalledItem(TypedDict):
    id: str
    name: str
    program: str


class ListAppsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    running: list[ListAppsReplyRunningItem]
    installed: list[ListAppsReplyInstalledItem]
    # How many more are installed that fit.
    not_listed: int


class ListJobsArguments(TypedDict):
    # Only jobs with this status.
    status: NotRequired[str | None]
    # At most so many, 20 unless told.
    limit: NotRequired[int | None]


class ListJobsReplyJobsItem(TypedDict):
    job_id: str
    status: str


class ListJobsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    jobs: list[ListJobsReplyJobsItem]
    count: int


ListRecipesArguments: TypeAlias = "dict[str, Any]"


class ListRecipesReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    recipes: list[dict[str, Any]]
    count: int
    # Files that cannot be used, each with the reason.
    problems: NotRequired[list[str]]


class ListWindowsArguments(TypedDict):
    # At most so many.
    max_tokens: NotRequired[int | None]


class ListWindowsReplyWindowsItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ListWindowsReplyWindowsItem(TypedDict):
    index: int
    handle: str
    title: str
    process: str
    pid: int
    bounds: ListWindowsReplyWindowsItemBounds
    focused: bool
    window_uid: str
    # The address of the page that a tab of a browser shows.
    url: NotRequired[str | None]


class ListWindowsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    is_mock: bool
    count: int
    windows: list[ListWindowsReplyWindowsItem]


class LoadScenarioArguments(TypedDict):
    # YAML file below the server's scenario folders.
    path: str


class LoadScenarioReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    scenario: str
    state: str
    states: list[str]


class LookArgumentsGrid(TypedDict):
    rows: NotRequired[int]
    cols: NotRequired[int]
    labels: NotRequired[bool]


class LookArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class LookArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Only what is in this element.
    ref: NotRequired[str | None]
    # Only what changed since your last look.
    changes: NotRequired[bool | None]
    # Add a screenshot: plain, with numbered elements, or with rows and columns.
    picture: NotRequired[Literal["plain", "marks", "grid"] | None]
    grid: NotRequired[LookArgumentsGrid | None]
    marks: NotRequired[bool | None]
    region: NotRequired[LookArgumentsRegion | None]
    format: NotRequired[Literal["png", "jpeg", "webp"] | None]
    quality: NotRequired[int | None]
    # next of the last reply.
    after: NotRequired[str | None]
    # groups, repeats, hidden, bars, bounds, texts, cells, details: what an outline normally leaves out.
    keep: NotRequired[list[Literal["groups", "repeats", "hidden", "bars", "bounds", "texts", "details", "cells"]] | None]
    # Whether a window without elements is read by OCR; default true.
    ocr: NotRequired[bool | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class LookReplyDropped(TypedDict):
    hidden: NotRequired[int]
    groups: NotRequired[int]
    repeats: NotRequired[int]
    bars: NotRequired[int]
    # Empty cells of tables.
    cells: NotRequired[int]
    # Below the depth that was asked for.
    deeper: NotRequired[int]
    # By the caller's own filters.
    filtered: NotRequired[int]
    # Into a line that says how many.
    folded: NotRequired[int]


class LookReplySinceLastLook(TypedDict):
    added: int
    removed: int
    changed: int
    # Lines of these that were left out for lack of room.
    left_out: NotRequired[int]


class LookReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class LookReplyGrid(TypedDict):
    rows: int
    cols: int
    # In pixels of the screen.
    cell_width: float
    cell_height: float
    indexing: str
    # Where every cell has its label, both are 1; 0 without labels.
    label_every_row: int
    label_every_col: int
    aim: str


class LookReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    # Absent when there are no windows.
    window_uid: NotRequired[str | None]
    window: NotRequired[str | None]
    elements: int
    shown: int
    # "ocr": the lines were read in the pixels.
    source: NotRequired[str | None]
    # Why there are no elements, or not all of them, where the platform knows.
    degraded: NotRequired[str | None]
    # How many elements each rule left out.
    dropped: LookReplyDropped
    # Absent when this is the first look at the window.
    since_last_look: NotRequired[LookReplySinceLastLook | None]
    truncated: NotRequired[bool]
    # The value of `after` that goes on.
    next: NotRequired[str | None]
    windows_left_out: NotRequired[int]
    # Present and false when the application could not be read to the end.
    complete: NotRequired[bool | None]
    width: NotRequired[int]
    height: NotRequired[int]
    source_bbox: NotRequired[LookReplySourceBbox]
    # Pointer tools accept pixels of this screenshot if you give its id.
    image_id: NotRequired[str]
    # Pixels of the screenshot for one of the screen.
    scale: NotRequired[float]
    grid: NotRequired[LookReplyGrid | None]


class ObserveWindowArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # tree_token: only what changed since.
    since: NotRequired[str | None]
    # Of changes; default custom. outline: of everything.
    format: NotRequired[Literal["custom", "json-patch", "outline"] | None]
    # Levels of the full tree; default 5.
    depth: NotRequired[int | None]
    # Only what changed since the last look.
    changed_only: NotRequired[bool | None]
    # What an outline should not leave out, as in get_window_structure.
    keep: NotRequired[list[Literal["groups", "repeats", "hidden", "bars", "bounds", "texts", "details", "cells"]] | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class ObserveWindowReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]


class OcrFindArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class OcrFindArguments(TypedDict):
    # Default: all that can be read.
    text: NotRequired[str | None]
    # Default contains.
    match: NotRequired[Literal["contains", "exact", "regex"] | None]
    # Only this part of the screen.
    region: NotRequired[OcrFindArgumentsRegion | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    case_sensitive: NotRequired[bool | None]
    # Leave out words with less confidence; default `ocr.min_confidence` of the config.
    min_confidence: NotRequired[int | None]
    # False: every word by itself instead of words in lines.
    group_lines: NotRequired[bool | None]
    # Tesseract's page segmentation mode; default `ocr.psm_window` of the config.
    psm: NotRequired[int | None]
    # Default 50.
    max_results: NotRequired[int | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class OcrFindReplyArea(TypedDict):
    x: int
    y: int
    width: int
    height: int


class OcrFindReplyMatchesItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class OcrFindReplyMatchesItem(TypedDict):
    text: str
    # The whole line, where there is more of it.
    line: NotRequired[str | None]
    confidence: int
    # On the screen.
    bounds: OcrFindReplyMatchesItemBounds
    x: int
    y: int


class OcrFindReplyNearestItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class OcrFindReplyNearestItem(TypedDict):
    text: str
    # The whole line, where there is more of it.
    line: NotRequired[str | None]
    confidence: int
    # On the screen.
    bounds: OcrFindReplyNearestItemBounds
    x: int
    y: int


class OcrFindReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    # The part of the screen that was read.
    area: OcrFindReplyArea
    count: int
    # How many more there are.
    not_listed: int
    matches: list[OcrFindReplyMatchesItem]
    # The most similar texts, when nothing was found.
    nearest: NotRequired[list[OcrFindReplyNearestItem]]


class OpenUrlArguments(TypedDict):
    # http://… or https://…
    url: str
    # Default false.
    new_tab: NotRequired[bool | None]
    # Default: tab in front.
    window_uid: NotRequired[str | None]
    # Default load.
    wait: NotRequired[Literal["load", "none"] | None]
    timeout_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class OpenUrlReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class OpenUrlReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window_uid: str
    title: str
    url: str
    # What the server answered, as 200 or 404.
    status: NotRequired[int | None]
    # It has not arrived as a whole.
    loading: NotRequired[bool]
    note: NotRequired[str | None]
    dry_run: NotRequired[bool]
    new_dialogs: list[OpenUrlReplyNewDialogsItem]
    duration_ms: int


class PageHistoryArguments(TypedDict):
    # Which way.
    go: Literal["back", "forward", "reload", "stop"]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    timeout_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class PageHistoryReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class PageHistoryReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window_uid: str
    title: str
    url: str
    # What the server answered, as 200 or 404.
    status: NotRequired[int | None]
    # It has not arrived as a whole.
    loading: NotRequired[bool]
    note: NotRequired[str | None]
    dry_run: NotRequired[bool]
    new_dialogs: list[PageHistoryReplyNewDialogsItem]
    duration_ms: int


class PageLogArguments(TypedDict):
    # Only lines after this number.
    after: NotRequired[int | None]
    # Default: all kinds.
    kinds: NotRequired[list[Literal["console", "error", "network", "browser"]] | None]
    # Default: all tabs.
    window_uid: NotRequired[str | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class PageLogReplyLinesItem(TypedDict):
    number: int
    kind: str
    level: str
    text: str
    url: NotRequired[str]
    window_uid: NotRequired[str | None]


class PageLogReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    lines: list[PageLogReplyLinesItem]
    # How many older lines are no longer there.
    dropped: NotRequired[int]


class PressKeyArguments(TypedDict):
    # Like enter, ctrl+s, alt+f4.
    keys: str
    # Raised first; default: focused window.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # background: refused unless it is in front.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class PressKeyReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]


class PressKeyAndObserveArguments(TypedDict):
    # Like enter, ctrl+s, alt+f4.
    keys: str
    # Raised first; default: focused window.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # background: refused unless it is in front.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Pause before looking; default 200.
    wait_after_ms: NotRequired[int | None]
    # Tree token: only the changes since.
    since: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class PressKeyAndObserveReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    observation: NotRequired[Any]


class ProposeActionArguments(TypedDict):
    # Tool to be confirmed.
    action: str
    # Its arguments, exactly as they will be sent.
    args: NotRequired[dict[str, Any] | None]


class ProposeActionReplyWouldTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ProposeActionReplyWouldTarget(TypedDict):
    window_uid: str
    selector: str
    bounds: ProposeActionReplyWouldTargetBounds


class ProposeActionReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    confirm_token: str
    expires_at: float
    would_target: ProposeActionReplyWouldTarget


class ReadPageArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Default markdown.
    format: NotRequired[Literal["text", "markdown"] | None]
    # Default main: without menus and bars.
    part: NotRequired[Literal["main", "whole"] | None]
    # What is told of links; default urls.
    links: NotRequired[Literal["urls", "refs", "none"] | None]
    # next of the last reply.
    after: NotRequired[str | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class ReadPageReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window_uid: str
    title: str
    url: str
    part: Literal["main", "whole"]
    # Of the whole text, in bytes.
    length: int
    # The value of `after` that goes on.
    next: NotRequired[str | None]
    # Present and false when the page could not be read to the end.
    complete: NotRequired[bool | None]


class ReplayStartArguments(TypedDict):
    # Trace file or folder below the server's trace folder, or `latest`.
    path: str
    # Default execute; verify also compares with what was recorded.
    mode: NotRequired[Literal["execute", "verify"] | None]
    # After a difference; default warn: continue.
    on_divergence: NotRequired[Literal["stop", "warn", "resume"] | None]


class ReplayStartReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    replay_id: str
    total: int
    mode: Literal["execute", "verify"]
    label: Any
    torn: NotRequired[bool]


class ReplayStatusArguments(TypedDict):
    # From replay_start.
    replay_id: str


class ReplayStatusReplyDivergencesItemDifferencesItem(TypedDict):
    path: str
    want: Any
    got: Any


class ReplayStatusReplyDivergencesItem(TypedDict):
    step_id: int
    trace_seq: int
    tool: str
    differences: list[ReplayStatusReplyDivergencesItemDifferencesItem]


class ReplayStatusReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    replay_id: str
    position: int
    total: int
    finished: bool
    divergences: list[ReplayStatusReplyDivergencesItem]
    mode: Literal["execute", "verify"]


class ReplayStepArguments(TypedDict):
    # From replay_start.
    replay_id: str
    # Arguments that the trace left out as secret.
    supply: NotRequired[dict[str, Any] | None]


class ReplayStepReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    finished: bool
    position: int
    total: int
    tool: NotRequired[str]
    divergence: NotRequired[Any]
    actual_summary: NotRequired[Any]
    replay_id: str


class ReplayStopArguments(TypedDict):
    # From replay_start.
    replay_id: str


class ReplayStopReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    stopped: bool


class RightClickAtArguments(TypedDict):
    # Screen pixel.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class RightClickAtReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class RightClickAtReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    # A window that was behind others or without the focus came to the front.
    raised: NotRequired[bool]
    duration_ms: int
    new_dialogs: list[RightClickAtReplyNewDialogsItem]


class RightClickElementArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class RightClickElementReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class RightClickElementReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class RightClickElementReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: RightClickElementReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[RightClickElementReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class RightClickElementReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class RightClickElementReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class RightClickElementReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class RightClickElementReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: RightClickElementReplyTarget
    before: RightClickElementReplyBefore
    after: RightClickElementReplyAfter
    changed: bool
    new_dialogs: list[RightClickElementReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class RunJobArguments(TypedDict):
    # What is to be done, in words.
    job: str
    # chat, scripted:FILE, or host: you plan it yourself.
    planner: NotRequired[str | None]
    # Instead of planner.model.
    model: NotRequired[str | None]
    # Tools and groups that it may not use.
    disabled_tools: NotRequired[list[str] | None]
    # max_steps, timeout_ms, max_calls, max_actions, max_screenshots, max_tokens, max_usd, max_failures, on_budget (stop or pause).
    limits: NotRequired[dict[str, Any] | None]
    # JSON Schema of the result.
    output_schema: NotRequired[dict[str, Any] | None]
    # A second job with the same key is the first one.
    idempotency_key: NotRequired[str | None]
    # Higher runs first.
    priority: NotRequired[int | None]
    # Keep a trace of it.
    record: NotRequired[bool | None]
    # A desk of its own, where jobs.desks allows that.
    desk: NotRequired[Literal["mock", "sandbox", "desktop", "browser"] | None]
    # For the desk mock.
    scenario: NotRequired[str | None]
    # For the desk sandbox.
    program: NotRequired[str | None]
    # For the desk browser.
    start_url: NotRequired[str | None]
    # Wait so long for its end.
    wait_ms: NotRequired[int | None]


class RunJobReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    job_id: str
    status: str


class RunWebTaskArgumentsAgent(TypedDict):
    # auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    kind: NotRequired[str]
    # Instead of planner.model.
    model: NotRequired[str]


class RunWebTaskArgumentsLimits(TypedDict):
    # Turns of the planner; default 40.
    maxSteps: NotRequired[int]
    # Milliseconds of work; default 120000.
    timeoutMs: NotRequired[int]
    # False: a browser with a window. Default true.
    headless: NotRequired[bool]


RunWebTaskArguments = TypedDict("RunWebTaskArguments", {
    "goal": "str",
    "startUrl": "NotRequired[str | None]",
    "sessionId": "NotRequired[str | None]",
    "profile": "NotRequired[str | None]",
    "mode": "NotRequired[Literal[\"act\", \"read\"] | None]",
    "input": "NotRequired[dict[str, Any] | None]",
    "outputSchema": "NotRequired[dict[str, Any] | None]",
    "agent": "NotRequired[RunWebTaskArgumentsAgent | None]",
    "limits": "NotRequired[RunWebTaskArgumentsLimits | None]",
    "webhook": "NotRequired[str | None]",
    "recipe": "NotRequired[str | None]",
    "idempotencyKey": "NotRequired[str | None]",
    "async": "NotRequired[bool | None]",
    "waitMs": "NotRequired[int | None]",
})


class RunWebTaskReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    taskId: str
    status: str


class SaveSessionArgumentsAgent(TypedDict):
    # auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    kind: NotRequired[str]
    # Instead of planner.model.
    model: NotRequired[str]


class SaveSessionArguments(TypedDict):
    # The session to change; without it a new one is made.
    sessionId: NotRequired[str | None]
    # For people.
    name: NotRequired[str | None]
    # guest: nothing stays.
    mode: NotRequired[Literal["guest", "profile"] | None]
    # Browser profile, where jobs.profiles allows it.
    profile: NotRequired[str | None]
    # Default of its tasks.
    startUrl: NotRequired[str | None]
    # Default of its tasks.
    agent: NotRequired[SaveSessionArgumentsAgent | None]
    # Told to the planner of each task, as data.
    notes: NotRequired[str | None]
    # A person has logged in with its profile.
    warmed: NotRequired[bool | None]
    # What is taken away.
    clear: NotRequired[list[Literal["name", "profile", "startUrl", "agent", "notes"]] | None]


class SaveSessionReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]


class ScrollArguments(TypedDict):
    # Wheel clicks, positive up; default 3.
    clicks: NotRequired[int | None]
    # Screen pixel; default: pointer position.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class ScrollReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]


class SelectOptionArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Name of the option.
    option_name: NotRequired[str | None]
    # Or its place from 0.
    option_index: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class SelectOptionReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class SelectOptionReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class SelectOptionReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: SelectOptionReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[SelectOptionReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class SelectOptionReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class SelectOptionReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class SelectOptionReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class SelectOptionReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: SelectOptionReplyTarget
    before: SelectOptionReplyBefore
    after: SelectOptionReplyAfter
    changed: bool
    new_dialogs: list[SelectOptionReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


class SessionsArguments(TypedDict):
    # Only this one.
    sessionId: NotRequired[str | None]


class SessionsReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]


class SetValueArgumentsValue2(TypedDict):
    secret: str


class SetValueArguments(TypedDict):
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # foreground: raise the window.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    value: str | SetValueArgumentsValue2
    # False: append instead; default true.
    clear_first: NotRequired[bool | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class SetValueReplyTargetBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class SetValueReplyTargetIdentity(TypedDict):
    confidence: float
    reason: str


class SetValueReplyTarget(TypedDict):
    window_uid: str
    element_id: str
    selector: str
    bounds: SetValueReplyTargetBounds
    ref: str
    # Present when the element was not found by its own object.
    identity: NotRequired[SetValueReplyTargetIdentity | None]
    # What it is called after the action, when that is not what it was called before.
    renamed: NotRequired[str | None]


class SetValueReplyBefore(TypedDict):
    tree_hash: str
    focused_selector: str


class SetValueReplyAfter(TypedDict):
    tree_hash: str
    focused_selector: str


class SetValueReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class SetValueReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    dry_run: bool
    target: SetValueReplyTarget
    before: SetValueReplyBefore
    after: SetValueReplyAfter
    changed: bool
    new_dialogs: list[SetValueReplyNewDialogsItem]
    duration_ms: int
    # How the input was delivered; absent when nothing was.
    route: NotRequired[Literal["accessibility", "pointer", "keyboard"] | None]
    # The window was and stayed behind others, without the focus.
    in_background: NotRequired[bool]
    # The window was behind others or without the focus, and came to the front.
    raised: NotRequired[bool]
    # What was asked for was read back.
    verified: NotRequired[bool]
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]


SnapshotArguments: TypeAlias = "dict[str, Any]"


class SnapshotReplySummary(TypedDict):
    windows: int
    trees: int
    # Windows whose tree could not be read.
    unreadable: int


class SnapshotReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    snapshot_id: str
    ts: float
    summary: SnapshotReplySummary


class SnapshotDiffArguments(TypedDict):
    # Earlier snapshot_id.
    a: str
    # Later snapshot_id, or "now".
    b: str
    # Of changes; default custom.
    format: NotRequired[Literal["custom", "json-patch"] | None]
    # At most so many.
    max_tokens: NotRequired[int | None]


class SnapshotDiffReplyWindowsAddedItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class SnapshotDiffReplyWindowsAddedItem(TypedDict):
    handle: str
    title: str
    process: str
    pid: int
    bounds: SnapshotDiffReplyWindowsAddedItemBounds
    focused: bool
    window_uid: str


class SnapshotDiffReplyWindowsRemovedItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class SnapshotDiffReplyWindowsRemovedItem(TypedDict):
    handle: str
    title: str
    process: str
    pid: int
    bounds: SnapshotDiffReplyWindowsRemovedItemBounds
    focused: bool
    window_uid: str


class SnapshotDiffReplyPerWindowChangesValue(TypedDict):
    format: Literal["custom", "json-patch"]
    changes: Any


class SnapshotDiffReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    windows_added: list[SnapshotDiffReplyWindowsAddedItem]
    windows_removed: list[SnapshotDiffReplyWindowsRemovedItem]
    per_window_changes: dict[str, SnapshotDiffReplyPerWindowChangesValue]
    # Windows that could not be compared, because one of their trees could not be read.
    unreadable: NotRequired[list[str]]


class SnapshotDropArguments(TypedDict):
    # From snapshot.
    snapshot_id: str


class SnapshotDropReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    dropped: bool


class SnapshotGetArguments(TypedDict):
    # From snapshot, or "now".
    snapshot_id: str
    # At most so many.
    max_tokens: NotRequired[int | None]


class SnapshotGetReplyWindowsItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class SnapshotGetReplyWindowsItem(TypedDict):
    handle: str
    title: str
    process: str
    pid: int
    bounds: SnapshotGetReplyWindowsItemBounds
    focused: bool
    window_uid: str


class SnapshotGetReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    snapshot_id: str
    ts: float
    windows: list[SnapshotGetReplyWindowsItem]
    trees: Any
    tree_hashes: dict[str, str]
    # Why windows have no tree.
    unreadable: NotRequired[dict[str, str]]


class TraceStartArguments(TypedDict):
    # Stored in the header; truncated to 200 characters.
    label: NotRequired[str | None]


class TraceStartReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    trace_id: str
    started_at: float
    dir: str


TraceStatusArguments: TypeAlias = "dict[str, Any]"


class TraceStatusReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    active_trace_id: Any
    step_count: int
    dir: Any
    trace_error: NotRequired[str | None]


TraceStopArguments: TypeAlias = "dict[str, Any]"


class TraceStopReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    trace_id: str
    path: str
    step_count: int
    duration_ms: int
    trace_error: NotRequired[str | None]


class TypeAndObserveArgumentsText2(TypedDict):
    secret: str


class TypeAndObserveArguments(TypedDict):
    text: str | TypeAndObserveArgumentsText2
    # Raised first; default: focused window.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # background: refused unless it is in front.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Pause before looking; default 200.
    wait_after_ms: NotRequired[int | None]
    # Tree token: only the changes since.
    since: NotRequired[str | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class TypeAndObserveReplyInto(TypedDict):
    window_uid: str
    ref: str
    role: str
    name: str
    # What it holds now; absent for what is private or does not tell.
    value: NotRequired[str | None]
    # It holds something else than before, or more of it; absent where that is not known.
    changed: NotRequired[bool | None]


class TypeAndObserveReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    # The element that got the text: that had the focus when it began, or the field that it opened.
    into: NotRequired[TypeAndObserveReplyInto | None]
    # The text was read back there.
    verified: NotRequired[bool | None]
    observation: NotRequired[Any]


class TypeTextArgumentsText2(TypedDict):
    secret: str


class TypeTextArguments(TypedDict):
    text: str | TypeTextArgumentsText2
    # Raised first; default: focused window.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # background: refused unless it is in front.
    delivery: NotRequired[Literal["background", "foreground"] | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class TypeTextReplyInto(TypedDict):
    window_uid: str
    ref: str
    role: str
    name: str
    # What it holds now; absent for what is private or does not tell.
    value: NotRequired[str | None]
    # It holds something else than before, or more of it; absent where that is not known.
    changed: NotRequired[bool | None]


class TypeTextReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: str
    note: NotRequired[str | None]
    scenario_reaction: NotRequired[bool]
    dry_run: NotRequired[bool]
    # The element that got the text: that had the focus when it began, or the field that it opened.
    into: NotRequired[TypeTextReplyInto | None]
    # The text was read back there.
    verified: NotRequired[bool | None]


class VisionDiffArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class VisionDiffArguments(TypedDict):
    # Default: the screen.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Only {x,y,width,height} of the screen.
    region: NotRequired[VisionDiffArgumentsRegion | None]
    threshold: NotRequired[float | None]
    tolerance: NotRequired[int | None]
    # frame_id of an earlier call.
    since: NotRequired[str | None]
    # Or wait between two captures.
    wait_ms: NotRequired[int | None]
    # Two PNGs in base64 to compare instead of the screen.
    before_b64: NotRequired[str | None]
    after_b64: NotRequired[str | None]


class VisionDiffReplyBoxesItem(TypedDict):
    x: int
    y: int
    width: int
    height: int


class VisionDiffReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class VisionDiffReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    # What was compared: nothing yet, an earlier frame, two captures, or two images of the caller.
    mode: str
    changed: bool
    diff_ratio: float
    changed_pixels: int
    # What changed, on the screen, the largest change first.
    boxes: list[VisionDiffReplyBoxesItem]
    boxes_left_out: NotRequired[int]
    size_changed: NotRequired[bool]
    source_bbox: VisionDiffReplySourceBbox
    # The current frame, to compare with later.
    frame_id: NotRequired[str | None]


class VisionStabilityArgumentsRegion(TypedDict):
    x: int
    y: int
    width: int
    height: int


class VisionStabilityArguments(TypedDict):
    # Default: the screen.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Only {x,y,width,height} of the screen.
    region: NotRequired[VisionStabilityArgumentsRegion | None]
    threshold: NotRequired[float | None]
    tolerance: NotRequired[int | None]
    # Default 1000.
    duration_ms: NotRequired[int | None]
    interval_ms: NotRequired[int | None]


class VisionStabilityReplyBoxesItem(TypedDict):
    x: int
    y: int
    width: int
    height: int


class VisionStabilityReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    stable: bool
    sample_count: int
    max_ratio: float
    avg_ratio: float
    # Where it changed.
    boxes: list[VisionStabilityReplyBoxesItem]
    boxes_left_out: NotRequired[int]


class WaitForArguments(TypedDict):
    # {type,…}: element_appears{selector}, element_disappears{ref|selector|element_id}, text_visible{regex}, window_appears{title_regex}, window_disappears{window_uid|title_regex}, tree_changes{since?}, focused_changes, visual_change, visual_stable{region?,quiet_ms?}; or an assert_state predicate {kind,…}.
    any_of: list[dict[str, Any]]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Default 5000.
    timeout_ms: NotRequired[int | None]
    # How often to look where changes are not told.
    poll_ms: NotRequired[int | None]


class WaitForReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    matched_index: int
    matched_detail: dict[str, Any]
    elapsed_ms: int
    polls: int


class WaitIdleArguments(TypedDict):
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Default 750.
    quiet_ms: NotRequired[int | None]
    # Default 5000.
    timeout_ms: NotRequired[int | None]
    # How often to look where changes are not told.
    poll_ms: NotRequired[int | None]


class WaitIdleReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    elapsed_ms: int
    tree_hash: str


class WindowActionArguments(TypedDict):
    # What to do.
    action: Literal["focus", "restore", "minimize", "maximize", "close", "move", "resize"]
    # Or one of:
    window_uid: NotRequired[str | None]
    # Part of it.
    title: NotRequired[str | None]
    title_regex: NotRequired[str | None]
    # Its name.
    process: NotRequired[str | None]
    # To move.
    x: NotRequired[int | None]
    # To move.
    y: NotRequired[int | None]
    # To resize.
    width: NotRequired[int | None]
    # To resize.
    height: NotRequired[int | None]
    timeout_ms: NotRequired[int | None]
    # Check only, do nothing.
    dry_run: NotRequired[bool | None]
    confirm_token: NotRequired[str | None]


class WindowActionReplyFinalBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class WindowActionReplyFinal(TypedDict):
    bounds: WindowActionReplyFinalBounds
    focused: bool
    minimized: bool
    maximized: bool


class WindowActionReplyNewDialogsItem(TypedDict):
    window_uid: str
    title: str


class WindowActionReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    action: Literal["focus", "restore", "minimize", "maximize", "close", "move", "resize"]
    # Whether the window has the requested state.
    reached: bool
    window_uid: str
    window: str
    closed: NotRequired[bool]
    # Its state now; absent when it is gone.
    final: NotRequired[WindowActionReplyFinal | None]
    note: NotRequired[str | None]
    dry_run: NotRequired[bool]
    new_dialogs: list[WindowActionReplyNewDialogsItem]
    duration_ms: int


class ZoomArgumentsGrid(TypedDict):
    rows: NotRequired[int]
    cols: NotRequired[int]
    labels: NotRequired[bool]


class ZoomArguments(TypedDict):
    # Screen pixel.
    x: NotRequired[int | None]
    # Screen pixel.
    y: NotRequired[int | None]
    coordinate_space: NotRequired[Literal["screen", "image", "logical"] | None]
    image: NotRequired[str | None]
    # The older spelling.
    image_id: NotRequired[str | None]
    row: NotRequired[int | None]
    col: NotRequired[int | None]
    dx: NotRequired[float | None]
    dy: NotRequired[float | None]
    # Like e17; knows its window.
    ref: NotRequired[str | None]
    # Or e.g. Window/Button[name="OK"].
    selector: NotRequired[str | None]
    # Or id in the tree.
    element_id: NotRequired[str | None]
    # Default: focused window.
    window_uid: NotRequired[str | None]
    # The uid wins.
    window_index: NotRequired[int | None]
    window_title: NotRequired[str | None]
    # Screen pixels shown; default 500.
    width: NotRequired[int | None]
    height: NotRequired[int | None]
    # Draw {rows,cols,labels}.
    grid: NotRequired[ZoomArgumentsGrid | None]
    # Number what can be acted on.
    marks: NotRequired[bool | None]
    format: NotRequired[Literal["png", "jpeg", "webp"] | None]
    quality: NotRequired[int | None]


class ZoomReplySourceBbox(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ZoomReplyGrid(TypedDict):
    rows: int
    cols: int
    # In pixels of the screen.
    cell_width: float
    cell_height: float
    indexing: str
    # Where every cell has its label, both are 1; 0 without labels.
    label_every_row: int
    label_every_col: int
    aim: str


class ZoomReplyMarksItemBounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ZoomReplyMarksItemCenter(TypedDict):
    x: int
    y: int


class ZoomReplyMarksItem(TypedDict):
    n: int
    ref: str
    role: str
    name: str
    bounds: ZoomReplyMarksItemBounds
    center: ZoomReplyMarksItemCenter
    disabled: NotRequired[bool]


class ZoomReply(TypedDict):
    ok: Literal[True]
    success: Literal[True]
    step_id: int
    caused_by_step_id: int | None
    untrusted: NotRequired[bool]
    suspicious: NotRequired[Literal[True]]
    suspicious_places: NotRequired[list[Any]]
    warning: NotRequired[str]
    window: str
    format: str
    encoding: str
    width: int
    height: int
    source_bbox: ZoomReplySourceBbox
    # Pointer tools accept pixels of this screenshot if you give its id.
    image_id: str
    # Pixels of the screenshot for one of the screen.
    scale: float
    grid: NotRequired[ZoomReplyGrid | None]
    # Each number and its element.
    marks: NotRequired[list[ZoomReplyMarksItem] | str | None]
    data: str


class GetToolsReply(TypedDict):
    ok: Literal[True]
    tools: list[str]


class GetHealthzReply(TypedDict):
    ok: Literal[True]
    uptime_s: int
    step_count: int
    adapter: str
    version: str
    halted: bool
    tree_cache: dict[str, Any]
    config_path: str | None
    config_error: str | None
    ocr: dict[str, Any]


class GetHealthReply(TypedDict):
    ok: Literal[True]
    status: str
    version: str
    tasks: bool


class GetCallsReply(TypedDict):
    ok: Literal[True]
    last_event: int
    calls: list[dict[str, Any]]


class GetHaltReply(TypedDict):
    ok: Literal[True]
    halted: bool
    reason: str | None
    since: str | None


class PostHaltBody(TypedDict):
    reason: NotRequired[str | None]


class PostHaltReply(TypedDict):
    ok: Literal[True]
    halted: bool
    reason: str | None
    since: str | None


class ReleaseHaltReply(TypedDict):
    ok: Literal[True]
    halted: bool
    reason: str | None
    since: str | None


class GetApprovalsReply(TypedDict):
    ok: Literal[True]
    mode: str
    approvals: list[dict[str, Any]]


class PostApprovalBody(TypedDict):
    decision: Literal["allow", "deny"]


class PostApprovalReply(TypedDict):
    ok: Literal[True]
    id: str
    decision: Literal["allow", "deny"]


class GetTracesReply(TypedDict):
    ok: Literal[True]
    count: int
    traces: list[dict[str, Any]]


class CancelJobReply(TypedDict):
    ok: Literal[True]
    job_id: str
    status: str


class PauseJobReply(TypedDict):
    ok: Literal[True]
    job_id: str
    status: str


class ResumeJobReply(TypedDict):
    ok: Literal[True]
    job_id: str
    status: str


class TakeoverJobReply(TypedDict):
    ok: Literal[True]
    job_id: str
    status: str


class ReleaseJobReply(TypedDict):
    ok: Literal[True]
    job_id: str
    status: str


class AnswerJobBody(TypedDict):
    decision: Literal["allow", "deny"]
    id: str


class AnswerJobReply(TypedDict):
    ok: Literal[True]
    id: str
    decision: Literal["allow", "deny"]


class GetJobEventsReply(TypedDict):
    ok: Literal[True]
    events: list[dict[str, Any]]
    next: int


class GetJobArtifactsReply(TypedDict):
    ok: Literal[True]
    artifacts: list[dict[str, Any]]


class GetStatsReply(TypedDict):
    ok: Literal[True]
    jobs: int
    by_status: dict[str, Any]


class CreateSessionBodyAgent(TypedDict):
    # auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    kind: NotRequired[str]
    # Instead of planner.model.
    model: NotRequired[str]


class CreateSessionBody(TypedDict):
    # For people.
    name: NotRequired[str | None]
    # guest: nothing stays.
    mode: NotRequired[Literal["guest", "profile"] | None]
    # Browser profile, where jobs.profiles allows it.
    profile: NotRequired[str | None]
    # Default of its tasks.
    startUrl: NotRequired[str | None]
    # Default of its tasks.
    agent: NotRequired[CreateSessionBodyAgent | None]
    # Told to the planner of each task, as data.
    notes: NotRequired[str | None]
    # A person has logged in with its profile.
    warmed: NotRequired[bool | None]


class UpdateSessionBodyAgent(TypedDict):
    # auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    kind: NotRequired[str]
    # Instead of planner.model.
    model: NotRequired[str]


class UpdateSessionBody(TypedDict):
    # For people.
    name: NotRequired[str | None]
    # guest: nothing stays.
    mode: NotRequired[Literal["guest", "profile"] | None]
    # Browser profile, where jobs.profiles allows it.
    profile: NotRequired[str | None]
    # Default of its tasks.
    startUrl: NotRequired[str | None]
    # Default of its tasks.
    agent: NotRequired[UpdateSessionBodyAgent | None]
    # Told to the planner of each task, as data.
    notes: NotRequired[str | None]
    # A person has logged in with its profile.
    warmed: NotRequired[bool | None]
    # What is taken away.
    clear: NotRequired[list[Literal["name", "profile", "startUrl", "agent", "notes"]] | None]


class RunTaskBodyAgent(TypedDict):
    # auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    kind: NotRequired[str]
    # Instead of planner.model.
    model: NotRequired[str]


class RunTaskBodyLimits(TypedDict):
    # Turns of the planner; default 40.
    maxSteps: NotRequired[int]
    # Milliseconds of work; default 120000.
    timeoutMs: NotRequired[int]
    # False: a browser with a window. Default true.
    headless: NotRequired[bool]


RunTaskBody = TypedDict("RunTaskBody", {
    "goal": "str",
    "startUrl": "NotRequired[str | None]",
    "sessionId": "NotRequired[str | None]",
    "profile": "NotRequired[str | None]",
    "mode": "NotRequired[Literal[\"act\", \"read\"] | None]",
    "input": "NotRequired[dict[str, Any] | None]",
    "outputSchema": "NotRequired[dict[str, Any] | None]",
    "agent": "NotRequired[RunTaskBodyAgent | None]",
    "limits": "NotRequired[RunTaskBodyLimits | None]",
    "webhook": "NotRequired[str | None]",
    "recipe": "NotRequired[str | None]",
    "idempotencyKey": "NotRequired[str | None]",
    "async": "NotRequired[bool | None]",
    "waitMs": "NotRequired[int | None]",
})
