// A question, a place for its answer, and after an attempt the reply; the explanation opens only then.
// The answer is typed, or words are laid on cards, or cells of a picture are marked: it is a text in all cases.

const SILENT_AFTER = 3000;  // milliseconds without an answer, after which Python is taken for dead
const SILENT = "Python does not answer yet. If it has ended, run the cells again: this page keeps your answer.";

function part(tag, className, parent, text = "", attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function stored(method, ...words) {  // the browser may refuse
  try {
    return localStorage[method](...words);
  } catch {
    return null;
  }
}

function render({ model, el }) {
  storeWhatStays(model);
  el.classList.add("convgrad-question");
  const form = part("form", "convgrad-ask", el);
  const label = part("label", "convgrad-asked", form);
  rich(part("span", "", label), model.get("asked"));
  const store = `convgrad ${model.get("folder")} ? ${model.get("name")}`;
  let sent = 0, silence = null;
  const tell = whole => {
    const text = tell.last = answer.read();
    clearTimeout(silence);
    silence = setTimeout(silent, SILENT_AFTER);
    stored("setItem", store, text);
    try {
      model.send({ answer: text, whole, number: sent = Date.now() });
    } catch {  // the page knows already that Python has ended
      silent();
    }
  };
  const [take, ask] = model.get("cells") ? [marked, "Check"] : [model.get("cards") ? laid : typed, "Answer"];
  const answer = take({ model, form, label, tell });
  part("button", "convgrad-send jupyter-button", form, ask);
  const reply = part("p", "convgrad-reply", el, "", { role: "status", "aria-live": "polite" });
  const why = part("details", "convgrad-why", el);
  part("summary", "", why, "Explanation");
  const words = part("p", "", why);

  const silent = () => rich(reply, SILENT);
  form.addEventListener("submit", event => {
    event.preventDefault();
    tell(true);
  });
  keepKeys(el, model);
  const show = () => {
    const { outcome = "", text = "", cells = {} } = model.get("reply");
    reply.className = `convgrad-reply convgrad-${outcome}`;
    rich(reply, text);
    answer.judge?.(cells);
    why.hidden = !model.get("why");
    why.open = outcome === "right";
    rich(words, model.get("why"));
  };
  const heard = () => {
    if (model.get("heard") !== sent) return;
    clearTimeout(silence);
    sent = 0;
    stored("removeItem", store);
    show();
  };
  model.on("change:reply", show);
  model.on("change:why", show);
  model.on("change:heard", heard);
  model.on("change:answer", () => sent || answer.write(model.get("answer")));  // given in another view
  const unheard = stored("getItem", store);
  answer.write(unheard ?? model.get("answer"));
  show();
  if (unheard !== null) tell(false);
}

function typed({ model, form, label }) {
  const box = part("input", "convgrad-answer jp-mod-styled", label, "", {
    type: "text", autocomplete: "off", placeholder: model.get("hint"), "data-lm-suppress-shortcuts": "",
  });
  box.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();  // by itself, the form does not notice the key in JupyterLab 4.4
  });
  return { read: () => box.value, write: text => { box.value = text; } };
}

// Cells of a picture are marked by a click, by dragging over them, or by their letters; the reply is drawn over them.
const KINDS = { right: ["✓", "right"], wrong: ["✗", "marked, but wrong"], missed: ["○", "left out"] };

