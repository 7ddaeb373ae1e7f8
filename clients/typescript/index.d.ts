// Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.
import { Transport } from './transport.js';

export { ScreenObserverError } from './transport.js';
export type { ClientOptions } from './transport.js';

/** The version of the server that this client was made for. */
export const VERSION: string;

export interface Reply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  [name: string]: unknown;
}

export interface ErrorReply {
  ok: false;
  success: false;
  step_id?: number;
  error: {
    code: string;
    message: string;
    recoverable: boolean;
    suggested_next_tool: string | null;
    context: { [name: string]: unknown };
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

/** Arguments of `act`: Run several steps in one call, stopping at the first that fails; reports what changed. */
export interface ActArguments {
  /** {do:TOOL, its arguments…, expect?, within_ms?, on_fail?}. TOOL acts (also drag{from,to}), waits or asserts. expect: "changed", "text: WORDS" (whole), "text_contains: PART", "window: TITLE" (new), "gone: e12", "value: TEXT", assert_state predicates or wait_for conditions, all met in within_ms (3000). */
  steps: { [name: string]: unknown }[];
  /** {NAME:[steps]}: run in place of a step that fails with on_fail:NAME. */
  alternatives?: { [name: string]: unknown } | null;
  /** Of all steps; default focused. */
  window_uid?: string | null;
  /** Time limit of all steps together; default 45000. */
  timeout_ms?: number | null;
  /** Full replies of the steps instead of a summary. */
  full?: boolean | null;
  /** At most so many. */
  max_tokens?: number | null;
  /** Check all, do nothing. */
  dry_run?: boolean | null;
}

export interface ActReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  /** How sure it is that what was asked for came about; the worst last. */
  verdict: "failed" | "confirmed" | "unconfirmed";
  steps: {
    step: string;
    do: string;
    /** How sure it is that what was asked for came about; the worst last. */
    verdict: "failed" | "confirmed" | "unconfirmed";
    /** The expectation that was not met, and what was seen instead. */
    unmet?: unknown;
    /** What was expected held before the step, so that it says nothing about it. */
    held_before?: boolean;
    [name: string]: unknown;
  }[];
  /** Why it failed: what its last step met. */
  error?: {
    code: string;
    message: string;
    [name: string]: unknown;
  } | null;
  /** The step that failed; nothing ran after it. */
  stopped_at?: string | null;
  not_run?: number;
  dry_run?: boolean;
  /** Of a dry run: the steps, and whether what they need is there already. */
  foreseen?: {
    step: string;
    do: string;
    /** Why its element is not there yet; it is looked for again when its turn comes. */
    not_yet?: string | null;
    /** The person has to agree: before the first step, or in a call of its own. */
    needs_consent?: boolean;
    [name: string]: unknown;
  }[];
  window_uid?: string | null;
  new_windows?: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  closed_windows?: string[];
  /** Lines that were left out for lack of room; look shows them. */
  lines_left_out?: number;
  [name: string]: unknown;
}

/** Arguments of `assert_state`: Check predicates about the desktop; all_passed says whether all hold. */
export interface AssertStateArguments {
  /** {kind,…}: element_exists, element_absent{ref|selector}; value_equals{selector,expected}; value_matches{selector,regex}; element_state{ref|selector,checked?,expanded?,…}; text_visible{regex}; window_focused, window_exists{title_regex}; tree_hash_equals{expected_hash}; screenshot_similar{reference_path}; pixel_color{x,y,color}; region_similar{region,since}; oracle{name}; each window_uid?. */
  predicates?: { [name: string]: unknown }[] | null;
  /** The same, or one object: the older spelling. */
  predicate?: { [name: string]: unknown } | { [name: string]: unknown }[] | null;
}

export interface AssertStateReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  all_passed: boolean;
  results: {
    kind: string;
    passed: boolean;
    observed: unknown;
    args: { [name: string]: unknown };
    error_code?: string | null;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `bring_to_foreground`: Raise a window and focus it; clicks it where the system cannot. */
export interface BringToForegroundArguments {
  /** It or window_index is required. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface BringToForegroundReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  window: string;
  window_uid: string;
  note?: string | null;
  api_note?: string | null;
  clicked_x?: number | null;
  clicked_y?: number | null;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `browser_state`: The tabs, and of each host its cookies and bytes by number. */
export interface BrowserStateArguments {
  /** At most so many. */
  max_tokens?: number | null;
}

export interface BrowserStateReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  tabs: {
    window_uid: string;
    title: string;
    focused: boolean;
    [name: string]: unknown;
  }[];
  cookies: {
    host: string;
    count: number;
    [name: string]: unknown;
  }[];
  /** Empty where the browser is somebody else's. */
  traffic: {
    host: string;
    sent_bytes: number;
    received_bytes: number;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `choose_files`: Give files to the page whose file chooser is open. */
export interface ChooseFilesArguments {
  /** In the folder that the user shares; none closes the chooser. */
  paths: string[];
  /** Default: the chooser that is open. */
  window_uid?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ChooseFilesReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window_uid: string;
  /** How many files the page got. */
  files: number;
  /** The field of the page took them. */
  verified?: boolean;
  note?: string | null;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `clear_site_data`: Forget cookies, what sites have stored, or both: signs out of sites. */
export interface ClearSiteDataArguments {
  /** What to forget. */
  what: "cookies" | "storage" | "all";
  /** Of this origin alone, as https://example.org. */
  origin?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ClearSiteDataReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  cleared: boolean;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `clear_text`: Empty a text field. */
export interface ClearTextArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ClearTextReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `click_at`: Click at screen coordinates. Prefer click_element where there is a tree. */
export interface ClickAtArguments {
  /** Screen pixel. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** Default left. */
  button?: "left" | "right" | "middle" | null;
  /** Double click. */
  double?: boolean | null;
  /** How many clicks; `double` is two. */
  count?: number | null;
  /** Held meanwhile. */
  modifiers?: ("ctrl" | "alt" | "shift" | "meta")[] | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ClickAtReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  /** A window that was behind others or without the focus came to the front. */
  raised?: boolean;
  duration_ms: number;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `click_element`: Click an element. `ok` only means the click was delivered; check `changed`. */
export interface ClickElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Default left. */
  button?: "left" | "right" | "middle" | null;
  /** Clicks; default 1. */
  count?: number | null;
  /** Held meanwhile. */
  modifiers?: ("ctrl" | "alt" | "shift" | "meta")[] | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  /** Consent token. */
  confirm_token?: string | null;
}

export interface ClickElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `click_element_and_observe`: Click an element and see the result, in one call. */
export interface ClickElementAndObserveArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Default left. */
  button?: "left" | "right" | "middle" | null;
  /** Clicks; default 1. */
  count?: number | null;
  /** Held meanwhile. */
  modifiers?: ("ctrl" | "alt" | "shift" | "meta")[] | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Pause before looking; default 200. */
  wait_after_ms?: number | null;
  /** Tree token: only the changes since. */
  since?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  /** Consent token. */
  confirm_token?: string | null;
}

export interface ClickElementAndObserveReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  observation?: unknown;
  [name: string]: unknown;
}

/** Arguments of `click_text`: Click text found by OCR, where there is no element. */
export interface ClickTextArguments {
  /** As written there. */
  text: string;
  /** Default contains. */
  match?: "contains" | "exact" | "regex" | null;
  /** Only this part of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  case_sensitive?: boolean | null;
  /** Leave out words with less confidence; default `ocr.min_confidence` of the config. */
  min_confidence?: number | null;
  /** False: every word by itself instead of words in lines. */
  group_lines?: boolean | null;
  /** Tesseract's page segmentation mode; default `ocr.psm_window` of the config. */
  psm?: number | null;
  /** Which of several, from 1. */
  nth?: number | null;
  /** Of several: first in reading order, best match, or nth. Default the first whole word in the same case. */
  occurrence?: "first" | "best" | "nth" | null;
  /** Default left. */
  button?: "left" | "right" | "middle" | null;
  /** Clicks; default 1. */
  count?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ClickTextReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  /** What was clicked, in its middle. */
  found: {
    text: string;
    /** The whole line, where there is more of it. */
    line?: string | null;
    confidence: number;
    /** On the screen. */
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    x: number;
    y: number;
    [name: string]: unknown;
  };
  /** Which of how many, where there are several. */
  nth?: number | null;
  of?: number | null;
  /** The element under the point, where there is one. */
  target?: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  } | null;
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `clipboard_get`: Read the clipboard's text. */
export interface ClipboardGetArguments {
  /** At most so many. */
  max_tokens?: number | null;
}

export interface ClipboardGetReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  /** Absent when it holds no text. */
  text?: string | null;
  characters: number;
  /** What it holds instead. */
  formats?: string[];
  [name: string]: unknown;
}

/** Arguments of `clipboard_set`: Put text on the clipboard; paste it with press_key ctrl+v. */
export interface ClipboardSetArguments {
  text: string | {
    secret: string;
  };
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ClipboardSetReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  characters: number;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `double_click_at`: Double-click at screen coordinates. */
export interface DoubleClickAtArguments {
  /** Screen pixel. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface DoubleClickAtReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  /** A window that was behind others or without the focus came to the front. */
  raised?: boolean;
  duration_ms: number;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `double_click_element`: Double-click an element. */
export interface DoubleClickElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface DoubleClickElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `downloads`: Downloaded files and their places. */
export interface DownloadsArguments {
  /** Wait so long for running ones. */
  wait_ms?: number | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface DownloadsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  downloads: {
    id: string;
    name: string;
    url: string;
    /** running, complete, cancelled or kept. */
    state: string;
    received_bytes: number;
    total_bytes?: number | null;
    /** Where the file is, once it is kept. */
    path?: string | null;
    note?: string | null;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `drag`: Press at one place, move, release at another; both ends are points or elements. */
export interface DragArguments {
  /** {x, y}, a ref or {selector}. */
  from: string | {
    x?: number;
    y?: number;
    coordinate_space?: "screen" | "image" | "logical";
    image?: string;
    /** The older spelling. */
    image_id?: string;
    row?: number;
    col?: number;
    dx?: number;
    dy?: number;
    /** Like e17; knows its window. */
    ref?: string;
    /** Or e.g. Window/Button[name="OK"]. */
    selector?: string;
    /** Or id in the tree. */
    element_id?: string;
    [name: string]: unknown;
  };
  /** Likewise. */
  to: string | {
    x?: number;
    y?: number;
    coordinate_space?: "screen" | "image" | "logical";
    image?: string;
    /** The older spelling. */
    image_id?: string;
    row?: number;
    col?: number;
    dx?: number;
    dy?: number;
    /** Like e17; knows its window. */
    ref?: string;
    /** Or e.g. Window/Button[name="OK"]. */
    selector?: string;
    /** Or id in the tree. */
    element_id?: string;
    [name: string]: unknown;
  };
  /** Keys held down during the drag. */
  modifiers?: ("ctrl" | "alt" | "shift" | "meta")[] | null;
  /** Default 0.5. */
  duration_s?: number | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface DragReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  from: number[];
  to: number[];
  modifiers: ("ctrl" | "alt" | "shift" | "meta")[];
  path: number[][];
  [name: string]: unknown;
}

/** Arguments of `exec_command`: Run a shell command and wait for it. Only where windows and elements do not help. */
export interface ExecCommandArguments {
  /** For the shell. */
  command: string;
  /** Default: config. */
  shell?: "bash" | "sh" | "powershell" | "cmd" | null;
  /** Default 30. */
  timeout_s?: number | null;
  /** Folder to run in. */
  cwd?: string | null;
  /** The value of exec.secret. */
  secret?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ExecCommandReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  executed: boolean;
  timed_out: boolean;
  shell: "bash" | "sh" | "powershell" | "cmd";
  command: string;
  argv: string[];
  timeout_s: number;
  cwd: string;
  duration_ms: number;
  /** Absent when it was ended by us. */
  exit_code?: number | null;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  /** Bytes that are not UTF-8 are replaced by U+FFFD. */
  stdout_not_utf8?: boolean;
  stderr_not_utf8?: boolean;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `find`: Find elements by words: the best matches, with refs. */
export interface FindArguments {
  /** Words on it, roughly. */
  text?: string | null;
  /** What it is, e.g. button. */
  role?: string | null;
  /** Default: all windows. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** Matches; default 5. */
  limit?: number | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface FindReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  count: number;
  /** How many more match. */
  not_listed: number;
  matches: {
    score: number;
    ref: string;
    role: string;
    name: string;
    value?: string | null;
    disabled?: boolean;
    offscreen?: boolean;
    /** Why a person cannot see it, where the application does not say so. */
    hidden?: string | null;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    /** "ocr": it was read in the pixels of a window without elements. */
    source?: string | null;
    window_uid: string;
    path: string;
    before: string | null;
    after: string | null;
    [name: string]: unknown;
  }[];
  searched: {
    windows: number;
    elements: number;
    [name: string]: unknown;
  };
  /** Windows that could not be read. */
  unreadable?: { [name: string]: string };
  [name: string]: unknown;
}

/** Arguments of `find_element`: Find elements by selector; the first match and up to 10 in all. If none matches, the error lists near misses. */
export interface FindElementArguments {
  /** Window/Button[name="OK"], //Edit, Dialog > Button, [name*="part"], [name~="regex"]. */
  selector: string;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface FindElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window_uid: string;
  element_id: string;
  selector: string;
  bounds: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  ref: string;
  ambiguous_matches: number;
  all_matches: {
    element_id: string;
    ref: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    name: string;
    role: string;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `finish_job`: End a job that you plan yourself (planner host), with its result or with the reason why not. */
export interface FinishJobArguments {
  /** From run_job; `last` for the one that you plan. */
  job_id: string;
  /** What was found or done, as output_schema wants it. */
  result?: unknown;
  /** Why it cannot be done, instead of a result. */
  fail?: string | null;
}

export interface FinishJobReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  job_id: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `focus_element`: Give an element the keyboard focus. */
export interface FocusElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface FocusElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `get_budget_status`: Remaining budget, and what replies have cost so far. */
export type GetBudgetStatusArguments = { [name: string]: unknown };

export interface GetBudgetStatusReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  actions?: {
    used: number;
    limit: number | null;
    remaining: number | null;
    [name: string]: unknown;
  } | null;
  screenshots?: {
    used: number;
    limit: number | null;
    remaining: number | null;
    [name: string]: unknown;
  } | null;
  vlm_tokens?: {
    used: number;
    limit: number | null;
    remaining: number | null;
    [name: string]: unknown;
  } | null;
  session_seconds?: {
    elapsed: number;
    limit: number | null;
    remaining: number | null;
    [name: string]: unknown;
  } | null;
  actions_per_minute?: {
    in_window: number;
    limit: number | null;
    remaining: number | null;
    [name: string]: unknown;
  } | null;
  configured: boolean;
  /** What clients have been sent so far. Tokens are estimated. */
  sent: {
    tokens: number;
    bytes: number;
    by_tool: { [name: string]: {
      calls: number;
      tokens: number;
      bytes: number;
      [name: string]: unknown;
    } };
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

/** Arguments of `get_capabilities`: What this server can do here: platform, abilities, limits, config problems. */
export type GetCapabilitiesArguments = { [name: string]: unknown };

export interface GetCapabilitiesReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  platform: string;
  adapter: string;
  version: string;
  protocol_version: number;
  supports: {
    accessibility_tree: boolean;
    uia_invoke: boolean;
    occlusion_detection: boolean;
    drag: boolean;
    ocr: boolean;
    vlm: boolean;
    redaction: boolean;
    scenarios: boolean;
    tracing: boolean;
    replay: boolean;
    image_blur: boolean;
    wsl_powershell: boolean;
    bring_to_foreground: boolean;
    element_targeting: boolean;
    observe_with_diff: boolean;
    [name: string]: unknown;
  };
  config: {
    tree_max_depth: number;
    tree_default_depth: number;
    ascii_grid: {
      width: number;
      height: number;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  };
  tree_stats: { [name: string]: {
    captured_at: number;
    capture_ms: number;
    node_count: number;
    named_node_count: number;
    [name: string]: unknown;
  } };
  unavailable?: string | null;
  /** The OCR engine: the tesseract library or program, or the system's; absent if there is none. */
  ocr_engine?: string | null;
  /** What does not work on this desktop, always or at the moment, a sentence each. */
  limitations?: string[];
  config_error?: string | null;
  [name: string]: unknown;
}

/** Arguments of `get_cursor`: Where the pointer is, and the window and element under it. */
export type GetCursorArguments = { [name: string]: unknown };

export interface GetCursorReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  x: number;
  y: number;
  /** The index that get_monitors gives it; absent where no monitor is known. */
  monitor?: number | null;
  window?: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  } | null;
  element?: {
    ref: string;
    role: string;
    name: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  } | null;
  [name: string]: unknown;
}

/** Arguments of `get_full_screenshot`: Screenshot of the whole screen; with a window named, also its sketch. */
export interface GetFullScreenshotArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Columns; default 110. */
  grid_width?: number | null;
  /** Rows; default 38. */
  grid_height?: number | null;
  structured?: boolean | null;
  /** Overlay the text that OCR reads. */
  ocr?: boolean | null;
  /** Draw {rows,cols,labels}. */
  grid?: {
    rows?: number;
    cols?: number;
    labels?: boolean;
  } | null;
  /** Number what can be acted on. */
  marks?: boolean | null;
  format?: "png" | "jpeg" | "webp" | null;
  quality?: number | null;
  /** Only {x,y,width,height} of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface GetFullScreenshotReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  screenshot_scope: string;
  format: string;
  encoding: string;
  width: number;
  height: number;
  /** Where a region was taken; the whole screen needs no words. */
  source_bbox?: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  } | null;
  sketch: string | null;
  /** Pointer tools accept pixels of this screenshot if you give its id. */
  image_id: string;
  /** Pixels of the screenshot for one of the screen. */
  scale: number;
  grid?: {
    rows: number;
    cols: number;
    /** In pixels of the screen. */
    cell_width: number;
    cell_height: number;
    indexing: string;
    /** Where every cell has its label, both are 1; 0 without labels. */
    label_every_row: number;
    label_every_col: number;
    aim: string;
    [name: string]: unknown;
  } | null;
  /** Each number and its element. */
  marks?: {
    n: number;
    ref: string;
    role: string;
    name: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    center: {
      x: number;
      y: number;
      [name: string]: unknown;
    };
    disabled?: boolean;
    [name: string]: unknown;
  }[] | string | null;
  data: string;
  [name: string]: unknown;
}

/** Arguments of `get_monitors`: List monitors with bounds and scale. Empty without a display. */
export type GetMonitorsArguments = { [name: string]: unknown };

export interface GetMonitorsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  monitors: {
    index: number;
    primary: boolean;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    scale_factor: number;
    logical_bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    physical_bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `get_ocr`: Words that OCR reads in a window, with confidence and box. */
export interface GetOcrArguments {
  /** It or window_index is required. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Only this element, like e17. */
  ref?: string | null;
  /** Only this element. */
  element_id?: string | null;
  /** Only this box of the window. */
  bbox?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  /** Leave out words with less confidence; default `ocr.min_confidence` of the config. */
  min_confidence?: number | null;
  /** Read this PNG in base64 instead of a window. */
  image_b64?: string | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface GetOcrReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  window_uid?: string | null;
  words: {
    text: string;
    confidence: number;
    bbox: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `get_redaction_status`: Whether text is redacted, and how often that happened. */
export type GetRedactionStatusArguments = { [name: string]: unknown };

export interface GetRedactionStatusReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  enabled: boolean;
  active: boolean;
  patterns_count?: number | null;
  applied_count?: number | null;
  blur_screenshots?: boolean | null;
  [name: string]: unknown;
}

/** Arguments of `get_screen_description`: The window in words: one line per element with role, name, value, state and place. */
export interface GetScreenDescriptionArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Sources; default combined: all that this server has. */
  mode?: "accessibility" | "ocr" | "vlm" | "combined" | "auto" | null;
  /** Cut the text to this many tokens. */
  max_tokens?: number | null;
  /** Element id or ref: only its subtree. */
  focus_element?: string | null;
}

export interface GetScreenDescriptionReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  window_uid: string;
  effective_mode: string;
  description: string;
  truncated: boolean;
  /** The `[vlm]` part as data, when the model was asked in passes. */
  vlm_structured?: unknown;
  [name: string]: unknown;
}

/** Arguments of `get_screen_sketch`: The window's layout drawn in characters, with a legend. */
export interface GetScreenSketchArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Columns; default 110. */
  grid_width?: number | null;
  /** Rows; default 38. */
  grid_height?: number | null;
  structured?: boolean | null;
  /** Overlay the text that OCR reads. */
  ocr?: boolean | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface GetScreenSketchReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  grid_width: number;
  grid_height: number;
  ocr_overlay?: boolean | null;
  sketch: string;
  elements?: unknown[];
  legend?: unknown;
  [name: string]: unknown;
}

/** Arguments of `get_screenshot`: Screenshot of one window; without a window, of the whole screen. */
export interface GetScreenshotArguments {
  /** Default: the whole screen. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Draw {rows,cols,labels}. */
  grid?: {
    rows?: number;
    cols?: number;
    labels?: boolean;
  } | null;
  /** Number what can be acted on. */
  marks?: boolean | null;
  format?: "png" | "jpeg" | "webp" | null;
  quality?: number | null;
  /** Only {x,y,width,height} of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
}

export interface GetScreenshotReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  format: string;
  encoding: string;
  width: number;
  height: number;
  source_bbox: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** Pointer tools accept pixels of this screenshot if you give its id. */
  image_id: string;
  /** Pixels of the screenshot for one of the screen. */
  scale: number;
  grid?: {
    rows: number;
    cols: number;
    /** In pixels of the screen. */
    cell_width: number;
    cell_height: number;
    indexing: string;
    /** Where every cell has its label, both are 1; 0 without labels. */
    label_every_row: number;
    label_every_col: number;
    aim: string;
    [name: string]: unknown;
  } | null;
  /** Each number and its element. */
  marks?: {
    n: number;
    ref: string;
    role: string;
    name: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    center: {
      x: number;
      y: number;
      [name: string]: unknown;
    };
    disabled?: boolean;
    [name: string]: unknown;
  }[] | string | null;
  data: string;
  [name: string]: unknown;
}

/** Arguments of `get_screenshot_cropped`: Screenshot of one element or box of a window or the screen. */
export interface GetScreenshotCroppedArguments {
  /** Default: the whole screen. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Only this element, like e17. */
  ref?: string | null;
  /** Only this element. */
  element_id?: string | null;
  /** Only this box of the window. */
  bbox?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  /** Pixels around it. */
  padding_px?: number | null;
  /** Shrink to this width. */
  max_width?: number | null;
}

export interface GetScreenshotCroppedReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  format: string;
  encoding: string;
  width: number;
  height: number;
  /** The part, relative to the window. */
  source_bbox: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** The part, on the screen. */
  screen_bbox: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** Pointer tools accept pixels of this screenshot if you give its id. */
  image_id: string;
  /** Pixels of the screenshot for one of the screen. */
  scale: number;
  data: string;
  [name: string]: unknown;
}

/** Arguments of `get_visible_areas`: Parts of a window that no other window covers. Empty: fully covered or off screen. */
export interface GetVisibleAreasArguments {
  /** It or window_index is required. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
}

export interface GetVisibleAreasReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  window_uid: string;
  visible_regions: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `get_web_task`: How a web task goes: status, result, steps, timings, error. */
export interface GetWebTaskArguments {
  /** From run_web_task; `last` for the newest. */
  taskId: string;
  /** Wait so long for its end. */
  waitMs?: number | null;
}

export interface GetWebTaskReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  taskId: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `get_window_structure`: Accessibility tree of a window: ids, roles, names, values, bounds, states. */
export interface GetWindowStructureArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** outline: short text with refs. */
  format?: "json" | "outline" | null;
  /** Levels below the root; default 5, of an outline all. */
  depth?: number | null;
  /** Element id or ref: only its subtree. */
  scope?: string | null;
  /** Roles that match, e.g. ["Button"]. */
  roles?: string[] | null;
  /** Roles that do not match. */
  exclude_roles?: string[] | null;
  /** Regex searched in names. */
  name_regex?: string | null;
  /** Match only visible elements. */
  visible_only?: boolean | null;
  /** Cut names and values to this length. */
  max_text_len?: number | null;
  /** Drop what does not hold (else filters only mark pages). */
  prune_empty?: boolean | null;
  /** Page size: a flat list of nodes. */
  max_nodes?: number | null;
  /** next_cursor of the page before. */
  page_cursor?: string | null;
  /** What an outline should not leave out: groups, repeats, hidden, bars, bounds, texts, details. */
  keep?: ("groups" | "repeats" | "hidden" | "bars" | "bounds" | "texts" | "details" | "cells")[] | null;
  /** Where a window exposes no elements, use the lines that OCR reads. */
  ocr?: boolean | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export type GetWindowStructureReply = {
    ok: true;
    success: true;
    step_id: number;
    caused_by_step_id: number | null;
    untrusted?: boolean;
    suspicious?: true;
    suspicious_places?: unknown[];
    warning?: string;
    window: string;
    window_uid: string;
    element_count: number;
    node_count: number;
    tree: unknown;
    tree_hash: string;
    tree_token: string | null;
    truncated: boolean;
    next_cursor: string | null;
    depth_used: number;
    depth_truncated: boolean;
    /** What reading the window cost. */
    perf: {
      capture_ms: number;
      node_count: number;
      cache: string;
      depth_used: number;
      [name: string]: unknown;
    };
    /** Present and false when the application could not be read to the end. */
    complete?: boolean | null;
    scope?: string | null;
    /** Too few named elements to work with: other eyes may see more. */
    degraded?: {
      reason: string;
      named_node_count: number;
      threshold: number;
      suggested_fallbacks: string[];
      /** Why, where the platform knows. */
      detail?: string | null;
      [name: string]: unknown;
    } | null;
    [name: string]: unknown;
  } | {
    ok: true;
    success: true;
    step_id: number;
    caused_by_step_id: number | null;
    untrusted?: boolean;
    suspicious?: true;
    suspicious_places?: unknown[];
    warning?: string;
    window: string;
    window_uid: string;
    format: string;
    node_count: number;
    /** Lines. */
    shown: number;
    /** Elements that the rules left out. */
    dropped: {
      hidden?: number;
      groups?: number;
      repeats?: number;
      bars?: number;
      /** Empty cells of tables. */
      cells?: number;
      /** Below the depth that was asked for. */
      deeper?: number;
      /** By the caller's own filters. */
      filtered?: number;
      /** Into a line that says how many. */
      folded?: number;
      [name: string]: unknown;
    };
    tree_token: string | null;
    truncated: boolean;
    next_cursor?: string | null;
    complete?: boolean | null;
    /** Too few named elements to work with: other eyes may see more. */
    degraded?: {
      reason: string;
      named_node_count: number;
      threshold: number;
      suggested_fallbacks: string[];
      /** Why, where the platform knows. */
      detail?: string | null;
      [name: string]: unknown;
    } | null;
    [name: string]: unknown;
  };

/** Arguments of `hover_at`: Move the pointer to screen coordinates and keep it there. */
export interface HoverAtArguments {
  /** Screen pixel. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** How long to stay; default 250. */
  hover_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface HoverAtReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  x: number;
  y: number;
  hover_ms: number;
  [name: string]: unknown;
}

/** Arguments of `hover_element`: Move the pointer over an element and keep it there, for tooltips and menus. */
export interface HoverElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** How long to stay; default 250. */
  hover_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface HoverElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `invoke_element`: Trigger an element's own action, without the pointer where possible. */
export interface InvokeElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface InvokeElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `job_control`: Pause, resume or cancel a job. A cancelled job sends nothing more. */
export interface JobControlArguments {
  /** From run_job; `last` for the newest. */
  job_id: string;
  /** What is wanted of it. */
  action: "pause" | "resume" | "cancel";
}

export interface JobControlReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  job_id: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `job_status`: How a job goes: status, result, steps, usage and cost, open approvals. */
export interface JobStatusArguments {
  /** From run_job; `last` for the newest. */
  job_id: string;
  /** Wait so long for its end. */
  wait_ms?: number | null;
}

export interface JobStatusReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  job_id: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `keep_download`: Keep a complete download by its name. */
export interface KeepDownloadArguments {
  /** As downloads tells it. */
  id: string;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface KeepDownloadReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  id: string;
  name: string;
  url: string;
  /** running, complete, cancelled or kept. */
  state: string;
  received_bytes: number;
  total_bytes?: number | null;
  /** Where the file is, once it is kept. */
  path?: string | null;
  note?: string | null;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `key_into_element`: Focus an element and press a key or combination there. */
export interface KeyIntoElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Key or combination: enter, ctrl+a. */
  keys: string;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface KeyIntoElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `launch_app`: Start a program and return its window. */
export interface LaunchAppArguments {
  /** App id or program. */
  program: string;
  /** As they are; no shell. */
  args?: string[] | null;
  cwd?: string | null;
  /** Default true. */
  wait_for_window?: boolean | null;
  /** Which window. */
  match?: {
    /** Or one of: */
    window_uid?: string;
    /** Part of it. */
    title?: string;
    title_regex?: string;
    /** Its name. */
    process?: string;
  } | null;
  timeout_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface LaunchAppReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  executed: boolean;
  argv: string[];
  cwd?: string | null;
  pid?: number | null;
  running?: boolean | null;
  window_found?: boolean | null;
  window?: {
    window_uid: string;
    title: string;
    process: string;
    pid: number;
    /** Whether keys go to it. */
    focused: boolean;
    [name: string]: unknown;
  } | null;
  /** The window still changes, or only a splash screen shows. */
  loading?: boolean;
  /** The window was open before: a program that was running took the work over. */
  reused?: boolean;
  note?: string | null;
  /** Where its files go, on a private desktop. */
  where_files_go?: string | null;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `list_apps`: Programs with windows, and installed ones by the id that launch_app takes. */
export interface ListAppsArguments {
  /** Part of a name or id. */
  filter?: string | null;
  limit?: number | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface ListAppsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  running: {
    name: string;
    pid: number;
    windows: {
      window_uid: string;
      title: string;
      [name: string]: unknown;
    }[];
    [name: string]: unknown;
  }[];
  installed: {
    id: string;
    name: string;
    program: string;
    [name: string]: unknown;
  }[];
  /** How many more are installed that fit. */
  not_listed: number;
  [name: string]: unknown;
}

/** Arguments of `list_jobs`: All jobs of the store, the newest first. */
export interface ListJobsArguments {
  /** Only jobs with this status. */
  status?: string | null;
  /** At most so many, 20 unless told. */
  limit?: number | null;
}

export interface ListJobsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  jobs: {
    job_id: string;
    status: string;
    [name: string]: unknown;
  }[];
  count: number;
  [name: string]: unknown;
}

/** Arguments of `list_recipes`: What is known of sites: recipes, and which of them run without a model. */
export type ListRecipesArguments = { [name: string]: unknown };

export interface ListRecipesReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  recipes: { [name: string]: unknown }[];
  count: number;
  /** Files that cannot be used, each with the reason. */
  problems?: string[];
  [name: string]: unknown;
}

/** Arguments of `list_windows`: List open windows: title, process, bounds, focus, uid. Start here. */
export interface ListWindowsArguments {
  /** At most so many. */
  max_tokens?: number | null;
}

export interface ListWindowsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  is_mock: boolean;
  count: number;
  windows: {
    index: number;
    handle: string;
    title: string;
    process: string;
    pid: number;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    focused: boolean;
    window_uid: string;
    /** The address of the page that a tab of a browser shows. */
    url?: string | null;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `load_scenario`: Mock only: replace the mock desktop by a scenario file, from its initial state. */
export interface LoadScenarioArguments {
  /** YAML file below the server's scenario folders. */
  path: string;
}

export interface LoadScenarioReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  scenario: string;
  state: string;
  states: string[];
  [name: string]: unknown;
}

/** Arguments of `look`: See the windows, the elements of one as lines with refs, and what changed since your last look. */
export interface LookArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Only what is in this element. */
  ref?: string | null;
  /** Only what changed since your last look. */
  changes?: boolean | null;
  /** Add a screenshot: plain, with numbered elements, or with rows and columns. */
  picture?: "plain" | "marks" | "grid" | null;
  grid?: {
    rows?: number;
    cols?: number;
    labels?: boolean;
  } | null;
  marks?: boolean | null;
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  format?: "png" | "jpeg" | "webp" | null;
  quality?: number | null;
  /** next of the last reply. */
  after?: string | null;
  /** groups, repeats, hidden, bars, bounds, texts, cells, details: what an outline normally leaves out. */
  keep?: ("groups" | "repeats" | "hidden" | "bars" | "bounds" | "texts" | "details" | "cells")[] | null;
  /** Whether a window without elements is read by OCR; default true. */
  ocr?: boolean | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface LookReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  /** Absent when there are no windows. */
  window_uid?: string | null;
  window?: string | null;
  elements: number;
  shown: number;
  /** "ocr": the lines were read in the pixels. */
  source?: string | null;
  /** Why there are no elements, or not all of them, where the platform knows. */
  degraded?: string | null;
  /** How many elements each rule left out. */
  dropped: {
    hidden?: number;
    groups?: number;
    repeats?: number;
    bars?: number;
    /** Empty cells of tables. */
    cells?: number;
    /** Below the depth that was asked for. */
    deeper?: number;
    /** By the caller's own filters. */
    filtered?: number;
    /** Into a line that says how many. */
    folded?: number;
    [name: string]: unknown;
  };
  /** Absent when this is the first look at the window. */
  since_last_look?: {
    added: number;
    removed: number;
    changed: number;
    /** Lines of these that were left out for lack of room. */
    left_out?: number;
    [name: string]: unknown;
  } | null;
  truncated?: boolean;
  /** The value of `after` that goes on. */
  next?: string | null;
  windows_left_out?: number;
  /** Present and false when the application could not be read to the end. */
  complete?: boolean | null;
  width?: number;
  height?: number;
  source_bbox?: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** Pointer tools accept pixels of this screenshot if you give its id. */
  image_id?: string;
  /** Pixels of the screenshot for one of the screen. */
  scale?: number;
  grid?: {
    rows: number;
    cols: number;
    /** In pixels of the screen. */
    cell_width: number;
    cell_height: number;
    indexing: string;
    /** Where every cell has its label, both are 1; 0 without labels. */
    label_every_row: number;
    label_every_col: number;
    aim: string;
    [name: string]: unknown;
  } | null;
  [name: string]: unknown;
}

/** Arguments of `observe_window`: Tree of a window, or only what changed since a tree_token or the last look. */
export interface ObserveWindowArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** tree_token: only what changed since. */
  since?: string | null;
  /** Of changes; default custom. outline: of everything. */
  format?: "custom" | "json-patch" | "outline" | null;
  /** Levels of the full tree; default 5. */
  depth?: number | null;
  /** Only what changed since the last look. */
  changed_only?: boolean | null;
  /** What an outline should not leave out, as in get_window_structure. */
  keep?: ("groups" | "repeats" | "hidden" | "bars" | "bounds" | "texts" | "details" | "cells")[] | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface ObserveWindowReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  [name: string]: unknown;
}

/** Arguments of `ocr_find`: Find text on the screen by OCR; returns where it is. */
export interface OcrFindArguments {
  /** Default: all that can be read. */
  text?: string | null;
  /** Default contains. */
  match?: "contains" | "exact" | "regex" | null;
  /** Only this part of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  case_sensitive?: boolean | null;
  /** Leave out words with less confidence; default `ocr.min_confidence` of the config. */
  min_confidence?: number | null;
  /** False: every word by itself instead of words in lines. */
  group_lines?: boolean | null;
  /** Tesseract's page segmentation mode; default `ocr.psm_window` of the config. */
  psm?: number | null;
  /** Default 50. */
  max_results?: number | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface OcrFindReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  /** The part of the screen that was read. */
  area: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  count: number;
  /** How many more there are. */
  not_listed: number;
  matches: {
    text: string;
    /** The whole line, where there is more of it. */
    line?: string | null;
    confidence: number;
    /** On the screen. */
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    x: number;
    y: number;
    [name: string]: unknown;
  }[];
  /** The most similar texts, when nothing was found. */
  nearest?: {
    text: string;
    /** The whole line, where there is more of it. */
    line?: string | null;
    confidence: number;
    /** On the screen. */
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    x: number;
    y: number;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `open_url`: Open an address in a tab and wait until it is loaded. */
export interface OpenUrlArguments {
  /** http://… or https://… */
  url: string;
  /** Default false. */
  new_tab?: boolean | null;
  /** Default: tab in front. */
  window_uid?: string | null;
  /** Default load. */
  wait?: "load" | "none" | null;
  timeout_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface OpenUrlReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window_uid: string;
  title: string;
  url: string;
  /** What the server answered, as 200 or 404. */
  status?: number | null;
  /** It has not arrived as a whole. */
  loading?: boolean;
  note?: string | null;
  dry_run?: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  [name: string]: unknown;
}

/** Arguments of `page_history`: Go back or forward in a tab, load its page again, or stop loading. */
export interface PageHistoryArguments {
  /** Which way. */
  go: "back" | "forward" | "reload" | "stop";
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  timeout_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface PageHistoryReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window_uid: string;
  title: string;
  url: string;
  /** What the server answered, as 200 or 404. */
  status?: number | null;
  /** It has not arrived as a whole. */
  loading?: boolean;
  note?: string | null;
  dry_run?: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  [name: string]: unknown;
}

/** Arguments of `page_log`: Console lines, script errors and failed requests. */
export interface PageLogArguments {
  /** Only lines after this number. */
  after?: number | null;
  /** Default: all kinds. */
  kinds?: ("console" | "error" | "network" | "browser")[] | null;
  /** Default: all tabs. */
  window_uid?: string | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface PageLogReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  lines: {
    number: number;
    kind: string;
    level: string;
    text: string;
    url?: string;
    window_uid?: string | null;
    [name: string]: unknown;
  }[];
  /** How many older lines are no longer there. */
  dropped?: number;
  [name: string]: unknown;
}

/** Arguments of `press_key`: Press a key or a combination. */
export interface PressKeyArguments {
  /** Like enter, ctrl+s, alt+f4. */
  keys: string;
  /** Raised first; default: focused window. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** background: refused unless it is in front. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface PressKeyReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `press_key_and_observe`: Press a key and see the result, in one call. */
export interface PressKeyAndObserveArguments {
  /** Like enter, ctrl+s, alt+f4. */
  keys: string;
  /** Raised first; default: focused window. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** background: refused unless it is in front. */
  delivery?: "background" | "foreground" | null;
  /** Pause before looking; default 200. */
  wait_after_ms?: number | null;
  /** Tree token: only the changes since. */
  since?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface PressKeyAndObserveReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  observation?: unknown;
  [name: string]: unknown;
}

/** Arguments of `propose_action`: Get a confirm_token for one call; shows its target and does nothing. It is valid once. */
export interface ProposeActionArguments {
  /** Tool to be confirmed. */
  action: string;
  /** Its arguments, exactly as they will be sent. */
  args?: { [name: string]: unknown } | null;
}

export interface ProposeActionReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  confirm_token: string;
  expires_at: number;
  would_target: {
    window_uid: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

/** Arguments of `read_page`: Read a page as text: headings, paragraphs, lists, tables, links. */
export interface ReadPageArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Default markdown. */
  format?: "text" | "markdown" | null;
  /** Default main: without menus and bars. */
  part?: "main" | "whole" | null;
  /** What is told of links; default urls. */
  links?: "urls" | "refs" | "none" | null;
  /** next of the last reply. */
  after?: string | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface ReadPageReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window_uid: string;
  title: string;
  url: string;
  part: "main" | "whole";
  /** Of the whole text, in bytes. */
  length: number;
  /** The value of `after` that goes on. */
  next?: string | null;
  /** Present and false when the page could not be read to the end. */
  complete?: boolean | null;
  [name: string]: unknown;
}

/** Arguments of `replay_start`: Open a trace to replay its calls, one per replay_step. */
export interface ReplayStartArguments {
  /** Trace file or folder below the server's trace folder, or `latest`. */
  path: string;
  /** Default execute; verify also compares with what was recorded. */
  mode?: "execute" | "verify" | null;
  /** After a difference; default warn: continue. */
  on_divergence?: "stop" | "warn" | "resume" | null;
}

export interface ReplayStartReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  replay_id: string;
  total: number;
  mode: "execute" | "verify";
  label: unknown;
  torn?: boolean;
  [name: string]: unknown;
}

/** Arguments of `replay_status`: Progress of a replay, and every difference so far. */
export interface ReplayStatusArguments {
  /** From replay_start. */
  replay_id: string;
}

export interface ReplayStatusReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  replay_id: string;
  position: number;
  total: number;
  finished: boolean;
  divergences: {
    step_id: number;
    trace_seq: number;
    tool: string;
    differences: {
      path: string;
      want: unknown;
      got: unknown;
      [name: string]: unknown;
    }[];
    [name: string]: unknown;
  }[];
  mode: "execute" | "verify";
  [name: string]: unknown;
}

/** Arguments of `replay_step`: Make the next recorded call; it really acts, and passes every check again. */
export interface ReplayStepArguments {
  /** From replay_start. */
  replay_id: string;
  /** Arguments that the trace left out as secret. */
  supply?: { [name: string]: unknown } | null;
}

export interface ReplayStepReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  finished: boolean;
  position: number;
  total: number;
  tool?: string;
  divergence?: unknown;
  actual_summary?: unknown;
  replay_id: string;
  [name: string]: unknown;
}

/** Arguments of `replay_stop`: End a replay, finished or not. */
export interface ReplayStopArguments {
  /** From replay_start. */
  replay_id: string;
}

export interface ReplayStopReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  stopped: boolean;
  [name: string]: unknown;
}

/** Arguments of `right_click_at`: Right-click at screen coordinates. */
export interface RightClickAtArguments {
  /** Screen pixel. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface RightClickAtReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  /** A window that was behind others or without the focus came to the front. */
  raised?: boolean;
  duration_ms: number;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  [name: string]: unknown;
}

/** Arguments of `right_click_element`: Right-click an element, for its context menu. */
export interface RightClickElementArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface RightClickElementReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `run_job`: Queue a job: a planner works toward a goal on a desk of its own, within limits. */
export interface RunJobArguments {
  /** What is to be done, in words. */
  job: string;
  /** chat, scripted:FILE, or host: you plan it yourself. */
  planner?: string | null;
  /** Instead of planner.model. */
  model?: string | null;
  /** Tools and groups that it may not use. */
  disabled_tools?: string[] | null;
  /** max_steps, timeout_ms, max_calls, max_actions, max_screenshots, max_tokens, max_usd, max_failures, on_budget (stop or pause). */
  limits?: { [name: string]: unknown } | null;
  /** JSON Schema of the result. */
  output_schema?: { [name: string]: unknown } | null;
  /** A second job with the same key is the first one. */
  idempotency_key?: string | null;
  /** Higher runs first. */
  priority?: number | null;
  /** Keep a trace of it. */
  record?: boolean | null;
  /** A desk of its own, where jobs.desks allows that. */
  desk?: "mock" | "sandbox" | "desktop" | "browser" | null;
  /** For the desk mock. */
  scenario?: string | null;
  /** For the desk sandbox. */
  program?: string | null;
  /** For the desk browser. */
  start_url?: string | null;
  /** Wait so long for its end. */
  wait_ms?: number | null;
}

export interface RunJobReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  job_id: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `run_web_task`: Run a web task: a start page and a goal in, JSON that fits a schema out. */
export interface RunWebTaskArguments {
  /** What is to be done, in words. */
  goal: string;
  /** The page to begin with; default: that of the session. */
  startUrl?: string | null;
  /** From save_session. */
  sessionId?: string | null;
  /** Browser profile with logins, where jobs.profiles allows it. */
  profile?: string | null;
  /** read: nothing is pressed or typed. Default act. */
  mode?: "act" | "read" | null;
  /** What the goal is about, by name. */
  input?: { [name: string]: unknown } | null;
  /** JSON Schema of the result. */
  outputSchema?: { [name: string]: unknown } | null;
  /** Who plans; default auto. */
  agent?: {
    /** auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE. */
    kind?: string;
    /** Instead of planner.model. */
    model?: string;
  } | null;
  /** maxSteps, timeoutMs, headless. */
  limits?: {
    /** Turns of the planner; default 40. */
    maxSteps?: number;
    /** Milliseconds of work; default 120000. */
    timeoutMs?: number;
    /** False: a browser with a window. Default true. */
    headless?: boolean;
  } | null;
  /** Address that is told the end, where jobs.webhook_hosts allows it. */
  webhook?: string | null;
  /** A recipe by its id; default: the one for the page. */
  recipe?: string | null;
  /** A second task with the same key is the first one. */
  idempotencyKey?: string | null;
  /** Answer at once; get_web_task tells how it goes. */
  async?: boolean | null;
  /** Wait at most so long for its end. */
  waitMs?: number | null;
}

export interface RunWebTaskReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  taskId: string;
  status: string;
  [name: string]: unknown;
}

/** Arguments of `save_session`: Make a session for web tasks, or change one. */
export interface SaveSessionArguments {
  /** The session to change; without it a new one is made. */
  sessionId?: string | null;
  /** For people. */
  name?: string | null;
  /** guest: nothing stays. */
  mode?: "guest" | "profile" | null;
  /** Browser profile, where jobs.profiles allows it. */
  profile?: string | null;
  /** Default of its tasks. */
  startUrl?: string | null;
  /** Default of its tasks. */
  agent?: {
    /** auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE. */
    kind?: string;
    /** Instead of planner.model. */
    model?: string;
  } | null;
  /** Told to the planner of each task, as data. */
  notes?: string | null;
  /** A person has logged in with its profile. */
  warmed?: boolean | null;
  /** What is taken away. */
  clear?: ("name" | "profile" | "startUrl" | "agent" | "notes")[] | null;
}

export interface SaveSessionReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  [name: string]: unknown;
}

/** Arguments of `scroll`: Turn the mouse wheel, at a point if given. */
export interface ScrollArguments {
  /** Wheel clicks, positive up; default 3. */
  clicks?: number | null;
  /** Screen pixel; default: pointer position. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface ScrollReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  [name: string]: unknown;
}

/** Arguments of `select_option`: Choose an option of a list, combo box or group, by name or index. */
export interface SelectOptionArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  /** Name of the option. */
  option_name?: string | null;
  /** Or its place from 0. */
  option_index?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface SelectOptionReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `sessions`: The sessions of web tasks, or one of them: its defaults, notes and latest tasks. */
export interface SessionsArguments {
  /** Only this one. */
  sessionId?: string | null;
}

export interface SessionsReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  [name: string]: unknown;
}

/** Arguments of `set_value`: Set the value of a field or slider directly; replaces the old value. */
export interface SetValueArguments {
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** foreground: raise the window. */
  delivery?: "background" | "foreground" | null;
  value: string | {
    secret: string;
  };
  /** False: append instead; default true. */
  clear_first?: boolean | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface SetValueReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  dry_run: boolean;
  target: {
    window_uid: string;
    element_id: string;
    selector: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    ref: string;
    /** Present when the element was not found by its own object. */
    identity?: {
      confidence: number;
      reason: string;
      [name: string]: unknown;
    } | null;
    /** What it is called after the action, when that is not what it was called before. */
    renamed?: string | null;
    [name: string]: unknown;
  };
  before: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  after: {
    tree_hash: string;
    focused_selector: string;
    [name: string]: unknown;
  };
  changed: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  /** How the input was delivered; absent when nothing was. */
  route?: "accessibility" | "pointer" | "keyboard" | null;
  /** The window was and stayed behind others, without the focus. */
  in_background?: boolean;
  /** The window was behind others or without the focus, and came to the front. */
  raised?: boolean;
  /** What was asked for was read back. */
  verified?: boolean;
  note?: string | null;
  scenario_reaction?: boolean;
  [name: string]: unknown;
}

/** Arguments of `snapshot`: Remember every window and its tree for 300 s, to compare with later. */
export type SnapshotArguments = { [name: string]: unknown };

export interface SnapshotReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  snapshot_id: string;
  ts: number;
  summary: {
    windows: number;
    trees: number;
    /** Windows whose tree could not be read. */
    unreadable: number;
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

/** Arguments of `snapshot_diff`: What changed between two snapshots: windows opened and closed, changes in the others. */
export interface SnapshotDiffArguments {
  /** Earlier snapshot_id. */
  a: string;
  /** Later snapshot_id, or "now". */
  b: string;
  /** Of changes; default custom. */
  format?: "custom" | "json-patch" | null;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface SnapshotDiffReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  windows_added: {
    handle: string;
    title: string;
    process: string;
    pid: number;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    focused: boolean;
    window_uid: string;
    [name: string]: unknown;
  }[];
  windows_removed: {
    handle: string;
    title: string;
    process: string;
    pid: number;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    focused: boolean;
    window_uid: string;
    [name: string]: unknown;
  }[];
  per_window_changes: { [name: string]: {
    format: "custom" | "json-patch";
    changes: unknown;
    [name: string]: unknown;
  } };
  /** Windows that could not be compared, because one of their trees could not be read. */
  unreadable?: string[];
  [name: string]: unknown;
}

/** Arguments of `snapshot_drop`: Forget a snapshot. */
export interface SnapshotDropArguments {
  /** From snapshot. */
  snapshot_id: string;
}

export interface SnapshotDropReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  dropped: boolean;
  [name: string]: unknown;
}

/** Arguments of `snapshot_get`: All windows and full trees of a snapshot. Long; snapshot_diff is shorter. */
export interface SnapshotGetArguments {
  /** From snapshot, or "now". */
  snapshot_id: string;
  /** At most so many. */
  max_tokens?: number | null;
}

export interface SnapshotGetReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  snapshot_id: string;
  ts: number;
  windows: {
    handle: string;
    title: string;
    process: string;
    pid: number;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    focused: boolean;
    window_uid: string;
    [name: string]: unknown;
  }[];
  trees: unknown;
  tree_hashes: { [name: string]: string };
  /** Why windows have no tree. */
  unreadable?: { [name: string]: string };
  [name: string]: unknown;
}

