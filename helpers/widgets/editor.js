// A text to write: a textarea over a colored copy of it, line numbers, the marked place, and the verdict beside it.

const WGSL = new RegExp([
  /(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|$))/, /(?<attribute>@\w+)/,
  /(?<word>\b(?:fn|let|var|const|override|struct|alias|if|else|for|while|loop|switch|case|default|return|break|continue|continuing|true|false)\b)/,
  /(?<type>\b(?:u32|i32|f32|bool|vec[234][uif]?|array|atomic|ptr|storage|uniform|workgroup|private|function|read_write|read)\b)/,
  /(?<number>\b(?:0x[\da-f]+|\d+\.?\d*(?:e[-+]?\d+)?)[uif]?\b)/,
].map(part => part.source).join("|"), "gi");
const KEPT_AFTER = 600;  // milliseconds without a key, after which the text is written to its file
const SILENT_AFTER = 3000;  // milliseconds without an answer, after which Python is taken for dead
const SILENT = "Python does not answer, and this page keeps your text: choose Kernel > Restart Kernel, then run the cells again";

const escape = text => text.replace(/[&<>]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

function colored(text) {
  let html = "", at = 0;
  for (const found of text.matchAll(WGSL)) {
    const [kind] = Object.entries(found.groups).find(([, words]) => words !== undefined);
    html += `${escape(text.slice(at, found.index))}<span class="wgsl-${kind}">${escape(found[0])}</span>`;
    at = found.index + found[0].length;
  }
  return html + escape(text.slice(at)) + "\n\n";
}

function part(tag, className, parent, attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function render({ model, el }) {
  el.classList.add("convgrad-editor");
  const left = part("div", "convgrad-write", el), right = part("div", "convgrad-verdict", el);
  const gutter = part("pre", "convgrad-gutter", left, { "aria-hidden": "true" });
  const paper = part("div", "convgrad-paper", left);
  const copy = part("pre", "convgrad-copy", paper, { "aria-hidden": "true" });
  const area = part("textarea", "convgrad-text", paper, {
    "aria-label": `your kernel for ${model.get("puzzle")}`, "data-lm-suppress-shortcuts": "", spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", wrap: "off",
  });
  const bar = part("div", "convgrad-bar", right);
  const run = part("button", "convgrad-run jupyter-button mod-primary", bar, { type: "button" });
  const state = part("span", "convgrad-state", bar, { role: "status", "aria-live": "polite" });
  const said = part("div", "convgrad-said", right, { role: "status", "aria-live": "polite" });
  run.textContent = "Run the tests";
  run.title = "Ctrl+Enter";

  const store = `convgrad ${model.get("puzzle")}`;  // what Python has not written yet outlives this page
  let waiting = null, silence = null, sent = 0;
  const tell = kind => {
    clearTimeout(waiting);
    clearTimeout(silence);
    waiting = null;
    localStorage.setItem(store, area.value);
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
    state.textContent = model.get("state");
    if (written) localStorage.removeItem(store);
  };
  const draw = () => {
    copy.innerHTML = colored(area.value);
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
  const insert = text => document.execCommand("insertText", false, text);  // keeps the browser's undo

  area.addEventListener("input", () => {
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
    else if (key === "tab" && !leaving && !event.shiftKey) insert("  ");
    else if (key === "enter" && !event.altKey) {
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      insert(`\n${line.match(/^\s*/)[0]}${/[{(]\s*$/.test(line) ? "  " : ""}`);
    } else {
      leaving = key === "escape";
      if (!(control && key === "s")) event.stopPropagation();
      return;
    }
    leaving = false;
    event.preventDefault();
    event.stopPropagation();
  });
  run.addEventListener("click", () => tell("run"));

  const show = () => {
    const verdict = model.get("verdict");
    said.replaceChildren();
    if (verdict.headline) part("p", `convgrad-headline convgrad-${verdict.kind}`, said).textContent = verdict.headline;
    if (verdict.detail) part("p", "convgrad-detail", said).textContent = verdict.detail;
    if (verdict.drawing) part("pre", "convgrad-drawing", said).textContent = verdict.drawing;
    if (verdict.tests?.length) {
      const fold = part("details", "convgrad-tests", said);
      part("summary", "", fold).textContent = verdict.count;
      for (const test of verdict.tests) part("p", "", fold).textContent = test;
    }
  };
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
  const load = () => {
    if (area.value === model.get("text")) return;
    area.focus();
    area.select();
    insert(model.get("text"));
    draw();
  };
  const left_over = localStorage.getItem(store);
  area.value = left_over ?? model.get("text");
  model.on("change:text", load);
  model.on("change:mark", draw);
  model.on("change:verdict", show);
  model.on("change:conflict", ask);
  model.on("change:state", () => {
    state.textContent = model.get("state");
    run.disabled = model.get("running");
  });
  state.textContent = model.get("state");
  model.on("change:heard", heard);
  draw();
  show();
  ask();
  if (left_over === model.get("text")) localStorage.removeItem(store);
  else if (left_over !== null) tell("found");
}

export default { render };
