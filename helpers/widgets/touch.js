// Named cells over a picture: the pointer previews one, a click or a drag chooses it, the arrow keys move from it.
// A window that has a frame is dragged as a whole.
//
// One message is under way at a time, and the newest place waits: pictures are skipped, never queued.

function render({ model, el }) {
  const sheet = model.get("sheet");
  let sent = null, waiting = null;
  const send = (grid, row, column, chosen) => {
    waiting = { grid, row, column, chosen };
    if (sent === null) next();
  };
  const next = () => {
    if (waiting === null) return;
    sent = model.get("asked").number + 1;
    model.set("asked", { number: sent, ...waiting });
    model.save_changes();
    waiting = null;
  };
  const answered = () => {
    if (model.get("answered") < sent) return;
    sent = null;
    next();
  };

  const cells = new Map();
  const at = (grid, row, column) => cells.get(`${grid} ${row} ${column}`);
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  const lay = () => {
    const focused = document.activeElement?.dataset?.cell;
    cells.clear();
    el.replaceChildren(...model.get("grids").map((grid, i) => {
      const box = document.createElement("div");
      box.className = "convgrad-touch-grid";
      box.setAttribute("role", "grid");
      box.setAttribute("aria-label", grid.label);
      const { width, height } = sheet;
      const [x, y] = [grid.x / width, grid.y / height], [w, h] = [grid.width / width, grid.height / height];
      box.style.cssText = `left:${100 * x}%;top:${100 * y}%;width:${100 * w}%;height:${100 * h}%;` +
        `grid-template:repeat(${grid.rows},1fr)/repeat(${grid.columns},1fr)`;
      for (let row = 0; row < grid.rows; row++) {
        const line = document.createElement("div");
        line.setAttribute("role", "row");
        line.style.display = "contents";
        for (let column = 0; column < grid.columns; column++) line.append(cell(i, grid, row, column));
        box.append(line);
      }
      return box;
    }));
    el.append(frame);
    if (focused) [...cells.values()].find(each => each.dataset.cell === focused)?.focus();
    choose();
  };

  const cell = (i, grid, row, column) => {
    const made = document.createElement("div");
    made.setAttribute("role", "gridcell");
    made.setAttribute("aria-label", `${grid.label}, row ${row}, column ${column}`);
    made.dataset.cell = `${i} ${row} ${column}`;
    made.tabIndex = -1;
    made.addEventListener("pointerenter", event => send(i, row, column, event.buttons === 1));
    made.addEventListener("pointerdown", event => {
      made.releasePointerCapture?.(event.pointerId);  // so that a drag enters the cells that it passes
      made.focus({ preventScroll: true });
      send(i, row, column, true);
      event.preventDefault();
    });
    made.addEventListener("keydown", event => {
      const [down, right] = moves[event.key] ?? [0, 0], to = at(i, row + down, column + right);
      if (!(event.key in moves)) return;
      event.preventDefault();
      event.stopPropagation();
      if (to) { to.focus({ preventScroll: true }); send(i, row + down, column + right, true); }
    });
    cells.set(made.dataset.cell, made);
    return made;
  };

  const frame = document.createElement("div");
  frame.className = "convgrad-touch-frame";
  let held = null;
  const place = () => {
    const { x, y, width, height } = model.get("window");
    frame.hidden = width === undefined;
    frame.style.cssText = `left:${100 * x / sheet.width}%;top:${100 * y / sheet.height}%;` +
      `width:${100 * width / sheet.width}%;height:${100 * height / sheet.height}%`;
  };
  frame.addEventListener("pointerdown", event => {
    const { row, column } = model.get("window");
    frame.setPointerCapture(event.pointerId);
    held = { x: event.clientX, y: event.clientY, row, column, to: `${row} ${column}` };
    event.preventDefault();
  });
  frame.addEventListener("pointermove", event => {
    if (held === null) return;
    const { down, right } = model.get("window"), scale = el.clientWidth / sheet.width;
    const row = held.row + Math.round((event.clientY - held.y) / (down * scale));
    const column = held.column + Math.round((event.clientX - held.x) / (right * scale));
    if (held.to === `${row} ${column}`) return;
    held.to = `${row} ${column}`;
    send(model.get("grids").length, row, column, true);  // after the grids: the window
  });
  frame.addEventListener("lostpointercapture", () => held = null);

  const choose = () => {
    const places = model.get("chosen").map(place => place.join(" "));
    for (const [name, each] of cells) {
      each.setAttribute("aria-selected", places.includes(name));
      each.tabIndex = places.includes(name) ? 0 : -1;
    }
  };

  el.classList.add("convgrad-touch");
  el.style.aspectRatio = `${sheet.width} / ${sheet.height}`;
  el.setAttribute("data-lm-suppress-shortcuts", "");
  el.addEventListener("pointerleave", () => send(-1, 0, 0, false));  // back to what was chosen
  model.on("change:answered", answered);
  model.on("change:grids", lay);
  model.on("change:chosen", choose);
  model.on("change:window", place);
  place();
  lay();
  return nameControls(el);
}

// What ipywidgets does not say of the controls around a picture: each slider's handle takes the name of the number box
// above it, the buttons that play have names, a fold says whether Python has opened it, and a step to try says when it is done;
// now, and whenever a control is added or changes.
function nameControls(el) {
  let watching;
  const name = () => {
    const explorer = el.closest(".convgrad-explorer"), each = (what, act) => explorer.querySelectorAll(what).forEach(act);
    if (!explorer) return;
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
