//! The few functions that run in a page, all of them in our own world, where the page can neither see nor change them.
//! Nothing that a caller says becomes a part of a function: what is said goes in as an argument.

/// The element that has the focus, through frames and shadow roots that can be looked into.
pub const FOCUSED_ELEMENT: &str = "(() => {
  let found = document.activeElement;
  for (;;) {
    const inner = found && ((found.shadowRoot && found.shadowRoot.activeElement)
      || (found.contentDocument && found.contentDocument.activeElement));
    if (!inner) return found;
    found = inner;
  }
})()";

/// A point of the element where a pointer meets it or its label; else what the pointer meets instead. All points count
/// from the corner of the element's own frame.
pub const AIM: &str = "function (wantedX, wantedY) {
  const isText = this.nodeType === Node.TEXT_NODE;
  const wanted = isText ? this.parentNode : this;
  const rectsOf = (node) => {
    if (node.nodeType !== Node.TEXT_NODE) return Array.from(node.getClientRects());
    const range = document.createRange();
    range.selectNode(node);
    return Array.from(range.getClientRects());
  };
  const root = wanted.getRootNode();
  const meet = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    if (root !== document && hit === root.host) hit = root.elementFromPoint(x, y) || hit;
    for (;;) {
      const inner = hit && hit.shadowRoot && hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) return hit;
      hit = inner;
    }
  };
  const belongs = (hit) => {
    for (let node = hit; node; node = node.parentNode || node.host) {
      if (node === wanted || (node.localName === 'label' && node.control === wanted)) return true;
    }
    return false;
  };
  const own = rectsOf(this);
  const labels = Array.from(wanted.labels || []).flatMap(rectsOf);
  const points = [];
  if (typeof wantedX === 'number' && own.some((r) => wantedX >= r.left && wantedX < r.right && wantedY >= r.top && wantedY < r.bottom))
    points.push([wantedX, wantedY]);
  for (const rect of own.concat(labels)) {
    const left = Math.max(rect.left, 0), right = Math.min(rect.right, innerWidth);
    const top = Math.max(rect.top, 0), bottom = Math.min(rect.bottom, innerHeight);
    if (right <= left || bottom <= top) continue;
    for (const [across, down] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]])
      points.push([left + (right - left) * across, top + (bottom - top) * down]);
  }
  let covered = null;
  for (const [x, y] of points) {
    const hit = meet(x, y);
    if (belongs(hit)) return { x, y };
    if (hit && !covered) covered = hit;
  }
  if (!covered) return { covered: null };
  const id = covered.id ? '#' + covered.id : '';
  const text = (covered.getAttribute('aria-label') || covered.innerText || '').trim().replace(/\\s+/g, ' ').slice(0, 60);
  return { covered: '<' + covered.localName + id + '>' + (text ? ' \\'' + text + '\\'' : '') };
}";

/// From a point of a frame to that of the document that the frame is in, and whether a pointer meets the frame there.
pub const OUT_OF_FRAME: &str = "function (x, y) {
  const rect = this.getBoundingClientRect(), style = getComputedStyle(this);
  const outX = rect.left + this.clientLeft + parseFloat(style.paddingLeft) + x;
  const outY = rect.top + this.clientTop + parseFloat(style.paddingTop) + y;
  const root = this.getRootNode();
  let hit = document.elementFromPoint(outX, outY);
  if (root !== document && hit === root.host) hit = root.elementFromPoint(outX, outY) || hit;
  return { x: outX, y: outY, met: hit === this };
}";

/// What an element says of itself before an input.
pub const ELEMENT_FACTS: &str = "function () {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  const editable = element.isContentEditable;
  const field = ['input', 'textarea', 'select'].includes(element.localName);
  return {
    tag: element.localName,
    kind: element.localName === 'input' ? element.type : '',
    disabled: element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true',
    readonly: field ? !!element.readOnly : !editable,
    editable,
    secret: element.type === 'password' || /(^|\\s)(one-time-code|current-password|new-password|cc-\\S*)(\\s|$)/i.test(element.autocomplete || ''),
    value: field ? String(element.value) : editable ? element.innerText : null,
    focused: element.matches(':focus'),
    connected: element.isConnected,
    min: element.min === undefined ? '' : String(element.min),
    max: element.max === undefined ? '' : String(element.max),
    label: (element.getAttribute('aria-label') || element.innerText || element.getAttribute('name') || element.localName).slice(0, 80),
  };
}";

/// Selects all of a field's text, so that what comes next replaces it.
pub const SELECT_TEXT: &str = "function () {
  if (this.select) { this.select(); return; }
  const range = document.createRange();
  range.selectNodeContents(this);
  const selection = this.ownerDocument.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}";

/// Sets what no keys can be trusted with: dates, colours, sliders. The page hears of it as of a person's change.
pub const SET_FIELD: &str = "function (text) {
  this.value = text;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return String(this.value);
}";

/// The options of a list of the browser's own.
pub const LIST_OPTIONS: &str = "function () {
  if (this.localName !== 'select') return null;
  return Array.from(this.options).map((option) => ({
    name: option.label || option.text,
    disabled: option.disabled || (option.parentNode.localName === 'optgroup' && option.parentNode.disabled),
  }));
}";

/// Selects one of them, and tells the page as a person's choice would.
pub const CHOOSE_OPTION: &str = "function (index) {
  const option = this.options[index];
  if (!option) return false;
  if (this.multiple) option.selected = true; else this.selectedIndex = index;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return !!this.options[index] && this.options[index].selected;
}";

/// The list that an option of the browser's own is in, and its place there.
pub const OWN_LIST: &str = "function () {
  if (this.localName !== 'option') return null;
  const list = this.closest('select');
  return list && Array.from(list.options).indexOf(this);
}";

/// Selects an option in the list that it is in.
pub const CHOOSE_OWN: &str = "function (index) {
  const list = this.closest('select');
  if (list.multiple) this.selected = true; else list.selectedIndex = index;
  list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  list.dispatchEvent(new Event('change', { bubbles: true }));
  return this.selected;
}";

/// Whether the world that this runs in is that of the node's own frame.
pub const IS_OF_THIS_FRAME: &str = "function () { return this.ownerDocument === document; }";
