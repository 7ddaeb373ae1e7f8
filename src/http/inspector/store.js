// What the page knows, and who wants to hear of it. Parts talk to each other only through here.

const listeners = new Map();

export const state = {
  windows: [],
  /** The selected window's uid; "" means the focused one. */
  uid: "",
  /** Everything that was read of the window in one look: see view.js. */
  look: null,
  hovered: null,
  selected: null,
  halted: false,
  /** The tab that is shown, and the job that is looked at. */
  tab: "",
  job: null,
};

export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, []);
  listeners.get(topic).push(listener);
}

export function tell(topic, value) {
  for (const listener of listeners.get(topic) ?? []) listener(value);
}

export function hover(id) {
  if (state.hovered === id) return;
  state.hovered = id;
  tell("hover", id);
}

export function select(id) {
  state.selected = id;
  tell("select", id);
}
