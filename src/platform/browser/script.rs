//! The few functions that run in a page, all of them in our own world, where the page can neither see nor change them.
//! Nothing that a caller says becomes a part of a function: what is said goes in as an argument.

/// The element that has the focus, through frames and shadow roots that can be looked into; nothing where the page as a
/// whole has it.
pub const FOCUSED_ELEMENT: &str = "(() => {
  let found = document.activeElement;
  for (;;) {
    const inner = found && ((found.shadowRoot && found.shadowRoot.activeElement)
      || (found.contentDocument && found.contentDocument.activeElement));
    if (!inner) break;
    found = inner;
  }
  return found && found.localName === 'body' && !found.isContentEditable ? undefined : found;
})()";

/// The same below a shadow root that the page has closed.
pub const FOCUSED_IN_ROOT: &str = "function () {
  let found = this.activeElement;
  for (;;) {
    const inner = found && found.shadowRoot && found.shadowRoot.activeElement;
    if (!inner) break;
    found = inner;
  }
  return found || undefined;
}";

/// Elements of which a snapshot tells too little, each followed by what is to be told and by how: the fields that were
/// tried, by a person or from here, and are not accepted by the browser (`invalid`, why); boxes that are scrolled
/// (`scrolled`, how far). Nothing where there are none.
pub const ELEMENT_NOTES: &str = "(() => {
  const found = [], wrong = new Set();
  const note = (element, kind, text) => { if (found.length < 240) found.push(element, kind, String(text).slice(0, 200)); };
  const refuse = (field) => { if (!wrong.has(field)) { wrong.add(field); note(field, 'invalid', field.validationMessage); } };
  const tried = 'input:user-invalid, select:user-invalid, textarea:user-invalid';
  const collect = (root) => {
    root.querySelectorAll(tried).forEach(refuse);
    const known = root.defaultView || {};
    for (const field of known.osScreenObserverFields ? known.osScreenObserverFields() : []) {
      if (field.willValidate && !field.validity.valid) refuse(field);
    }
    for (const box of known.osScreenObserverScrolled ? known.osScreenObserverScrolled() : []) {
      if (box.scrollLeft > 0 || box.scrollTop > 0) note(box, 'scrolled', box.scrollLeft + ' ' + box.scrollTop);
    }
    for (const frame of root.querySelectorAll('iframe')) {
      if (frame.contentDocument) collect(frame.contentDocument);
    }
  };
  try { collect(document); } catch { return undefined; }
  return found.length ? found : undefined;
})()";

/// What the server of the page answered; 0 where that is not known.
pub const PAGE_STATUS: &str = "(performance.getEntriesByType('navigation')[0] || {}).responseStatus || 0";

/// Comes at once where the page shows something or has no scripts; else when it shows something and has rested for a
/// moment, or after three seconds. Answers whether it shows something, or has no scripts that could.
pub const PAGE_CONTENT: &str = "new Promise((done) => {
  const parts = 'input:not([type=hidden]), button, select, textarea, canvas, img, svg, video, iframe, object, embed, [role]';
  const shown = (element) => element.getClientRects().length > 0;
  const shows = () => !document.body || document.body.innerText.trim() !== ''
    || Array.from(document.body.querySelectorAll(parts)).some(shown);
  if (!document.scripts.length || shows()) { done(true); return; }
  let rest, observer, first = 0;
  const end = () => { clearTimeout(rest); observer.disconnect(); done(shows()); };
  const last = setTimeout(end, 3000);
  observer = new MutationObserver(() => {
    if (!first && !shows()) return;
    first = first || performance.now();
    clearTimeout(rest);
    if (performance.now() - first > 1000) end(); else rest = setTimeout(end, 150);
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})";

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
  // Of a layer over the page the whole is named, not the piece that the pointer met.
  let label = '', layer = covered;
  for (let node = covered; node && !node.contains(wanted); node = node.parentElement) {
    label = label || node.getAttribute('aria-label') || '';
    layer = node;
  }
  const id = layer.id ? '#' + layer.id : '';
  const text = (label || layer.innerText || '').trim().replace(/\\s+/g, ' ').slice(0, 60);
  return { covered: '<' + layer.localName + id + '>' + (text ? ' \\'' + text + '\\'' : '') };
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

