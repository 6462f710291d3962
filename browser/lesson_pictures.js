// Until Python is there, a lesson's small picture answers from its recording; then the live one takes its place, with
// what was chosen, when it shows that.
import { picture } from "./front/recorded.js";
import touch from "./front/touch.js";

const OFTEN = 300;  // milliseconds between two looks at the cells
const LONGEST = 30_000;  // milliseconds for which the recorded picture waits for the live one to follow it
const site = new URL(".", import.meta.url), lesson = new URLSearchParams(location.search).get("path")?.split("/").pop();
const recorded = async name => (await fetch(new URL(`recorded/${name}.json`, site))).json();
const names = (await recorded("cells"))[lesson] ?? {};
const chosen = new Map();  // by cells: the values and the steps that are to stay

async function show(image, id) {
  const el = document.createElement("div");
  el.className = "convgrad-recorded";
  image.after(el);
  const recording = await recorded(names[id]), before = chosen.get(id);
  const made = picture(el, recording, touch, { values: before?.values(), done: before?.done() });
  chosen.set(id, made);
  el.recorded = made;
  image.hidden = true;
}

function look() {
  const cells = window.jupyterapp?.shell.currentWidget?.content?.widgets ?? [];
  for (const { model, node } of cells) {
    const image = model.id in names && node.querySelector(".jp-RenderedImage > img");
    if (!image || image.parentNode.querySelector(".convgrad-recorded")) continue;
    const { top, bottom } = node.getBoundingClientRect();
    if (node.isConnected && bottom > -innerHeight && top < 2 * innerHeight) show(image, model.id);
  }
}
setInterval(look, OFTEN);

// The old output stays until the live picture of its cell shows what was chosen in it. `loading.js` calls this.
window.convgrad.handOver = (area, old) => {
  const el = old.querySelector(".convgrad-recorded"), made = el?.recorded, since = Date.now();
  if (!made) return old.remove();
  area.classList.add("convgrad-handing-over");
  const end = () => {
    clearInterval(waits);
    old.remove();
    area.classList.remove("convgrad-handing-over");
  };
  let asked = 0;
  const waits = setInterval(() => {
    const live = [...area.querySelectorAll(".convgrad-touch")].find(each => !old.contains(each))?.model;
    if (Date.now() - since > LONGEST || (asked && live?.get("answered") >= asked)) return end();
    if (!live || asked) return;
    asked = live.get("asked").number + 1;
    const { values, done } = made;
    live.set("asked", { number: asked, grid: -1, row: 0, column: 0, chosen: true, numbers: null, values: values(), done: done() });
    live.save_changes();
  }, 50);
};