function marked({ model, form, tell }) {
  const cells = model.get("cells"), named = new Map(), marks = new Set();
  const sheet = onPicture(model, form, "grid", "convgrad-cells");
  sheet.setAttribute("aria-multiselectable", "true");
  const { places, width, height } = model.get("sheet");
  if (!places) sheet.style.gridTemplateColumns = `repeat(${1 + cells.at(-1).column}, max-content)`;
  let rows = [], kinds = {};
  for (const { name, row, column } of cells) {
    rows[row] ??= part("div", "", sheet, "", { role: "row", style: "display: contents" });
    const cell = part("div", "convgrad-cell", rows[row], places ? "" : name, { role: "gridcell", tabindex: -1 });
    if (places) cell.style.cssText = placed(places[name], width, height);
    part("span", "convgrad-sign", cell, "", { "aria-hidden": "true" });
    named.set(name, { cell, where: name.startsWith("(") ? name : `${name}, row ${row}, column ${column}`, row, column });
  }
  const label = part("label", "convgrad-marks", form, "marked ");
  const box = part("input", "convgrad-answer jp-mod-styled", label, "", { type: "text", autocomplete: "off" });
  const legend = part("p", "convgrad-legend", form);
  box.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  const draw = () => {
    const used = new Set();
    for (const [name, { cell, where }] of named) {
      const kind = kinds[name], [sign, words] = KINDS[kind] ?? (marks.has(name) ? ["●", "marked"] : ["", "not marked"]);
      if (kind) used.add(kind);
      cell.className = `convgrad-cell ${kind ? `convgrad-is-${kind}` : marks.has(name) ? "convgrad-marked" : ""}`;
      cell.querySelector(".convgrad-sign").textContent = sign;
      cell.setAttribute("aria-selected", marks.has(name));
      cell.setAttribute("aria-label", `${where}, ${words}`);
    }
    legend.textContent = Object.entries(KINDS).filter(([kind]) => used.has(kind)).map(([, words]) => words.join(" ")).join("    ");
  };
  const read = text => {
    const pairs = [...text.matchAll(/(\d+)\s*,\s*(\d+)/g)].map(([, row, column]) => [Number(row), Number(column)]);
    marks.clear();
    for (const { name, row, column } of cells) {
      const is = pairs.length ? pairs.some(pair => pair[0] === row && pair[1] === column) : text.includes(name);
      if (is) marks.add(name);
    }
  };
  const write = text => {
    box.value = text;
    read(text);
    draw();
  };
  const mark = (name, on) => {
    (on ? marks.add(name) : marks.delete(name));
    kinds = {};
    box.value = cells.filter(cell => marks.has(cell.name)).map(cell => cell.name).join(" ");
    draw();
  };
  const toggle = name => {
    mark(name, !marks.has(name));
    tell(false);
  };
  const focus = name => {
    for (const [each, { cell }] of named) cell.tabIndex = each === name ? 0 : -1;
    named.get(name).cell.focus({ preventScroll: true });
  };
  let painting = null;  // whether a drag marks, or takes marks off
  for (const [name, { cell, row, column }] of named) {
    cell.addEventListener("pointerdown", event => {
      if (event.button) return;
      event.preventDefault();
      cell.releasePointerCapture?.(event.pointerId);  // so that a drag enters the cells that it passes
      focus(name);
      mark(name, painting = !marks.has(name));
      const end = () => {
        removeEventListener("pointerup", end);
        removeEventListener("pointercancel", end);
        painting = null;
        tell(false);
      };
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
    });
    cell.addEventListener("pointerenter", () => painting === null || mark(name, painting));
    cell.addEventListener("keydown", event => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const [down, right] = steps[event.key] ?? [0, 0];
      const to = cells.find(each => each.row === row + down && each.column === column + right);
      if ((down || right) && to) focus(to.name);
      if (["Enter", " "].includes(event.key)) toggle(name);
    });
  }
  form.addEventListener("keydown", event => {
    if (event.target === box || event.ctrlKey || event.metaKey || event.altKey || !named.has(event.key)) return;
    focus(event.key);
    toggle(event.key);
  });
  box.addEventListener("input", () => {
    kinds = {};
    read(box.value);
    draw();
  });
  box.addEventListener("change", () => {  // also when a checked box is left: the reply to it stays
    if (![tell.last, model.get("answer")].includes(box.value)) tell(false);
  });
  named.get(cells[0].name).cell.tabIndex = 0;
  draw();
  return {
    read: () => box.value,
    write,
    judge: found => {
      kinds = found;
      draw();
    },
  };
}