/** Arguments of `trace_start`: Start recording calls, with screenshots and trees, into a folder. */
export interface TraceStartArguments {
  /** Stored in the header; truncated to 200 characters. */
  label?: string | null;
}

export interface TraceStartReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  trace_id: string;
  started_at: number;
  dir: string;
  [name: string]: unknown;
}

/** Arguments of `trace_status`: Whether a trace is running, and how many calls it holds. */
export type TraceStatusArguments = { [name: string]: unknown };

export interface TraceStatusReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  active_trace_id: unknown;
  step_count: number;
  dir: unknown;
  trace_error?: string | null;
  [name: string]: unknown;
}

/** Arguments of `trace_stop`: End the trace; `path` is its file. */
export type TraceStopArguments = { [name: string]: unknown };

export interface TraceStopReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  trace_id: string;
  path: string;
  step_count: number;
  duration_ms: number;
  trace_error?: string | null;
  [name: string]: unknown;
}

/** Arguments of `type_and_observe`: Type text and see the result, in one call. */
export interface TypeAndObserveArguments {
  text: string | {
    secret: string;
  };
  /** Raised first; default: focused window. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** background: refused unless it is in front. */
  delivery?: "background" | "foreground" | null;
  /** Pause before looking; default 200. */
  wait_after_ms?: number | null;
  /** Tree token: only the changes since. */
  since?: string | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface TypeAndObserveReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  /** The element that got the text: that had the focus when it began, or the field that it opened. */
  into?: {
    window_uid: string;
    ref: string;
    role: string;
    name: string;
    /** What it holds now; absent for what is private or does not tell. */
    value?: string | null;
    /** It holds something else than before, or more of it; absent where that is not known. */
    changed?: boolean | null;
    [name: string]: unknown;
  } | null;
  /** The text was read back there. */
  verified?: boolean | null;
  observation?: unknown;
  [name: string]: unknown;
}