/// What a pointer meets at a point, through shadow roots and frames that can be looked into: whether it is an area of an
/// image, where the point is in the innermost frame, and then the elements from the inside out.
pub const NODES_AT: &str = "function (x, y) {
  let root = document, hit = null;
  for (let depth = 0; depth < 64; depth++) {
    const next = root.elementFromPoint(x, y);
    if (!next || next === hit) break;
    hit = next;
    if (hit.shadowRoot) { root = hit.shadowRoot; continue; }
    if (!['iframe', 'frame', 'object', 'embed'].includes(hit.localName)) break;
    const rect = hit.getBoundingClientRect(), style = hit.ownerDocument.defaultView.getComputedStyle(hit);
    x -= rect.left + hit.clientLeft + parseFloat(style.paddingLeft);
    y -= rect.top + hit.clientTop + parseFloat(style.paddingTop);
    if (!hit.contentDocument) break;
    root = hit.contentDocument;
  }
  const parts = 'a, button, input, select, textarea, iframe, [role], [tabindex], [contenteditable]';
  const isPart = hit && !['html', 'body'].includes(hit.localName) && !hit.querySelector(parts);
  const text = isPart ? String(hit.innerText || '').trim() : '';
  const found = [!!hit && hit.localName === 'area', x, y, text.length <= 80 ? text : ''];
  for (let node = hit; node && found.length < 60; ) {
    if (node.nodeType === Node.ELEMENT_NODE) found.push(node);
    node = node.assignedSlot || node.parentNode || node.host
      || (node.defaultView && node.defaultView !== window && node.defaultView.frameElement);
  }
  return found;
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
    download: !!element.closest('a[download]'),
    min: element.min === undefined ? '' : String(element.min),
    max: element.max === undefined ? '' : String(element.max),
    label: (element.getAttribute('aria-label')
      || (field && element.labels && element.labels[0] && element.labels[0].innerText.trim().split('\\n')[0].trim())
      || element.innerText || element.getAttribute('name') || element.localName).slice(0, 80),
  };
}";

/// The field's value is written; what it holds after the page has heard of that, and why the browser does not accept it.
pub const COMMIT_VALUE: &str = "function () {
  this.dispatchEvent(new Event('change', { bubbles: true }));
  if (globalThis.osScreenObserverWrote) osScreenObserverWrote(this, true);
  const accepted = !this.willValidate || this.validity.valid;
  return { value: String(this.value), wrong: accepted ? '' : String(this.validationMessage || 'not accepted').slice(0, 200) };
}";

/// Gives a field of text the focus and selects what is in it, so that what comes next replaces it. Not one of the kinds
/// that are handled otherwise. Whether it has the focus then.
pub const BEGIN_TEXT: &str = "function (kinds) {
  if (this.nodeType !== Node.ELEMENT_NODE) return false;
  const field = ['input', 'textarea'].includes(this.localName);
  const free = !this.matches(':disabled') && this.getAttribute('aria-disabled') !== 'true' && !this.readOnly;
  if (!free || !(field || this.isContentEditable) || kinds.includes(this.localName === 'input' ? this.type : '')) return false;
  this.focus();
  if (!this.matches(':focus')) return false;
  if (this.select) { this.select(); return true; }
  const range = document.createRange();
  range.selectNodeContents(this);
  const selection = this.ownerDocument.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return true;
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

/// Writes a text into a field and nowhere else: it gets the focus, is seen to have it, and takes the text in one step,
/// in which no other frame runs. True: done. False: the field does not keep the focus. Nothing: it is no such field, or
/// it is too short for the text, and the page may have more of them.
pub const WRITE_TEXT: &str = "function (text, replaces) {
  if (!['input', 'textarea'].includes(this.localName)) return null;
  if (this.readOnly || this.matches(':disabled')) return null;
  if (!replaces && this.maxLength >= 0 && text.length > this.maxLength) return null;
  const holdsFocus = () => this.getRootNode().activeElement === this;
  if (!holdsFocus()) this.focus();
  if (!holdsFocus()) return false;
  if (replaces) this.select();
  const inputType = text ? 'insertText' : 'deleteContentBackward';
  const wish = { inputType, data: text || null, bubbles: true, cancelable: true, composed: true };
  if (!this.dispatchEvent(new InputEvent('beforeinput', wish))) return true;
  if (!holdsFocus()) return false;
  document.execCommand(text ? 'insertText' : 'delete', false, text);
  return true;
}";

/// Sets what no keys can be trusted with: dates, colours, sliders. The page hears of it as of a person's change.
pub const SET_FIELD: &str = "function (text) {
  this.value = text;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  if (globalThis.osScreenObserverWrote) osScreenObserverWrote(this, false);
  const accepted = !this.willValidate || this.validity.valid;
  return { value: String(this.value), wrong: accepted ? '' : String(this.validationMessage || 'not accepted').slice(0, 200) };
}";

/// The options of a list of the browser's own.
pub const LIST_OPTIONS: &str = "function () {
  if (this.localName !== 'select') return null;
  return Array.from(this.options).map((option) => {
    const group = option.closest('optgroup');
    return {
      name: option.label || option.text,
      value: option.value,
      group: group ? group.label : '',
      disabled: option.disabled || (!!group && group.disabled),
    };
  });
}";

/// What a field of text suggests; nothing for one that has no list of its own.
pub const SUGGESTIONS: &str = "function () {
  if (this.localName !== 'input' || !this.list) return null;
  return Array.from(this.list.options).map((option) => ({
    name: option.label || option.value,
    value: option.value,
    group: '',
    disabled: option.disabled,
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