// A word is chosen and then its card, or it is dragged there; what lay on the card changes places with it.
function laid({ model, form, tell }) {
  const { width, height, places } = model.get("sheet"), names = model.get("cards");
  const row = part("div", "convgrad-words", form, "", { role: "group", "aria-label": "words" });
  const sheet = onPicture(model, form, "group", "convgrad-row");
  const button = (className, parent, text) => part("button", className, parent, text, { type: "button" });
  const words = model.get("words").map(word => button("convgrad-word", row, word));
  const cards = names.map(name => {
    const card = button("convgrad-card", sheet, places ? "" : name);
    if (places) card.style.cssText = placed(places[name], width, height);
    part("span", "convgrad-chip", card);
    return card;
  });
  let lying = names.map(() => ""), chosen = "", dragged = false;

  const draw = () => {
    cards.forEach((card, i) => {
      const chip = card.querySelector(".convgrad-chip");
      chip.textContent = lying[i];
      chip.classList.toggle("convgrad-empty", !lying[i]);
      card.setAttribute("aria-label", `${names[i]}: ${lying[i] || "no word yet"}`);
      card.classList.toggle("convgrad-chosen", Boolean(lying[i]) && lying[i] === chosen);
    });
    for (const word of words) {
      const on = names[lying.indexOf(word.textContent)];
      word.classList.toggle("convgrad-used", Boolean(on));
      word.setAttribute("aria-label", on ? `${word.textContent}, on ${on}` : word.textContent);
      word.setAttribute("aria-pressed", word.textContent === chosen);
    }
  };
  const lay = (word, place) => {  // beside all cards, the word is taken off
    const from = lying.indexOf(word);
    if (from >= 0) lying[from] = lying[place] ?? "";
    if (place >= 0) lying[place] = word;
    chosen = "";
    draw();
    tell(false);
  };
  const press = (target, byKey) => {
    const place = cards.indexOf(target);
    if (place >= 0 && chosen && chosen !== lying[place]) {
      lay(chosen, place);
      const next = words.find(word => !lying.includes(word.textContent));
      if (byKey) (lying.includes("") && next || form.querySelector(".convgrad-send")).focus();
      return;
    }
    const word = place < 0 ? target.textContent : lying[place];
    chosen = word === chosen ? "" : word;
    draw();
    if (byKey && chosen && place < 0) (cards[lying.indexOf("")] ?? cards[0]).focus();
  };

  for (const group of [words, cards]) {
    group.forEach((each, i) => each.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const other = { ArrowUp: words, ArrowDown: cards }[event.key];
      if (step) group[i + step]?.focus();
      else if (other) other[Math.min(i, other.length - 1)].focus();
      else if (["Enter", " "].includes(event.key)) press(each, true);  // JupyterLab 4.4 takes the key from a button
      else if (["Delete", "Backspace"].includes(event.key) && lying[cards.indexOf(each)]) lay(lying[i], -1);
      else if (event.key === "Escape") { chosen = ""; draw(); }
      else return;
      event.preventDefault();
    }));
    for (const each of group) {
      let held = null;
      each.addEventListener("pointerdown", event => {
        if (event.button || !event.target.closest(".convgrad-word, .convgrad-chip:not(.convgrad-empty)")) return;
        held = { x: event.clientX, y: event.clientY, shown: event.target, word: event.target.textContent, far: false };
        each.setPointerCapture(event.pointerId);
      });
      each.addEventListener("pointermove", event => {
        if (held === null) return;
        const [right, down] = [event.clientX - held.x, event.clientY - held.y];
        held.far ||= Math.hypot(right, down) > 6;
        if (!held.far) return;
        held.shown.classList.add("convgrad-held");
        held.shown.style.transform = `translate(${right}px, ${down}px)`;
      });
      const drop = event => {
        const was = held;
        held = null;
        if (!was?.far) return;
        was.shown.classList.remove("convgrad-held");
        was.shown.style.transform = "";
        dragged = true;
        setTimeout(() => { dragged = false; });  // after the click that ends a drag
        if (event.type === "pointercancel") return;
        const { clientX: x, clientY: y } = event;
        const place = cards.findIndex(card => inside(card.getBoundingClientRect(), x, y));
        if (place >= 0 || lying.includes(was.word)) lay(was.word, place);
      };
      each.addEventListener("pointerup", drop);
      each.addEventListener("pointercancel", drop);
      each.addEventListener("click", () => dragged || press(each, false));
    }
  }
  return {
    read: () => lying.some(Boolean) ? lying.join(", ") : "",
    write: text => {
      const found = text.split(",").map(word => word.trim());
      lying = names.map((_, i) => found[i] ?? "");
      draw();
    },
  };
}

// The picture, to lay its parts over it; where it is gone, that is said, and the parts stand by themselves.
function onPicture(model, form, role, alone) {
  const { width, layers, places, sentence } = model.get("sheet");
  if (model.get("lost")) part("p", "convgrad-lost", form, model.get("lost"));
  const noun = role === "grid" ? "cells" : "cards";
  const sheet = part("div", places ? "convgrad-sheet" : alone, form, "", {
    role, "aria-label": sentence ? `${noun}. ${sentence}` : noun,
  });
  for (const layer of layers ?? []) part("div", "convgrad-layer", sheet, "", { "aria-hidden": "true" }).innerHTML = layer;
  if (places) sheet.style.width = `${width}px`;
  return sheet;
}

const placed = ({ x, y, width: w, height: h }, width, height) =>
  `left:${100 * x / width}%;top:${100 * y / height}%;width:${100 * w / width}%;height:${100 * h / height}%`;

const inside = ({ left, right, top, bottom }, x, y) => left <= x && x <= right && top <= y && y <= bottom;

function rich(parent, text) {  // what stands between backquotes is code
  parent.replaceChildren(...text.split("`").map((piece, i) => {
    const made = document.createElement(i % 2 ? "code" : "span");
    made.textContent = piece;
    return made;
  }));
}

export default { render };
