// A question, a place for its answer, and after an attempt the reply; the explanation opens only then.
// The answer is typed, or words are laid on cards: it is a text in both cases.

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
    const text = answer.read();
    clearTimeout(silence);
    silence = setTimeout(silent, SILENT_AFTER);
    stored("setItem", store, text);
    try {
      model.send({ answer: text, whole, number: sent = Date.now() });
    } catch {  // the page knows already that Python has ended
      silent();
    }
  };
  const answer = (model.get("cards") ? laid : typed)({ model, form, label, tell });
  const send = part("button", "convgrad-send jupyter-button", form, "Answer");
  const reply = part("p", "convgrad-reply", el, "", { role: "status", "aria-live": "polite" });
  const why = part("details", "convgrad-why", el);
  part("summary", "", why, "Explanation");
  const words = part("p", "", why);

  const silent = () => rich(reply, SILENT);
  form.addEventListener("submit", event => {
    event.preventDefault();
    tell(true);
  });
  el.setAttribute("data-lm-suppress-shortcuts", "");
  el.addEventListener("keydown", event => event.stopPropagation());
  const show = () => {
    const { outcome = "", text = "" } = model.get("reply");
    reply.className = `convgrad-reply convgrad-${outcome}`;
    rich(reply, text);
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

// A word is chosen and then its card, or it is dragged there; what lay on the card changes places with it.
function laid({ model, form, tell }) {
  const { width, height, layers, places, sentence } = model.get("sheet"), names = model.get("cards");
  if (model.get("lost")) part("p", "convgrad-lost", form, model.get("lost"));
  const row = part("div", "convgrad-words", form, "", { role: "group", "aria-label": "words" });
  const sheet = part("div", places ? "convgrad-sheet" : "convgrad-row", form, "", {
    role: "group", "aria-label": sentence ? `cards. ${sentence}` : "cards",
  });
  for (const layer of layers ?? []) part("div", "convgrad-layer", sheet).innerHTML = layer;
  if (places) sheet.style.width = `${width}px`;
  const button = (className, parent, text) => part("button", className, parent, text, { type: "button" });
  const words = model.get("words").map(word => button("convgrad-word", row, word));
  const cards = names.map(name => {
    const card = button("convgrad-card", sheet, places ? "" : name);
    if (places) {
      const { x, y, width: w, height: h } = places[name];
      card.style.cssText = `left:${100 * x / width}%;top:${100 * y / height}%;width:${100 * w / width}%;height:${100 * h / height}%`;
    }
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

const inside = ({ left, right, top, bottom }, x, y) => left <= x && x <= right && top <= y && y <= bottom;

function rich(parent, text) {  // what stands between backquotes is code
  parent.replaceChildren(...text.split("`").map((piece, i) => {
    const made = document.createElement(i % 2 ? "code" : "span");
    made.textContent = piece;
    return made;
  }));
}

export default { render };