/** Arguments of `type_text`: Type text into the focused element. The receipt says which, and its value now. */
export interface TypeTextArguments {
  text: string | {
    secret: string;
  };
  /** Raised first; default: focused window. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** background: refused unless it is in front. */
  delivery?: "background" | "foreground" | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface TypeTextReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: string;
  note?: string | null;
  scenario_reaction?: boolean;
  dry_run?: boolean;
  /** The element that got the text: that had the focus when it began, or the field that it opened. */
  into?: {
    window_uid: string;
    ref: string;
    role: string;
    name: string;
    /** What it holds now; absent for what is private or does not tell. */
    value?: string | null;
    /** It holds something else than before, or more of it; absent where that is not known. */
    changed?: boolean | null;
    [name: string]: unknown;
  } | null;
  /** The text was read back there. */
  verified?: boolean | null;
  [name: string]: unknown;
}

/** Arguments of `vision_diff`: Compare pixels of a window or region with earlier ones: share and boxes of what changed. */
export interface VisionDiffArguments {
  /** Default: the screen. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** Only {x,y,width,height} of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  threshold?: number | null;
  tolerance?: number | null;
  /** frame_id of an earlier call. */
  since?: string | null;
  /** Or wait between two captures. */
  wait_ms?: number | null;
  /** Two PNGs in base64 to compare instead of the screen. */
  before_b64?: string | null;
  after_b64?: string | null;
}

