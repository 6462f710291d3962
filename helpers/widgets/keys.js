// What all parts share: the keys that are typed in a part stay in it, and none of them scrolls the page.
//
// Otherwise JupyterLab would take them for its command mode: "m" turns the cell into text, "b" inserts one. Only Ctrl+S
// is done here as there: it saves the notebook.

const SCROLLS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", " "]);
const TAKES_KEYS = "input, textarea, select, pre, [contenteditable]";  // text that is written or scrolled

function keepKeys(el, model) {
  if (el.hasAttribute("data-lm-suppress-shortcuts")) return;
  el.setAttribute("data-lm-suppress-shortcuts", "");
  if (!el.hasAttribute("tabindex")) el.tabIndex = -1;  // so that a click between its cells also leads into it
  el.addEventListener("keydown", event => {
    event.stopPropagation();
    if (asksToSave(event)) saveNotebook(event, model);
    if (!SCROLLS.has(event.key) || event.target.closest(TAKES_KEYS)) return;
    if (event.key !== " " || !event.target.closest("button, summary, a, label")) event.preventDefault();
  });
}

const asksToSave = event => (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "s";

function saveNotebook(event, model) {
  event.preventDefault();  // the browser would save the page
  model.widget_manager?.context?.save?.();  // of JupyterLab; elsewhere there is nothing to save
}
