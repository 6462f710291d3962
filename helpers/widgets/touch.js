// Named cells over a picture. The pointer previews one, a click or a drag chooses it, the arrow keys move from it; other
// cells are numbers that a click, a key or a drag changes. A window that has a frame is dragged as a whole.
//
// One message is under way at a time. What is only looked at is skipped where it comes too fast; of what is done to a
// grid, the newest waits.

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const TYPING = 2000;  // milliseconds after which another digit begins a new number
const SILENT_AFTER = 3000;  // milliseconds without an answer, after which Python is taken for dead
const ASKED_AFTER = 500;  // milliseconds after a slider, a number box or a button that plays was used
const SILENT = "Python does not answer yet. If it has ended, run the cells again.";

function render({ model, el }) {
  storeWhatStays(model);
  const sheet = model.get("sheet");
  let sent = null, look = null, walked = null, late;
  const done = new Map();  // by grid
  const next = () => {
    const [first] = done.values(), message = first ?? look;
    if (!message) return;
    if (first) done.delete(first.grid);
    else look = null;
    sent = model.get("asked").number + 1;
    model.set("asked", { number: sent, numbers: null, ...message });
    model.save_changes();
    late = setTimeout(() => { silence.textContent = SILENT; }, SILENT_AFTER);
  };
  const send = (grid, row, column, chosen, numbers = null) => {
    const message = { grid, row, column, chosen, numbers };
    if (chosen) {
      done.delete(grid);
      done.set(grid, message);
      look = null;
    } else look = message;
    if (sent === null) next();
  };
  const answered = () => {
    if (model.get("answered") < sent) return;
    sent = null;
    clearTimeout(late);
    silence.textContent = "";
    next();
    if (sent !== null) return;
    walked = null;
    tell();
  };

  const cells = new Map();
  const at = (grid, row, column) => cells.get(`${grid} ${row} ${column}`);
  const div = (role, label = "") => {
    const made = document.createElement("div");
    made.setAttribute("role", role);
    if (label) made.setAttribute("aria-label", label);
    return made;
  };

  const lay = () => {
    const focused = el.contains(document.activeElement) && document.activeElement.dataset.cell;
    cells.clear();
    el.replaceChildren(...model.get("grids").map((grid, i) => {
      const box = div(grid.limits ? "group" : "grid", grid.label);
      box.className = "convgrad-touch-grid";
      const { width, height } = sheet;
      const [x, y] = [grid.x / width, grid.y / height], [w, h] = [grid.width / width, grid.height / height];
      box.style.cssText = `left:${100 * x}%;top:${100 * y}%;width:${100 * w}%;height:${100 * h}%;` +
        `grid-template:repeat(${grid.rows},1fr)/repeat(${grid.columns},1fr)`;
      for (let row = 0; row < grid.rows; row++) {
        const line = div(grid.limits ? "presentation" : "row");
        line.style.display = "contents";
        for (let column = 0; column < grid.columns; column++) line.append(cell(i, grid, row, column));
        box.append(line);
      }
      return box;
    }));
    el.append(frame, silence);
    choose();
    tell();
    if (focused) cells.get(focused)?.focus({ preventScroll: true });
  };

  const cell = (i, grid, row, column) => {
    const name = grid.names[column] ?? `row ${row}, column ${column}`;
    const made = div(grid.limits ? "spinbutton" : "gridcell", `${grid.label}, ${name}`);
    made.dataset.cell = `${i} ${row} ${column}`;
    made.tabIndex = -1;
    cells.set(made.dataset.cell, made);
    (grid.limits ? changes : chooses)(made, i, grid, row, column);
    return made;
  };

  const chooses = (made, i, grid, row, column) => {
    made.addEventListener("pointerenter", event => send(i, row, column, !grid.passing && event.buttons === 1));
    made.addEventListener("pointerdown", event => {
      made.releasePointerCapture?.(event.pointerId);  // so that a drag enters the cells that it passes
      made.focus({ preventScroll: true });
      send(i, row, column, !grid.passing);
      event.preventDefault();
    });
    made.addEventListener("keydown", event => {
      const [down, right] = MOVES[event.key] ?? [0, 0], to = at(i, row + down, column + right);
      if (!to || (to === made && event.key !== "Enter" && event.key !== " ")) return;
      to.focus({ preventScroll: true });
      send(i, row + down, column + right, !grid.passing);
    });
    if (!grid.passing) return;
    made.addEventListener("focus", () => made.matches(":focus-visible") && send(i, row, column, false));
    made.addEventListener("blur", () => send(-1, 0, 0, false));
  };

  // Cells that are numbers: all numbers of a grid are sent together, so that none is lost where they change fast.
  const now = new Map();  // the numbers of a grid, by its place
  const changes = (made, i, grid, row, column) => {
    const { low, high, step, upright } = grid.limits, place = row * grid.columns + column;
    let typed = "", since = 0, pressed = false;
    const set = value => {
      const to = Number((low + Math.round((Math.min(Math.max(value, low), high) - low) / step) * step).toFixed(6));
      now.get(i)[place] = to;
      made.setAttribute("aria-valuenow", to);
      send(i, row, column, true, [...now.get(i)]);
    };
    const value = () => now.get(i)[place];
    const turn = () => set(value() + step > high + step / 2 ? low : value() + step);
    const reached = event => {
      const { bottom, height } = made.getBoundingClientRect();
      set(low + (high - low) * (bottom - event.clientY) / height);
    };
    const allowed = text => /\d/.test(text) && Number(text) >= low && Number(text) <= high;
    const type = sign => {  // "-" and "2" are -2; what would be out of range begins anew
      const longer = performance.now() - since < TYPING ? typed + sign : sign;
      since = performance.now();
      typed = allowed(longer) || /^(-?\.?)$/.test(longer) ? longer : sign;
      if (allowed(typed)) set(Number(typed));
    };
    made.setAttribute("aria-valuemin", low);
    made.setAttribute("aria-valuemax", high);
    made.classList.add(upright ? "convgrad-upright" : "convgrad-number");
    made.addEventListener("pointerdown", event => {
      if (event.button) return;
      made.focus({ preventScroll: true });
      pressed = true;
      if (upright) {
        made.setPointerCapture(event.pointerId);
        reached(event);
      }
      event.preventDefault();
    });
    made.addEventListener("pointermove", event => pressed && upright && reached(event));
    made.addEventListener("pointerup", () => { pressed = false; });
    made.addEventListener("lostpointercapture", () => { pressed = false; });
    made.addEventListener("click", event => upright || (event.shiftKey ? set(value() - step) : turn()));
    made.addEventListener("blur", () => { typed = ""; });
    made.addEventListener("keydown", event => {
      const { key } = event, [up, right] = MOVES[key] ?? [0, 0], to = place + right;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^[-\d.]$/.test(key)) return type(key);
      typed = "";
      if (up) set(value() - up * step);
      else if (right) at(i, Math.floor(to / grid.columns), to % grid.columns)?.focus({ preventScroll: true });
      else if (key === "PageUp" || key === "PageDown") set(value() + (key === "PageUp" ? 10 : -10) * step);
      else if (key === "Home" || key === "End") set(key === "Home" ? low : high);
      else if ((key === "Enter" || key === " ") && !upright) turn();
    });
    made.addEventListener("focus", () => {
      for (const [name, each] of cells) if (name.startsWith(`${i} `)) each.tabIndex = each === made ? 0 : -1;
    });
  };
  const tell = () => {  // what Python has, unless newer numbers are on their way
    if (sent !== null) return;
    model.get("numbers").forEach((numbers, i) => {
      now.set(i, [...numbers]);
      numbers.forEach((value, place) => {
        const { columns } = model.get("grids")[i];
        at(i, Math.floor(place / columns), place % columns)?.setAttribute("aria-valuenow", value);
      });
    });
  };

  const silence = div("alert");
  silence.className = "convgrad-silence";
  const frame = document.createElement("div");
  frame.className = "convgrad-touch-frame";
  frame.tabIndex = 0;
  frame.setAttribute("role", "application");
  frame.setAttribute("aria-label", "the frame: drag it, or move it by the arrow keys");
  const to = (row, column) => send(model.get("grids").length, row, column, true);  // after the grids: the window
  let held = null, under = null;
  const seen = event => {  // the cell below the frame
    const found = el.getRootNode().elementsFromPoint(event.clientX, event.clientY).find(each => cells.has(each.dataset?.cell));
    if (found?.dataset.cell === under) return;
    under = found?.dataset.cell;
    if (found) send(...under.split(" ").map(Number), false);
  };
  frame.addEventListener("pointerleave", () => under = null);
  const place = () => {
    const { x, y, width, height } = model.get("window");
    frame.hidden = width === undefined;
    frame.style.cssText = `left:${100 * x / sheet.width}%;top:${100 * y / sheet.height}%;` +
      `width:${100 * width / sheet.width}%;height:${100 * height / sheet.height}%`;
  };
  frame.addEventListener("pointerdown", event => {
    const { row, column } = model.get("window");
    frame.setPointerCapture(event.pointerId);
    frame.focus({ preventScroll: true });
    if (under) send(-1, 0, 0, false);  // what was looked at is not what is dragged
    under = null;
    held = { x: event.clientX, y: event.clientY, row, column, to: `${row} ${column}` };
    event.preventDefault();
  });
  frame.addEventListener("pointermove", event => {
    if (held === null) return seen(event);
    const { down, right } = model.get("window"), scale = el.clientWidth / sheet.width;
    const row = held.row + Math.round((event.clientY - held.y) / (down * scale));
    const column = held.column + Math.round((event.clientX - held.x) / (right * scale));
    if (held.to === `${row} ${column}`) return;
    held.to = `${row} ${column}`;
    to(row, column);
  });
  frame.addEventListener("lostpointercapture", () => held = null);
  frame.addEventListener("keydown", event => {
    const [down, right] = MOVES[event.key] ?? [0, 0];
    if (!down && !right) return;
    walked ??= model.get("window");  // keys come faster than Python answers
    walked = { row: walked.row + down, column: walked.column + right };
    to(walked.row, walked.column);
  });

  const choose = () => {
    const places = model.get("chosen").map(place => place.join(" ")), grids = model.get("grids");
    for (const [name, each] of cells) {
      const grid = grids[parseInt(name)];
      if (!grid.limits) each.setAttribute("aria-selected", places.includes(name));
      const first = name.endsWith(" 0 0") && !places.some(place => place.startsWith(`${parseInt(name)} `));
      each.tabIndex = places.includes(name) || first ? 0 : -1;
    }
  };

  el.classList.add("convgrad-touch");
  el.model = model;  // for a page that showed another picture before
  el.style.aspectRatio = `${sheet.width} / ${sheet.height}`;
  keepKeys(el, model);
  el.addEventListener("pointerleave", () => send(-1, 0, 0, false));  // back to what was chosen
  model.on("change:answered", answered);
  model.on("change:grids", lay);
  model.on("change:chosen", choose);
  model.on("change:numbers", tell);
  model.on("change:window", place);
  place();
  lay();
  let asking;  // a slider does not wait for Python: what is chosen is asked for again, so that silence is said
  const unwatch = nameControls(el, model, () => {
    clearTimeout(asking);
    asking = setTimeout(() => sent === null && send(-1, 0, 0, false), ASKED_AFTER);
  });
  return () => {
    clearTimeout(late);
    clearTimeout(asking);
    unwatch();
  };
}

