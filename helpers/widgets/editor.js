// A text to write: a textarea over a colored copy of it, line numbers, the marked place, and the verdict beside it.

const WGSL = new RegExp([
  /(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|$))/, /(?<attribute>@\w+)/,
  /(?<word>\b(?:fn|let|var|const|override|struct|alias|if|else|for|while|loop|switch|case|default|return|break|continue|continuing|true|false)\b)/,
  /(?<type>\b(?:u32|i32|f32|bool|vec[234][uif]?|array|atomic|ptr|storage|uniform|workgroup|private|function|read_write|read)\b)/,
  /(?<number>\b(?:0x[\da-f]+|\d+\.?\d*(?:e[-+]?\d+)?)[uif]?\b)/,
].map(part => part.source).join("|"), "gi");
const PYTHON = new RegExp([
  /(?<comment>#.*)/, /(?<word>\b(?:and|or|not|if|else|True|False)\b)/, /(?<number>\b\d+\.?\d*(?:e[-+]?\d+)?\b)/,
].map(part => part.source).join("|"), "g");
const KEPT_AFTER = 600;  // milliseconds without a key, after which the text is written to its file
const SILENT_AFTER = 3000;  // milliseconds without an answer, after which Python is taken for dead
const SILENT = "Python does not answer, and this page keeps your text: choose Kernel > Restart Kernel, then run the cells again";

const storage = new Proxy({}, {  // the browser's, which it may refuse; then a text is kept by Python alone
  get: (_, method) => (...words) => {
    try {
      return localStorage[method](...words);
    } catch {
      return null;
    }
  },
});

const escape = text => text.replace(/[&<>]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

function colored(text, signs) {
  let html = "", at = 0;
  for (const found of text.matchAll(signs)) {
    const [kind] = Object.entries(found.groups).find(([, words]) => words !== undefined);
    html += `${escape(text.slice(at, found.index))}<span class="wgsl-${kind}">${escape(found[0])}</span>`;
    at = found.index + found[0].length;
  }
  return html + escape(text.slice(at)) + "\n\n";
}

const rich = text => escape(text).replace(/`([^`]*)`/g, "<code>$1</code>");  // what stands between backquotes is code

function part(tag, className, parent, attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function render({ model, el }) {
  el.classList.add("convgrad-editor");
  const signs = model.get("noun") === "kernel" ? WGSL : PYTHON;
  const bar = part("div", "convgrad-bar", el);
  const left = part("div", "convgrad-write", el);
  const ours = part("pre", "convgrad-ours", el, { role: "region", "aria-label": `our ${model.get("noun")}`, tabindex: "0" });
  const gutter = part("pre", "convgrad-gutter", left, { "aria-hidden": "true" });
  const paper = part("div", "convgrad-paper", left);
  const copy = part("pre", "convgrad-copy", paper, { "aria-hidden": "true" });
  const area = part("textarea", "convgrad-text", paper, {
    "aria-label": `your ${model.get("noun")} for ${model.get("puzzle")}`, "data-lm-suppress-shortcuts": "", spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", wrap: "off",
  });
  const run = part("button", "convgrad-run jupyter-button mod-primary", bar, { type: "button" });
  const compare = part("button", "convgrad-compare jupyter-button", bar, { type: "button", "aria-expanded": "false" });
  const state = part("span", "convgrad-state", bar, { role: "status", "aria-live": "polite" });
  const keys = part("span", "convgrad-keys", bar);
  keys.textContent = "Ctrl+Enter: run the tests. Esc, then Tab: leave the text.";
  keys.id = `convgrad-keys-${Math.random()}`;
  area.setAttribute("aria-describedby", keys.id);
  const said = part("div", "convgrad-said", el);
  const told = part("div", "", said, { role: "status", "aria-live": "polite" }), more = part("div", "", said);
  run.textContent = "Run the tests";
  compare.textContent = "Compare with ours";
  const over = part("button", "convgrad-over jupyter-button", bar, { type: "button" });
  over.textContent = "Start over";
  over.title = "Put the first text back; yours is kept as an attempt";
  bar.insertBefore(over, state);

  // What Python has not written yet outlives this page. Older pages kept it without the folder's name.
  const older = `convgrad ${model.get("puzzle")}`, store = `convgrad ${model.get("folder")} ${model.get("puzzle")}`;
  if (storage.getItem(older) !== null) {
    if (storage.getItem(store) === null) storage.setItem(store, storage.getItem(older));
    storage.removeItem(older);
  }
  let waiting = null, silence = null, sent = 0, pending = "";
  const tell = kind => {
    clearTimeout(waiting);
    clearTimeout(silence);
    waiting = null;
    pending = kind;
    storage.setItem(store, area.value);
    const silent = () => { state.textContent = SILENT; };
    silence = setTimeout(silent, SILENT_AFTER);
    try {
      model.send({ kind, text: area.value, number: sent = Date.now() });
    } catch {  // the page knows already that Python has ended
      silent();
    }
  };
  const heard = () => {
    const { number, written } = model.get("heard");
    if (number !== sent) return;
    clearTimeout(silence);
    pending = "";
    state.textContent = model.get("state");
    if (written) storage.removeItem(store);
  };
  const draw = () => {
    copy.innerHTML = colored(area.value, signs);
    const mark = model.get("mark"), lines = area.value.split("\n");
    gutter.replaceChildren(...lines.map((_, i) => {
      const number = document.createElement("span");
      number.textContent = `${i + 1}\n`;
      if (mark.line === i + 1) number.className = "convgrad-marked";
      return number;
    }));
    paper.querySelector(".convgrad-mark")?.remove();
    if (mark.line && mark.line <= lines.length) {
      const under = part("div", "convgrad-mark", paper);
      const before = lines[mark.line - 1].slice(0, mark.column - 1).replace(/\t/g, "    ").length;
      under.style.cssText = `top:${18 * mark.line + 3}px;left:calc(${before}ch + 6px);width:${mark.length}ch`;
    }
  };
  const insert = text => document.execCommand(text ? "insertText" : "delete", false, text);  // keeps the browser's undo
  const replace = (from, to, text) => {
    area.setSelectionRange(from, to);
    insert(text);
  };
  const indent = back => {  // the selected lines; without a selection, two spaces
    const { selectionStart: from, selectionEnd: to, value } = area, first = value.lastIndexOf("\n", from - 1) + 1;
    if (from === to && !back) return insert("  ");
    const moved = value.slice(first, to).replace(/^ {0,2}(?=.)/gm, spaces => back ? "" : `  ${spaces}`);
    replace(first, to, moved);
    if (from !== to) area.setSelectionRange(first, first + moved.length);
  };

  area.addEventListener("input", () => {
    el.classList.add("convgrad-changed");  // the verdict and its mark are those of an older text
    storage.setItem(store, area.value);  // at once: the page may be closed before it is written
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => tell("keep"), KEPT_AFTER);
  });
  area.addEventListener("keyup", () => {  // back to the left end, where all up to the caret fits
    const column = area.value.slice(0, area.selectionStart).split("\n").pop().length;
    if (8 * column < left.clientWidth - gutter.clientWidth - 20) left.scrollLeft = 0;
  });
  area.addEventListener("blur", () => waiting && tell("keep"));
  let leaving = false;
  area.addEventListener("keydown", event => {
    const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    if ((control || event.shiftKey) && key === "enter") tell("run");
    else if (control && key === "z") document.execCommand(event.shiftKey ? "redo" : "undo");
    else if (control && key === "y") document.execCommand("redo");
    else if (key === "tab" && !leaving) indent(event.shiftKey);
    else if (key === "}" && /(^|\n) *  $/.test(area.value.slice(0, area.selectionStart))) {
      replace(area.selectionStart - 2, area.selectionEnd, "}");
    }
    else if (key === "enter" && !event.altKey) {
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      insert(`\n${line.match(/^\s*/)[0]}${/[{(]\s*$/.test(line) ? "  " : ""}`);
    } else {
      if (key !== "shift") leaving = key === "escape";
      if (!(control && key === "s")) event.stopPropagation();
      return;
    }
    leaving = false;
    event.preventDefault();
    event.stopPropagation();
  });
  left.addEventListener("scroll", () => { ours.scrollTop = left.scrollTop; });
  run.addEventListener("click", () => tell("run"));
  over.addEventListener("click", () => tell("over"));

  const show = () => {
    const verdict = model.get("verdict");
    told.replaceChildren();
    more.replaceChildren();
    if (verdict.headline) part("p", `convgrad-headline convgrad-${verdict.kind}`, told).textContent = verdict.headline;
    for (const words of verdict.detail?.split("\n") ?? []) part("p", "", told).innerHTML = rich(words);
    if (verdict.picture) {
      const figure = part("figure", "convgrad-reads", more);
      part("figcaption", "", figure).textContent = verdict.caption;
      part("div", "", figure).innerHTML = verdict.picture;
    }
    if (verdict.drawing) {
      const place = verdict.picture ? folded("The whole output, in numbers") : more;
      part("pre", "convgrad-drawing", place, { tabindex: "0" }).textContent = verdict.drawing;
    }
    if (verdict.tests?.length) {
      const list = part("dl", "", folded(verdict.count));
      for (const { names, said } of verdict.tests) {
        part("dt", "", list).textContent = names;
        part("dd", "", list).innerHTML = rich(said);
      }
    }
  };
  const folded = title => {
    const fold = part("details", "convgrad-tests", more);
    part("summary", "", fold).textContent = title;
    return fold;
  };
  const beside = () => {  // the official kernel, from the first attempt on
    compare.hidden = !model.get("ours");
    ours.innerHTML = colored(model.get("ours"), signs);
  };
  compare.addEventListener("click", () => {
    const open = el.classList.toggle("convgrad-comparing");
    compare.setAttribute("aria-expanded", open);
    compare.textContent = open ? "Hide ours" : "Compare with ours";
  });
  const ask = () => {
    const theirs = model.get("conflict");
    bar.querySelectorAll(".convgrad-choice").forEach(choice => choice.remove());
    if (!theirs) return;
    for (const [words, kind] of [["keep this text", "mine"], ["take the file's", "theirs"]]) {
      const choice = part("button", "convgrad-choice jupyter-button", bar, { type: "button" });
      choice.textContent = words;
      choice.addEventListener("click", () => tell(kind));
    }
  };
  const load = () => {  // Python says again what it was sent: only what the reader asked for may replace newer text
    if (area.value === model.get("text") || waiting !== null || (pending && !["theirs", "over"].includes(pending))) return;
    area.focus();
    area.select();
    insert(model.get("text"));
    draw();
  };
  const left_over = storage.getItem(store);
  area.value = left_over ?? model.get("text");
  model.on("change:text", load);
  model.on("change:mark", draw);
  model.on("change:verdict", show);
  model.on("change:running", () => model.get("running") || el.classList.remove("convgrad-changed"));
  model.on("change:conflict", ask);
  model.on("change:ours", beside);
  model.on("change:state", () => {
    state.textContent = model.get("state");
    run.disabled = model.get("running");
  });
  state.textContent = model.get("state");
  model.on("change:heard", heard);
  draw();
  show();
  ask();
  beside();
  if (left_over === model.get("text")) storage.removeItem(store);
  else if (left_over !== null) tell("found");
}

export default { render };