export interface VisionDiffReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  /** What was compared: nothing yet, an earlier frame, two captures, or two images of the caller. */
  mode: string;
  changed: boolean;
  diff_ratio: number;
  changed_pixels: number;
  /** What changed, on the screen, the largest change first. */
  boxes: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  }[];
  boxes_left_out?: number;
  size_changed?: boolean;
  source_bbox: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** The current frame, to compare with later. */
  frame_id?: string | null;
  [name: string]: unknown;
}

/** Arguments of `vision_stability`: Watch a window or region for a while: whether it is stable, and where not. */
export interface VisionStabilityArguments {
  /** Default: the screen. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** Only {x,y,width,height} of the screen. */
  region?: {
    x: number;
    y: number;
    width: number;
    height: number;
  } | null;
  threshold?: number | null;
  tolerance?: number | null;
  /** Default 1000. */
  duration_ms?: number | null;
  interval_ms?: number | null;
}

export interface VisionStabilityReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  stable: boolean;
  sample_count: number;
  max_ratio: number;
  avg_ratio: number;
  /** Where it changed. */
  boxes: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  }[];
  boxes_left_out?: number;
  [name: string]: unknown;
}

/** Arguments of `wait_for`: Wait until a condition is met; a timeout tells what was last seen. */
export interface WaitForArguments {
  /** {type,…}: element_appears{selector}, element_disappears{ref|selector|element_id}, text_visible{regex}, window_appears{title_regex}, window_disappears{window_uid|title_regex}, tree_changes{since?}, focused_changes, visual_change, visual_stable{region?,quiet_ms?}; or an assert_state predicate {kind,…}. */
  any_of: { [name: string]: unknown }[];
  /** Default: focused window. */
  window_uid?: string | null;
  window_index?: number | null;
  window_title?: string | null;
  /** Default 5000. */
  timeout_ms?: number | null;
  /** How often to look where changes are not told. */
  poll_ms?: number | null;
}