// What ipywidgets does not say of the controls around a picture: each slider's handle takes the name of the number box
// above it, the buttons that play have names, a fold says whether Python has opened it, and a step to try says when it is done;
// now, and whenever a control is added or changes. Keys stay in all of it. `used` is called when a control is used.
function nameControls(el, model, used) {
  let watching;
  const name = () => {
    const explorer = el.closest(".convgrad-explorer"), each = (what, act) => explorer.querySelectorAll(what).forEach(act);
    if (!explorer) return;
    keepKeys(explorer, model);
    each(".convgrad-control, .convgrad-below", control => control.onpointerdown = control.onkeydown = used);
    each("[role=slider]", handle => handle.setAttribute("aria-label",
      handle.closest(".convgrad-control").querySelector("label").textContent));
    each(".widget-play button", (button, i) => button.title = ["play or pause", "back to the start", "repeat"][i]);
    each("button.convgrad-fold", fold => fold.setAttribute("aria-expanded", fold.classList.contains("convgrad-open")));
    each(".convgrad-steps", steps => steps.setAttribute("role", "list"));
    each(".convgrad-steps > *", step => {
      step.setAttribute("role", "listitem");
      step.setAttribute("aria-live", "polite");
    });
    if (watching) return;
    watching = new MutationObserver(name);
    watching.observe(explorer, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
  };
  requestAnimationFrame(name);
  return () => watching?.disconnect();
}

export default { render };
