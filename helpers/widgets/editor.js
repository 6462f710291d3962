// A text to write: a textarea over a colored copy of it, line numbers, the marked place, and the verdict beside it.

const WGSL = new RegExp([
  /(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|$))/, /(?<attribute>@\w+)/,
  /(?<word>\b(?:fn|let|var|const|override|struct|alias|if|else|for|while|loop|switch|case|default|return|break|continue|continuing|true|false)\b)/,
  /(?<type>\b(?:u32|i32|f32|bool|vec[234][uif]?|array|atomic|ptr|storage|uniform|workgroup|private|function|read_write|read)\b)/,
  /(?<number>\b(?:0x[\da-f]+|\d+\.?\d*(?:e[-+]?\d+)?)[uif]?\b)/,
].map(part => part.source).join("|"), "gi");
const PYTHON = new RegExp([
  /(?<comment>#.*)/, /(?<word>\b(?:and|or|not|if|elif|else|for|in|while|break|continue|pass|True|False)\b)/, /(?<number>\b\d+\.?\d*(?:e[-+]?\d+)?\b)/,
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

function colored(text, signs) {  // its lines, as HTML
  let html = "", at = 0;
  for (const found of text.matchAll(signs)) {
    const [kind] = Object.entries(found.groups).find(([, words]) => words !== undefined);
    const words = found[0].split("\n").map(line => `<span class="wgsl-${kind}">${escape(line)}</span>`);
    html += escape(text.slice(at, found.index)) + words.join("\n");
    at = found.index + found[0].length;
  }
  return (html + escape(text.slice(at))).split("\n");
}

// What of a line is compared with another kernel's: neither blanks, comments nor braces alone.
const compared = line => line.replace(/(\/\/|#).*/, "").replace(/\s/g, "").replace(/^[{}]+$/, "");

function lay(lines, paper, className) {  // lines with their numbers; those of `className` may be marked
  paper.replaceChildren(...lines.map((html, i) => {
    const line = document.createElement("div");
    line.className = `convgrad-line ${className(i)}`;
    line.dataset.line = i + 1;
    line.innerHTML = html;
    return line;
  }));
}

const rich = text => escape(text).replace(/`([^`]*)`/g, "<code>$1</code>");  // what stands between backquotes is code

const isWord = letter => /\w/.test(letter ?? " ");

// What was written, in steps: one is a word with what follows it, or a change of another kind.
class History {
  constructor(text) {
    this.steps = [{ text }];
    this.at = 0;
  }

  add(text, caret, kind) {  // `kind` is how the text came to be: without one, it is a step of its own
    const before = this.steps[this.at], grown = text.length - before.text.length;
    if (text === before.text) return;
    const beside = caret - before.caret === (kind === "deleteContentForward" ? 0 : grown);
    const begins = grown > 0 ? isWord(text[caret - 1]) && !isWord(text[caret - 2]) : /\s/.test(before.text[caret]);
    const joins = kind && kind === before.kind && Math.abs(grown) === 1 && beside && !begins;
    this.steps.splice(joins ? this.at : this.at + 1, Infinity, { text, caret, kind });
    this.at = this.steps.length - 1;
  }

  move(by) {  // the text a step back or forward, or nothing
    return this.steps[this.at + by] && this.steps[this.at += by].text;
  }
}

function part(tag, className, parent, attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function render({ model, el }) {
  storeWhatStays(model, html => withText(html, area.value));
  el.classList.add("convgrad-editor");
  const signs = model.get("noun") === "kernel" ? WGSL : PYTHON;
  const sign = signs === WGSL ? "//" : "#", noun = model.get("noun");
  const bar = part("div", "convgrad-bar", el);
  if (model.get("limits")) part("p", "convgrad-limits", bar).innerHTML = rich(model.get("limits"));
  const left = part("div", "convgrad-write", el);
  const paper = part("div", "convgrad-paper", left);
  const copy = part("pre", "convgrad-copy", paper, { "aria-hidden": "true" });
  const area = part("textarea", "convgrad-text", paper, {
    "aria-label": `your ${noun} for ${model.get("puzzle")}`, "data-lm-suppress-shortcuts": "", spellcheck: "false",
    autocapitalize: "off", autocomplete: "off",
  });
  const right = part("figure", "convgrad-beside", el);
  part("figcaption", "", right).textContent = `Our ${noun}. A bar marks what only one of the two has.`;
  const ours = part("pre", "convgrad-ours", right, { role: "region", "aria-label": `our ${noun}`, tabindex: "0" });
  const run = part("button", "convgrad-run jupyter-button mod-primary", bar, { type: "button" });
  const over = part("button", "convgrad-over jupyter-button", bar, { type: "button" });
  const compare = part("button", "convgrad-compare jupyter-button", bar, { type: "button", "aria-expanded": "false" });
  const state = part("span", "convgrad-state", bar, { role: "status", "aria-live": "polite" });
  const keys = part("span", "convgrad-keys", bar);
  keys.textContent = "Ctrl+Enter: run the tests. Ctrl+/: comment. Esc, Tab: leave.";
  keys.id = `convgrad-keys-${Math.random()}`;
  area.setAttribute("aria-describedby", keys.id);
  const said = part("div", "convgrad-said", el);
  const told = part("div", "", said, { role: "status", "aria-live": "polite" }), more = part("div", "", said);
  run.textContent = "Run the tests";
  compare.textContent = "Compare with ours";
  over.textContent = "Start over";
  over.title = "Put the first text back; yours is kept as an attempt";

  // What Python has not written yet outlives this page.
  const store = `convgrad ${model.get("folder")} ${model.get("puzzle")}`;
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
  // What a saved notebook shows of this: the text, if one was written, and what it was judged.
  const withText = (html, text) => {
    if (text === model.get("begun")) return html;
    const judged = el.classList.contains("convgrad-changed") ? "" : model.get("judged");
    const verdict = `<p><b>${escape(judged || "yours: not tried yet")}</b></p>`;
    return html.replace("<details>", () => `${verdict}<details><summary>What you wrote</summary><pre>${escape(text)}</pre></details><details>`);
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
    const mark = model.get("mark"), lines = area.value.split("\n");
    const kernel = model.get("ours").split("\n"), [official, mine] = [kernel, lines].map(all => all.map(compared));
    const differs = (line, others) => line && !others.includes(line) ? "convgrad-differs" : "";
    lay(colored(area.value, signs), copy, i => `${i + 1 === mark.line ? "convgrad-marked" : ""} ${differs(mine[i], official)}`);
    lay(colored(model.get("ours"), signs), ours, i => differs(official[i], mine));
    if (mark.line && mark.line <= lines.length) {  // the same words once more, of which only the line below is seen
      const line = lines[mark.line - 1], [from, to] = [mark.column - 1, mark.column - 1 + mark.length];
      const under = part("span", "convgrad-under", copy.children[mark.line - 1]);
      under.innerHTML = `${escape(line.slice(0, from))}<u class="convgrad-mark">${escape(line.slice(from, to)) || " "}</u>${escape(line.slice(to))}`;
    }
  };
  const history = new History("");
  const lineOf = place => area.value.slice(0, place).split("\n").length - 1;
  const changed = kind => {
    history.add(area.value, area.selectionStart, kind);
    el.classList.add("convgrad-changed");  // the verdict and its mark are those of an older text
    storage.setItem(store, area.value);  // at once: the page may be closed before it is written
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => tell("keep"), KEPT_AFTER);
  };
  const replace = (from, to, text, mode = "end") => {
    area.setRangeText(text, from, to, mode);
    changed("");
    copy.children[lineOf(area.selectionEnd)].scrollIntoView({ block: "nearest" });
  };
  const insert = text => replace(area.selectionStart, area.selectionEnd, text);
  const move = by => {
    const { value } = area, text = history.move(by);
    if (text === undefined) return;
    let alike = 0;
    while (alike < Math.min(text.length, value.length) && text.at(-1 - alike) === value.at(-1 - alike)) alike++;
    area.value = text;
    area.setSelectionRange(text.length - alike, text.length - alike);
    changed("");
    copy.children[lineOf(area.selectionEnd)].scrollIntoView({ block: "nearest" });
  };
  const eachLine = change => {  // of the selection; the lines stay selected, or the caret stays in its line
    const { selectionStart: from, selectionEnd: to, value } = area, first = value.lastIndexOf("\n", from - 1) + 1;
    const end = value.indexOf("\n", to > from && value[to - 1] === "\n" ? to - 1 : to), last = end < 0 ? value.length : end;
    const lines = value.slice(first, last), made = change(lines.split("\n")).join("\n");
    replace(first, last, made, "select");
    const caret = Math.max(first, to + made.length - lines.length);
    if (from === to) area.setSelectionRange(caret, caret);
  };
  const indent = back => {  // the selected lines; without a selection, two spaces
    if (area.selectionStart === area.selectionEnd && !back) return insert("  ");
    eachLine(lines => lines.map(line => back ? line.replace(/^ {1,2}/, "") : line && `  ${line}`));
  };
  const comment = () => eachLine(lines => {  // or comments no longer, where all of them are
    const written = lines.filter(line => line.trim()), within = Math.min(...written.map(line => line.search(/\S/)));
    const all = written.every(line => line.trimStart().startsWith(sign));
    return lines.map(line => {
      if (!line.trim()) return line;
      if (!all) return `${line.slice(0, within)}${sign} ${line.slice(within)}`;
      const at = line.indexOf(sign);
      return line.slice(0, at) + line.slice(at + sign.length).replace(/^ /, "");
    });
  });

  area.addEventListener("input", event => changed(event.inputType));
  area.addEventListener("beforeinput", event => {  // from the browser's menu
    const by = { historyUndo: -1, historyRedo: 1 }[event.inputType];
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  area.addEventListener("blur", () => waiting && tell("keep"));
  let leaving = false;
  area.addEventListener("keydown", event => {
    const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    if ((control || event.shiftKey) && key === "enter") tell("run");
    else if (asksToSave(event)) {
      tell("keep");
      saveNotebook(event, model);
    }
    else if (control && key === "z") move(event.shiftKey ? 1 : -1);
    else if (control && key === "y") move(1);
    else if (control && key === "/") comment();
    else if (key === "tab" && !leaving) indent(event.shiftKey);
    else if (key === "}" && /(^|\n) *  $/.test(area.value.slice(0, area.selectionStart))) {
      replace(area.selectionStart - 2, area.selectionEnd, "}");
    }
    else if (key === "enter" && !event.altKey) {
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      insert(`\n${line.match(/^\s*/)[0]}${/[{(:]\s*$/.test(line) ? "  " : ""}`);
    } else {
      if (key !== "shift") leaving = key === "escape";
      event.stopPropagation();
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
      const [, head, lines] = /^(The smallest .*\n)?([^]*)/.exec(verdict.drawing);  // a sentence wraps, a table does not
      if (head) part("p", "", place).textContent = head;
      part("pre", "convgrad-drawing", place, { tabindex: "0" }).textContent = lines;
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
  const beside = () => {  // the official kernel, from the first attempt on that compiles
    compare.hidden = !model.get("ours");
    draw();
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
    area.value = model.get("text");
    history.add(area.value, 0, "");
    el.classList.add("convgrad-changed");
    draw();
  };
  const left_over = storage.getItem(store);
  area.value = history.steps[0].text = left_over ?? model.get("text");
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
  show();
  ask();
  beside();
  if (left_over === model.get("text")) storage.removeItem(store);
  else if (left_over !== null) {
    el.classList.add("convgrad-changed");
    tell("found");
  }
}

export default { render };