export interface WaitForReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  matched_index: number;
  matched_detail: { [name: string]: unknown };
  elapsed_ms: number;
  polls: number;
  [name: string]: unknown;
}

/** Arguments of `wait_idle`: Wait until a window has not changed for quiet_ms. */
export interface WaitIdleArguments {
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Default 750. */
  quiet_ms?: number | null;
  /** Default 5000. */
  timeout_ms?: number | null;
  /** How often to look where changes are not told. */
  poll_ms?: number | null;
}

export interface WaitIdleReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  elapsed_ms: number;
  tree_hash: string;
  [name: string]: unknown;
}

/** Arguments of `window_action`: Change the one window that matches. Check `reached`. */
export interface WindowActionArguments {
  /** What to do. */
  action: "focus" | "restore" | "minimize" | "maximize" | "close" | "move" | "resize";
  /** Or one of: */
  window_uid?: string | null;
  /** Part of it. */
  title?: string | null;
  title_regex?: string | null;
  /** Its name. */
  process?: string | null;
  /** To move. */
  x?: number | null;
  /** To move. */
  y?: number | null;
  /** To resize. */
  width?: number | null;
  /** To resize. */
  height?: number | null;
  timeout_ms?: number | null;
  /** Check only, do nothing. */
  dry_run?: boolean | null;
  confirm_token?: string | null;
}

