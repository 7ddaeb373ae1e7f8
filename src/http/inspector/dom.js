// Small helpers around the document. Text always goes in as text: a window's title can never become markup.

export const $ = (id) => document.getElementById(id);

/** Makes an element: `h("button", { class: "quiet", onclick: run }, "Run")`. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value === "boolean") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

export function toggle(element, shown) {
  element.hidden = !shown;
}

/** Runs `work` once things have been quiet for `pause` milliseconds. */
export function calmly(pause, work) {
  let timer;
  return (...parts) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...parts), pause);
  };
}

/** Runs `work` at once, then at most once in `pause` milliseconds; what came meanwhile is not forgotten. */
export function atMost(pause, work) {
  let timer = null;
  let again = false;
  const run = () => {
    work();
    timer = setTimeout(() => {
      timer = null;
      if (!again) return;
      again = false;
      run();
    }, pause);
  };
  return () => {
    if (timer === null) run();
    else again = true;
  };
}

export function shorten(text, most) {
  const plain = String(text ?? "").replace(/\s+/g, " ").trim();
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}

export function copyButton(label, text) {
  const button = h("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed to copy";
    }
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}
