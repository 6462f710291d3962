// The model of a widget that looks its answers up in a recording, where a lesson's asks Python. `touch.js`, `question.js`
// and `editor.js` do not notice the difference. `recorder.py` says what a recording has.

const SHOWN = 800;  // milliseconds for which each picture is shown while it plays
const [POINT, DRAG, PLAY] = ["point", "drag", "play"];  // what a reader does, where a step may ask for nothing else

export class Model {
  constructor(values, told) {
    Object.assign(this, { values, told, acts: [] });
  }

  get(name) {
    return this.values[name];
  }
  set(name, value) {  // by the widget, which then says that it is all
    this.values[name] = value;
  }
  save_changes() {
    queueMicrotask(() => this.told(this.values.asked));
  }

  send(message) {
    queueMicrotask(() => this.told(message));
  }
  on(event, act) {
    this.acts.push({ event, act });
  }
  put(values) {  // as Python does: all values change before the widget hears of any
    const changed = Object.keys(values).filter(name => JSON.stringify(values[name]) !== JSON.stringify(this.values[name]));
    Object.assign(this.values, values);
    for (const { event, act } of this.acts) if (changed.some(name => event === `change:${name}`)) act();
  }
}

function part(tag, className, parent, attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// A picture in `el`, with its steps, its controls and its sentence. `follow` is called with the values that are chosen.
export function picture(el, recording, touch, { values = {}, done: before, follow = () => {} } = {}) {
  const { names, states, steps, pieces, layouts, sheet } = recording;
  const keys = Object.keys(states).map(key => key.split(" ").map(Number));
  const done = before ?? steps.map(() => false);
  function named(key) {
    return Object.fromEntries(names.map((name, i) => [name, Number(key.split(" ")[i])]));
  }
  const keyOf = values => names.map(name => values[name]).join(" ");
  const among = (values, i) => {  // what a value may be beside those before it
    const fits = keys.filter(key => names.slice(0, i).every((name, j) => key[j] === values[name]));
    return [...new Set(fits.map(key => key[i]))];
  };
  function nearest(values, wanted) {  // of two as near, the larger
    const found = { ...values, ...wanted };
    names.forEach((name, i) => {
      const far = value => Math.abs(value - found[name]);
      found[name] = among(found, i).reduce((best, value) => far(value) <= far(best) ? value : best);
    });
    return found;
  }
  let chosen = nearest(named(recording.start), values), seen = null;

  el.replaceChildren();
  el.classList.add("convgrad-explorer");
  const row = part("div", "convgrad-steps", el);
  const boxes = steps.map(({ text }, i) => {
    const step = part("p", "convgrad-step", part("div", "", row));
    part("b", "", step).textContent = i + 1;
    const box = part("span", "convgrad-tick", step, { role: "img" });
    part("span", "", step).textContent = text;
    return box;
  });
  const above = part("div", "convgrad-controls", el);
  const controls = recording.front.map(name => control(above, name));
  const paper = part("div", "convgrad-picture", part("div", "convgrad-scrolls", el));
  const [still, moving, cells] = ["convgrad-layer", "convgrad-layer", ""].map(name => part("div", name, paper));
  paper.style.width = recording.width;
  const words = part("p", "convgrad-sentence", el, { role: "status", "aria-live": "polite" });

  function control(parent, name) {
    const label = part("label", "convgrad-control", parent);
    part("span", "", label).textContent = name;
    const texts = recording.choices[name];
    const box = part(texts ? "select" : "input", "", label, texts ? {} : { type: "range" });
    const shown = part("span", "", label, { "aria-hidden": "true" });
    box.addEventListener("input", () => reach({ [name]: Number(box.value) }));
    return values => {
      const allowed = among(values, names.indexOf(name));
      if (texts) box.replaceChildren(...allowed.map(value => new Option(texts[value], value)));
      else Object.assign(box, { min: Math.min(...allowed), max: Math.max(...allowed), step: allowed[1] - allowed[0] || 1 });
      box.value = values[name];
      shown.textContent = texts ? "" : values[name];
      box.disabled = allowed.length === 1;
    };
  }

  const stateOf = values => states[keyOf(values)];
  const lookOf = values => {  // what is pointed at, if anything, is the only value that no slider has
    const more = Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
    return stateOf(values).looks[JSON.stringify(more)];
  };
  const image = places => `${recording.head}${places.map(place => pieces[place]).join("")}</svg>`;
  let drawn = null;
  function show(values) {
    const state = stateOf(values), look = lookOf(values) ?? state, layout = layouts[state.layout], { grids } = layout;
    if (drawn !== layout) still.innerHTML = image(layout.still);
    drawn = layout;
    moving.innerHTML = image(look.moving);
    words.textContent = look.sentence;
    seen = values;
    controls.forEach(settle => settle(values));
    model.put({ grids, chosen: stateOf(chosen).chosen, window: state.window, numbers: grids.map(() => []) });
    return look;
  }
  const tick = (look, by) => {
    for (const i of look.done) done[i] ||= steps[i].by ? steps[i].by === by : by !== PLAY;
    boxes.forEach((box, i) => {
      box.textContent = done[i] ? "✓" : "";
      box.setAttribute("aria-label", done[i] ? "done" : "not done yet");
    });
  };
  function reach(values, by = "") {
    chosen = nearest(chosen, values);
    tick(show(chosen), by);
    follow(chosen);
  }

  function touched({ grid, row, column, chosen: keeps, number }) {
    const { grids, cells, clicked, dragged } = layouts[stateOf(seen).layout], isWindow = grid === grids.length;
    if (grid < 0) show(chosen);
    else {
      const values = isWindow ? Object.fromEntries(dragged.map((name, i) => [name, [row, column][i]]))
        : cells[grid][`${row} ${column}`] ?? {};
      if (keeps) reach(values, isWindow ? DRAG : POINT);
      else if (!clicked[grid] && !isWindow) tick(show(nearest(chosen, values)), POINT);
    }
    model.put({ answered: number });
  }
  const model = new Model({ sheet, asked: { number: 0 }, answered: 0 }, touched);

  let playing = null;
  const below = part("div", "convgrad-below", el), play = part("button", "convgrad-play", below, { type: "button" });
  play.hidden = !recording.played.length;
  const next = () => {  // the state after this one among those that differ in what is played alone
    const fixed = names.filter(name => !recording.played.includes(name));
    const all = keys.map(key => named(key.join(" "))).filter(values => fixed.every(name => values[name] === chosen[name]));
    return all[all.findIndex(values => keyOf(values) === keyOf(chosen)) + 1];
  };
  const stop = () => {
    clearInterval(playing);
    playing = null;
    play.textContent = next() ? "▶ Play" : "↺ Play again";
  };
  const turn = () => {
    const to = next();
    if (!to) return stop();
    reach(to, PLAY);
    if (!next()) stop();
  };
  play.addEventListener("click", () => {
    if (playing !== null) return stop();
    if (!next()) reach(Object.fromEntries(recording.played.map(name => [name, 0])), PLAY);
    else turn();
    play.textContent = "❚❚ Pause";
    playing = setInterval(turn, SHOWN);
  });
  paper.addEventListener("pointerdown", () => playing !== null && stop());

  show(chosen);
  tick({ done: [] }, "");
  touch.render({ model, el: cells });
  stop();
  return { model, reach, values: () => ({ ...chosen }), done: () => [...done], cells };
}

// A question; an answer is looked up by its number, and what is worked out, such as 24 * 24, by what comes out.
export function question(el, recording, view) {
  const { replies, tries, why, ...about } = recording;
  let wrong = 0;
  const model = new Model({ ...about, folder: "front", answer: "", reply: {}, why: "", heard: 0 }, ({ answer, whole, number }) => {
    if (whole) {
      const { outcome, text } = replies[numberIn(answer)] ?? replies.other;
      wrong += outcome === "wrong";
      model.put({ reply: { outcome, text: text.replace("{text}", answer.trim().slice(0, 100)) } });
      if (outcome === "right" || wrong >= tries) model.put({ why });
    }
    model.put({ answer, heard: number });
  });
  view.render({ model, el });
  return model;
}

export function numberIn(text) {  // the name of its reply
  const terms = text.trim().replace(/(\d),(?=\d{3}\b)/g, "$1").replace(/.*=/, "").split("+");
  const product = term => term.split(/[*×·x]/).map(factor => factor.trim() ? Number(factor) : NaN).reduce((a, b) => a * b);
  const sum = terms.map(product).reduce((a, b) => a + b);
  return !text.trim() ? "" : Number.isNaN(sum) ? "no number" : String(sum);
}