export interface WindowActionReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  action: "focus" | "restore" | "minimize" | "maximize" | "close" | "move" | "resize";
  /** Whether the window has the requested state. */
  reached: boolean;
  window_uid: string;
  window: string;
  closed?: boolean;
  /** Its state now; absent when it is gone. */
  final?: {
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    focused: boolean;
    minimized: boolean;
    maximized: boolean;
    [name: string]: unknown;
  } | null;
  note?: string | null;
  dry_run?: boolean;
  new_dialogs: {
    window_uid: string;
    title: string;
    [name: string]: unknown;
  }[];
  duration_ms: number;
  [name: string]: unknown;
}

/** Arguments of `zoom`: Magnified screenshot around a point, {image,row,col} or ref, with a fine grid. */
export interface ZoomArguments {
  /** Screen pixel. */
  x?: number | null;
  /** Screen pixel. */
  y?: number | null;
  coordinate_space?: "screen" | "image" | "logical" | null;
  image?: string | null;
  /** The older spelling. */
  image_id?: string | null;
  row?: number | null;
  col?: number | null;
  dx?: number | null;
  dy?: number | null;
  /** Like e17; knows its window. */
  ref?: string | null;
  /** Or e.g. Window/Button[name="OK"]. */
  selector?: string | null;
  /** Or id in the tree. */
  element_id?: string | null;
  /** Default: focused window. */
  window_uid?: string | null;
  /** The uid wins. */
  window_index?: number | null;
  window_title?: string | null;
  /** Screen pixels shown; default 500. */
  width?: number | null;
  height?: number | null;
  /** Draw {rows,cols,labels}. */
  grid?: {
    rows?: number;
    cols?: number;
    labels?: boolean;
  } | null;
  /** Number what can be acted on. */
  marks?: boolean | null;
  format?: "png" | "jpeg" | "webp" | null;
  quality?: number | null;
}

