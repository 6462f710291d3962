// The exercise of the front page: the editor of the lessons, and a verdict on what a kernel computes on the viewer's GPU.
// Its numbers are compared with recorded ones; what only the simulator of a lesson sees is not claimed.
import { Model } from "./recorded.js";

const LONGEST_WAIT = 20_000;  // milliseconds, after which the worker and its device are given up
const LESSON = "Lesson 02 runs it in a simulator, which needs no GPU.";
const RIGHT = "Your GPU computed these. Numbers can be right by luck: the lesson checks that.";
const NOT_RUN = {
  none: `This browser finds no GPU for the page, or has no WebGPU: Chrome and Edge 113, Safari 26 and Firefox 141 have it, and newer ones. ${LESSON}`,
  lost: "The browser took the GPU away while your kernel ran. Your text is kept: run it again.",
  late: "Your GPU gave no answer for 20 seconds, so the page gave it up. Your text is kept: does each loop end?",
  loop: `The page cannot put a limit on a loop of this text, so it does not run it. ${LESSON}`,
  interface: "The kernel must have the function `main` and the four bindings that it began with.",
  failed: "The browser could not run this kernel.",
};
const ENDLESS = test => `In the test ${test}, a thread made more than 50,000 turns in its loops, and the page ended them. When does each of your loops end?`;
const KEPT = "kept in this browser";
const NOT_KEPT = "This browser keeps nothing for this page: copy your text before you close it.";
const ELSEWHERE = "This text was changed in another tab. What you type here takes its place.";

const close = (one, other) => one === other || (Number.isNaN(one) && other !== other);
const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const number = value => value === null ? "" : String(Number(value.toPrecision(8)));

// What is wrong with the outputs of all tests, as a verdict that the editor shows; the first wrong place is `at`.
export function judged(recording, outputs) {
  const { tests, mistakes, words } = recording;
  const wrong = tests.map(({ right }, i) => right.flatMap((value, at) => close(value, outputs[i][at]) ? [] : [at]));
  const failed = tests.flatMap((_, i) => wrong[i].length ? [i] : []), passed = tests.length - failed.length;
  const count = `${passed} of ${tests.length} tests pass`;
  if (!failed.length) return { kind: "right", headline: "right numbers (all tests)", detail: RIGHT, count };
  const [first] = failed, sentence = (i, kind) => {
    const [at] = wrong[i], { columns, right } = tests[i], row = Math.floor(at / columns), column = at % columns;
    const values = { wrong: wrong[i].length, size: right.length, row, column, yours: number(outputs[i][at]), right: number(right[at]) };
    return { text: fill(words[kind(values, outputs[i][at])], values), row, column, yours: values.yours };
  };
  const whole = sentence(first, ({ wrong }, value) => value === null ? "unwritten" : wrong === 1 ? "one" : "many");
  const fits = mistakes.filter(({ outputs: recorded }) => recorded.some(each =>
    each.every((output, i) => output.every((value, at) => close(value, outputs[i][at])))));
  const named = fits.length === 1 ? fits[0] : null;
  const all = failed.length === tests.length ? "all tests" : failed.map(i => tests[i].name).join(", ");
  return {
    kind: "wrong",
    headline: `wrong (${all})`,
    detail: [`In ${tests[first].name}, ${whole.text}.`, ...named?.words ?? []].join("\n"),
    tests: tests.map(({ name }, i) => ({
      names: name, said: wrong[i].length ? `wrong: ${sentence(i, () => "listed").text}` : "right numbers",
    })),
    count,
    named: named?.name ?? "",
    test: first,
    at: whole,
  };
}

// The exercise in `el`; `judge` is called with each verdict.
export function exercise(el, recording, view, judge) {
  const { puzzle, folder, begun, words, longest, tries, ours } = recording, store = `convgrad ${folder} ${puzzle}`;
  let worker = null, tried = 0;
  const kept = () => {
    try {
      return localStorage.getItem(store) !== null ? KEPT : NOT_KEPT;
    } catch {
      return NOT_KEPT;
    }
  };
  const say = (headline, detail, state = kept(), more = {}) => {
    const verdict = { kind: "wrong", headline, detail, ...more };
    model.put({ running: false, verdict, state });
    judge(verdict);
    setTimeout(() => el.querySelector(".convgrad-said")?.scrollIntoView({ block: "nearest" }));
  };
  const code = text => text.replace(/\/\/.*|\/\*[^]*?(?:\*\/|$)/g, "").replace(/\s/g, "");

  async function run(text) {
    model.put({ running: true, mark: {}, state: "running the tests ..." });
    if (text.length > longest) return say("does not compile", fill(words.long, { wrong: text.length.toLocaleString("en") }) + ".");
    if (code(text) === code(begun)) return say("not attempted", words.begun, kept(), { kind: "none" });
    if (!navigator.gpu) return say("not run", NOT_RUN.none);
    const answer = await answered(text);
    if (answer.error) {
      const { line, column, length, message } = answer.error, lines = text.split("\n");
      if (line && line <= lines.length) model.put({ mark: { line, column, length } });
      return say("does not compile", `Line ${line}: ${message}`);
    }
    if (answer.refused) {
      if (answer.refused === "endless") return say("not run to its end", ENDLESS(answer.test));
      return say("not run", NOT_RUN[answer.refused] + (answer.message ? `\nThe browser says: ${answer.message}` : ""));
    }
    tried++;
    const outputs = answer.outputs.map(output => output.map(value => value === recording.trap ? null : value));
    const verdict = judged(recording, outputs);
    if (verdict.kind === "right" || tried >= tries) model.put({ ours });
    say(verdict.headline, verdict.detail, `${verdict.count}, ${kept()}`, verdict);
  }

  function answered(text) {
    worker ??= new Worker(new URL("run.js", import.meta.url), { type: "module" });
    return new Promise(done => {
      const give = answer => {
        clearTimeout(late);
        if (["late", "lost"].includes(answer.refused)) {
          worker?.terminate();  // with its device
          worker = null;
        }
        done(answer);
      };
      const late = setTimeout(() => give({ refused: "late" }), LONGEST_WAIT);
      worker.onmessage = ({ data }) => give(data);
      worker.onerror = () => give({ refused: "failed" });
      worker.postMessage({ text, tests: recording.tests, trap: recording.trap });
    });
  }

  const model = new Model({
    puzzle, folder, begun, text: begun, noun: "kernel", limits: "", state: "", running: false, conflict: false, heard: {},
    ours: "", judged: "", mark: {}, verdict: {},
  }, ({ kind, text, number }) => {
    if (kind === "over") text = begun;
    model.put({ text, heard: { number, written: kind === "over" }, state: kept() });
    if (kind === "run") run(text);
  });
  addEventListener("storage", event => event.key === store && event.newValue !== model.get("text") && model.put({ state: ELSEWHERE }));
  view.render({ model, el });
  return model;
}
