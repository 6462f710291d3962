// The front page: its picture at once, then its question and its exercise; the link keeps what is chosen.
import { picture, question } from "./recorded.js";
import touch from "./touch.js";

const recorded = name => fetch(new URL(`${name}.json`, import.meta.url)).then(answer => answer.json());
const at = id => document.getElementById(id);
const embedded = new URLSearchParams(location.search).has("embed");

// #w=1,2 is the weight at row 1, column 2, and #w=0,1&filter=2 one of another filter
function linked() {
  const asked = new URLSearchParams(location.hash.slice(1)), [kh, kw] = (asked.get("w") ?? "").split(",").map(Number);
  const values = {};
  if (asked.has("filter") && Number.isInteger(Number(asked.get("filter")))) values.filter = Number(asked.get("filter"));
  return [kh, kw].every(Number.isInteger) ? { ...values, kh, kw } : values;
}

function keepInLink({ filter, kh, kw }) {
  unmark();
  history.replaceState(null, "", `#w=${kh},${kw}${filter === 3 ? "" : `&filter=${filter}`}`);
}

function unmark() {
  document.querySelectorAll(".front-yours").forEach(mark => mark.remove());
  document.querySelectorAll(".front-wrong").forEach(cell => cell.classList.remove("front-wrong"));
}

// The first wrong number of a kernel, in the picture: the first test has its numbers.
function mark({ test, at: wrong }) {
  unmark();
  if (test !== 0) return at("wrong").hidden = true;
  shown.reach({ filter: 3, kh: wrong.row, kw: wrong.column });
  const yours = document.createElement("span"), cell = shown.cells.querySelector(`[data-cell="0 ${wrong.row} ${wrong.column}"]`);
  yours.className = "front-yours";
  yours.textContent = wrong.yours === "" ? "yours: nothing" : `yours: ${wrong.yours}`;
  yours.style.top = `${100 * (wrong.row + 0.5) / 3}%`;
  cell.classList.add("front-wrong");
  cell.closest(".convgrad-touch-grid").append(yours);
  at("wrong").hidden = false;
}

async function rest() {
  const [{ default: ask }, asked] = await Promise.all([import("./question.js"), recorded("question")]);
  question(at("question"), asked, ask);
  const parts = [import("./exercise.js"), import("./editor.js"), recorded("exercise")];
  const [{ exercise }, { default: editor }, kernel] = await Promise.all(parts);
  exercise(at("exercise"), kernel, editor, verdict => {
    if (verdict.at) return mark(verdict);
    unmark();
    at("wrong").hidden = true;
  });
  at("exercise").classList.add("front-ready");
}

const phone = matchMedia("(max-width: 700px)");
let shown;
async function show(values) {
  shown = picture(at("picture"), await recorded(phone.matches ? "phone" : "picture"), touch, { values, follow: keepInLink });
  window.convgradFront = shown;
}

await show(linked());
phone.addEventListener("change", () => show(shown.values()));
addEventListener("hashchange", () => shown.reach(linked()));
document.documentElement.dataset.answers = Math.round(performance.now());  // milliseconds until a finger is answered
if (embedded) {
  const tell = () => parent.postMessage({ convgrad: { height: document.documentElement.scrollHeight } }, "*");
  new ResizeObserver(tell).observe(document.body);
} else rest();