export interface ZoomReply {
  ok: true;
  success: true;
  step_id: number;
  caused_by_step_id: number | null;
  untrusted?: boolean;
  suspicious?: true;
  suspicious_places?: unknown[];
  warning?: string;
  window: string;
  format: string;
  encoding: string;
  width: number;
  height: number;
  source_bbox: {
    x: number;
    y: number;
    width: number;
    height: number;
    [name: string]: unknown;
  };
  /** Pointer tools accept pixels of this screenshot if you give its id. */
  image_id: string;
  /** Pixels of the screenshot for one of the screen. */
  scale: number;
  grid?: {
    rows: number;
    cols: number;
    /** In pixels of the screen. */
    cell_width: number;
    cell_height: number;
    indexing: string;
    /** Where every cell has its label, both are 1; 0 without labels. */
    label_every_row: number;
    label_every_col: number;
    aim: string;
    [name: string]: unknown;
  } | null;
  /** Each number and its element. */
  marks?: {
    n: number;
    ref: string;
    role: string;
    name: string;
    bounds: {
      x: number;
      y: number;
      width: number;
      height: number;
      [name: string]: unknown;
    };
    center: {
      x: number;
      y: number;
      [name: string]: unknown;
    };
    disabled?: boolean;
    [name: string]: unknown;
  }[] | string | null;
  data: string;
  [name: string]: unknown;
}

/** What each tool takes and answers. */
export interface Tools {
  act: { arguments: ActArguments; reply: ActReply };
  assert_state: { arguments: AssertStateArguments; reply: AssertStateReply };
  bring_to_foreground: { arguments: BringToForegroundArguments; reply: BringToForegroundReply };
  browser_state: { arguments: BrowserStateArguments; reply: BrowserStateReply };
  choose_files: { arguments: ChooseFilesArguments; reply: ChooseFilesReply };
  clear_site_data: { arguments: ClearSiteDataArguments; reply: ClearSiteDataReply };
  clear_text: { arguments: ClearTextArguments; reply: ClearTextReply };
  click_at: { arguments: ClickAtArguments; reply: ClickAtReply };
  click_element: { arguments: ClickElementArguments; reply: ClickElementReply };
  click_element_and_observe: { arguments: ClickElementAndObserveArguments; reply: ClickElementAndObserveReply };
  click_text: { arguments: ClickTextArguments; reply: ClickTextReply };
  clipboard_get: { arguments: ClipboardGetArguments; reply: ClipboardGetReply };
  clipboard_set: { arguments: ClipboardSetArguments; reply: ClipboardSetReply };
  double_click_at: { arguments: DoubleClickAtArguments; reply: DoubleClickAtReply };
  double_click_element: { arguments: DoubleClickElementArguments; reply: DoubleClickElementReply };
  downloads: { arguments: DownloadsArguments; reply: DownloadsReply };
  drag: { arguments: DragArguments; reply: DragReply };
  exec_command: { arguments: ExecCommandArguments; reply: ExecCommandReply };
  find: { arguments: FindArguments; reply: FindReply };
  find_element: { arguments: FindElementArguments; reply: FindElementReply };
  finish_job: { arguments: FinishJobArguments; reply: FinishJobReply };
  focus_element: { arguments: FocusElementArguments; reply: FocusElementReply };
  get_budget_status: { arguments: GetBudgetStatusArguments; reply: GetBudgetStatusReply };
  get_capabilities: { arguments: GetCapabilitiesArguments; reply: GetCapabilitiesReply };
  get_cursor: { arguments: GetCursorArguments; reply: GetCursorReply };
  get_full_screenshot: { arguments: GetFullScreenshotArguments; reply: GetFullScreenshotReply };
  get_monitors: { arguments: GetMonitorsArguments; reply: GetMonitorsReply };
  get_ocr: { arguments: GetOcrArguments; reply: GetOcrReply };
  get_redaction_status: { arguments: GetRedactionStatusArguments; reply: GetRedactionStatusReply };
  get_screen_description: { arguments: GetScreenDescriptionArguments; reply: GetScreenDescriptionReply };
  get_screen_sketch: { arguments: GetScreenSketchArguments; reply: GetScreenSketchReply };
  get_screenshot: { arguments: GetScreenshotArguments; reply: GetScreenshotReply };
  get_screenshot_cropped: { arguments: GetScreenshotCroppedArguments; reply: GetScreenshotCroppedReply };
  get_visible_areas: { arguments: GetVisibleAreasArguments; reply: GetVisibleAreasReply };
  get_web_task: { arguments: GetWebTaskArguments; reply: GetWebTaskReply };
  get_window_structure: { arguments: GetWindowStructureArguments; reply: GetWindowStructureReply };
  hover_at: { arguments: HoverAtArguments; reply: HoverAtReply };
  hover_element: { arguments: HoverElementArguments; reply: HoverElementReply };
  invoke_element: { arguments: InvokeElementArguments; reply: InvokeElementReply };
  job_control: { arguments: JobControlArguments; reply: JobControlReply };
  job_status: { arguments: JobStatusArguments; reply: JobStatusReply };
  keep_download: { arguments: KeepDownloadArguments; reply: KeepDownloadReply };
  key_into_element: { arguments: KeyIntoElementArguments; reply: KeyIntoElementReply };
  launch_app: { arguments: LaunchAppArguments; reply: LaunchAppReply };
  list_apps: { arguments: ListAppsArguments; reply: ListAppsReply };
  list_jobs: { arguments: ListJobsArguments; reply: ListJobsReply };
  list_recipes: { arguments: ListRecipesArguments; reply: ListRecipesReply };
  list_windows: { arguments: ListWindowsArguments; reply: ListWindowsReply };
  load_scenario: { arguments: LoadScenarioArguments; reply: LoadScenarioReply };
  look: { arguments: LookArguments; reply: LookReply };
  observe_window: { arguments: ObserveWindowArguments; reply: ObserveWindowReply };
  ocr_find: { arguments: OcrFindArguments; reply: OcrFindReply };
  open_url: { arguments: OpenUrlArguments; reply: OpenUrlReply };
  page_history: { arguments: PageHistoryArguments; reply: PageHistoryReply };
  page_log: { arguments: PageLogArguments; reply: PageLogReply };
  press_key: { arguments: PressKeyArguments; reply: PressKeyReply };
  press_key_and_observe: { arguments: PressKeyAndObserveArguments; reply: PressKeyAndObserveReply };
  propose_action: { arguments: ProposeActionArguments; reply: ProposeActionReply };
  read_page: { arguments: ReadPageArguments; reply: ReadPageReply };
  replay_start: { arguments: ReplayStartArguments; reply: ReplayStartReply };
  replay_status: { arguments: ReplayStatusArguments; reply: ReplayStatusReply };
  replay_step: { arguments: ReplayStepArguments; reply: ReplayStepReply };
  replay_stop: { arguments: ReplayStopArguments; reply: ReplayStopReply };
  right_click_at: { arguments: RightClickAtArguments; reply: RightClickAtReply };
  right_click_element: { arguments: RightClickElementArguments; reply: RightClickElementReply };
  run_job: { arguments: RunJobArguments; reply: RunJobReply };
  run_web_task: { arguments: RunWebTaskArguments; reply: RunWebTaskReply };
  save_session: { arguments: SaveSessionArguments; reply: SaveSessionReply };
  scroll: { arguments: ScrollArguments; reply: ScrollReply };
  select_option: { arguments: SelectOptionArguments; reply: SelectOptionReply };
  sessions: { arguments: SessionsArguments; reply: SessionsReply };
  set_value: { arguments: SetValueArguments; reply: SetValueReply };
  snapshot: { arguments: SnapshotArguments; reply: SnapshotReply };
  snapshot_diff: { arguments: SnapshotDiffArguments; reply: SnapshotDiffReply };
  snapshot_drop: { arguments: SnapshotDropArguments; reply: SnapshotDropReply };
  snapshot_get: { arguments: SnapshotGetArguments; reply: SnapshotGetReply };
  trace_start: { arguments: TraceStartArguments; reply: TraceStartReply };
  trace_status: { arguments: TraceStatusArguments; reply: TraceStatusReply };
  trace_stop: { arguments: TraceStopArguments; reply: TraceStopReply };
  type_and_observe: { arguments: TypeAndObserveArguments; reply: TypeAndObserveReply };
  type_text: { arguments: TypeTextArguments; reply: TypeTextReply };
  vision_diff: { arguments: VisionDiffArguments; reply: VisionDiffReply };
  vision_stability: { arguments: VisionStabilityArguments; reply: VisionStabilityReply };
  wait_for: { arguments: WaitForArguments; reply: WaitForReply };
  wait_idle: { arguments: WaitIdleArguments; reply: WaitIdleReply };
  window_action: { arguments: WindowActionArguments; reply: WindowActionReply };
  zoom: { arguments: ZoomArguments; reply: ZoomReply };
}

type ToolParameters<Name extends keyof Tools> = {} extends Tools[Name]['arguments']
  ? [args?: Tools[Name]['arguments']]
  : [args: Tools[Name]['arguments']];

export class ScreenObserverClient extends Transport {
  /** Calls a tool. */
  call<Name extends keyof Tools>(name: Name, ...args: ToolParameters<Name>): Promise<Tools[Name]['reply']>;

  /** The names of all tools. */
  getTools(): Promise<{
    ok: true;
    tools: string[];
    [name: string]: unknown;
  }>;

  /** Health of the server. */
  getHealthz(): Promise<{
    ok: true;
    uptime_s: number;
    step_count: number;
    adapter: string;
    version: string;
    halted: boolean;
    tree_cache: { [name: string]: unknown };
    config_path: string | null;
    config_error: string | null;
    ocr: { [name: string]: unknown };
    [name: string]: unknown;
  }>;

  /** Whether the server lives, and whether it runs web tasks. */
  getHealth(): Promise<{
    ok: true;
    status: string;
    version: string;
    tasks: boolean;
    [name: string]: unknown;
  }>;

  /** Counters in Prometheus' text format. */
  getMetrics(): Promise<string>;

  /** This document. */
  getOpenapi(): Promise<{ [name: string]: unknown }>;

  /** The latest calls. */
  getCalls(query?: {
    after?: number;
  }): Promise<{
    ok: true;
    last_event: number;
    calls: { [name: string]: unknown }[];
    [name: string]: unknown;
  }>;

  /** Whether all input is stopped. */
  getHalt(): Promise<{
    ok: true;
    halted: boolean;
    reason: string | null;
    since: string | null;
    [name: string]: unknown;
  }>;

  /** Stop all input. */
  postHalt(body?: {
    reason?: string | null;
    [name: string]: unknown;
  }): Promise<{
    ok: true;
    halted: boolean;
    reason: string | null;
    since: string | null;
    [name: string]: unknown;
  }>;

  /** Resume input. */
  releaseHalt(): Promise<{
    ok: true;
    halted: boolean;
    reason: string | null;
    since: string | null;
    [name: string]: unknown;
  }>;

  /** Approvals waiting for a person. */
  getApprovals(): Promise<{
    ok: true;
    mode: string;
    approvals: { [name: string]: unknown }[];
    [name: string]: unknown;
  }>;

  /** Screenshot of the target window. */
  getApprovalPicture(id: string): Promise<Uint8Array>;

  /** Allow or deny it. */
  postApproval(id: string, body: {
    decision: "allow" | "deny";
    [name: string]: unknown;
  }): Promise<{
    ok: true;
    id: string;
    decision: "allow" | "deny";
    [name: string]: unknown;
  }>;

  /** The recorded sessions, the newest first. */
  getTraces(): Promise<{
    ok: true;
    count: number;
    traces: { [name: string]: unknown }[];
    [name: string]: unknown;
  }>;

  /** One of them as an HTML page. */
  getTrace(id: string): Promise<string>;

  /** Cancel a job; it sends nothing more. */
  cancelJob(jobId: string): Promise<{
    ok: true;
    job_id: string;
    status: string;
    [name: string]: unknown;
  }>;

  /** Pause a job before its next input. */
  pauseJob(jobId: string): Promise<{
    ok: true;
    job_id: string;
    status: string;
    [name: string]: unknown;
  }>;

  /** Let a job go on. */
  resumeJob(jobId: string): Promise<{
    ok: true;
    job_id: string;
    status: string;
    [name: string]: unknown;
  }>;

  /** Take the desktop of a job over. */
  takeoverJob(jobId: string): Promise<{
    ok: true;
    job_id: string;
    status: string;
    [name: string]: unknown;
  }>;

  /** Give it back. */
  releaseJob(jobId: string): Promise<{
    ok: true;
    job_id: string;
    status: string;
    [name: string]: unknown;
  }>;

  /** Allow or deny what a job asks. */
  answerJob(jobId: string, body: {
    decision: "allow" | "deny";
    id: string;
    [name: string]: unknown;
  }): Promise<{
    ok: true;
    id: string;
    decision: "allow" | "deny";
    [name: string]: unknown;
  }>;

  /** What happened to a job, event by event. */
  getJobEvents(jobId: string, query?: {
    after?: number;
    limit?: number;
  }): Promise<{
    ok: true;
    events: { [name: string]: unknown }[];
    next: number;
    [name: string]: unknown;
  }>;

  /** The files of a job. */
  getJobArtifacts(jobId: string): Promise<{
    ok: true;
    artifacts: { [name: string]: unknown }[];
    [name: string]: unknown;
  }>;

  /** One of them. */
  getJobArtifact(jobId: string, query: {
    path: string;
  }): Promise<Uint8Array>;

  /** All jobs together: counts, success, cost, durations. */
  getStats(): Promise<{
    ok: true;
    jobs: number;
    by_status: { [name: string]: unknown };
    [name: string]: unknown;
  }>;

  /** Queue a job: a planner works toward a goal on a desk of its own, within limits. */
  createJob(body: RunJobArguments): Promise<RunJobReply>;

  /** All jobs of the store, the newest first. */
  getJobs(query?: {
    /** Only jobs with this status. */
    status?: string;
    /** At most so many, 20 unless told. */
    limit?: number;
  }): Promise<ListJobsReply>;

  /** How a job goes: status, result, steps, usage and cost, open approvals. */
  getJob(jobId: string, query?: {
    /** Wait so long for its end. */
    wait_ms?: number;
  }): Promise<JobStatusReply>;

  /** What is known of sites: recipes, and which of them run without a model. */
  getRecipes(): Promise<ListRecipesReply>;

  /** The sessions of web tasks, or one of them: its defaults, notes and latest tasks. */
  getSessions(query?: {
    /** Only this one. */
    sessionId?: string;
  }): Promise<SessionsReply>;

  /** One of save_session. */
  createSession(body: {
    /** For people. */
    name?: string | null;
    /** guest: nothing stays. */
    mode?: "guest" | "profile" | null;
    /** Browser profile, where jobs.profiles allows it. */
    profile?: string | null;
    /** Default of its tasks. */
    startUrl?: string | null;
    /** Default of its tasks. */
    agent?: {
      /** auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE. */
      kind?: string;
      /** Instead of planner.model. */
      model?: string;
    } | null;
    /** Told to the planner of each task, as data. */
    notes?: string | null;
    /** A person has logged in with its profile. */
    warmed?: boolean | null;
  }): Promise<SaveSessionReply>;

  /** The sessions of web tasks, or one of them: its defaults, notes and latest tasks. */
  getSession(sessionId: string): Promise<SessionsReply>;

  /** One of save_session. */
  updateSession(sessionId: string, body: {
    /** For people. */
    name?: string | null;
    /** guest: nothing stays. */
    mode?: "guest" | "profile" | null;
    /** Browser profile, where jobs.profiles allows it. */
    profile?: string | null;
    /** Default of its tasks. */
    startUrl?: string | null;
    /** Default of its tasks. */
    agent?: {
      /** auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE. */
      kind?: string;
      /** Instead of planner.model. */
      model?: string;
    } | null;
    /** Told to the planner of each task, as data. */
    notes?: string | null;
    /** A person has logged in with its profile. */
    warmed?: boolean | null;
    /** What is taken away. */
    clear?: ("name" | "profile" | "startUrl" | "agent" | "notes")[] | null;
  }): Promise<SaveSessionReply>;

  /** One of run_web_task. */
  runTask(body: {
    /** What is to be done, in words. */
    goal: string;
    /** The page to begin with; default: that of the session. */
    startUrl?: string | null;
    /** From save_session. */
    sessionId?: string | null;
    /** Browser profile with logins, where jobs.profiles allows it. */
    profile?: string | null;
    /** read: nothing is pressed or typed. Default act. */
    mode?: "act" | "read" | null;
    /** What the goal is about, by name. */
    input?: { [name: string]: unknown } | null;
    /** JSON Schema of the result. */
    outputSchema?: { [name: string]: unknown } | null;
    /** Who plans; default auto. */
    agent?: {
      /** auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE. */
      kind?: string;
      /** Instead of planner.model. */
      model?: string;
    } | null;
    /** maxSteps, timeoutMs, headless. */
    limits?: {
      /** Turns of the planner; default 40. */
      maxSteps?: number;
      /** Milliseconds of work; default 120000. */
      timeoutMs?: number;
      /** False: a browser with a window. Default true. */
      headless?: boolean;
    } | null;
    /** Address that is told the end, where jobs.webhook_hosts allows it. */
    webhook?: string | null;
    /** A recipe by its id; default: the one for the page. */
    recipe?: string | null;
    /** A second task with the same key is the first one. */
    idempotencyKey?: string | null;
    /** Answer at once; get_web_task tells how it goes. */
    async?: boolean | null;
    /** Wait at most so long for its end. */
    waitMs?: number | null;
  }): Promise<RunWebTaskReply>;

  /** How a web task goes: status, result, steps, timings, error. */
  getTask(taskId: string, query?: {
    /** Wait so long for its end. */
    waitMs?: number;
  }): Promise<GetWebTaskReply>;
}
