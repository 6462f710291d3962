// What the package `wgsl_reflect` says of texts, which are parsed, or of runs, which are watched by `detectRaces` or
// executed by `WgslExec`, in a thread that ends where a run takes too long. The path of its module stands on the command
// line; the job comes in as JSON.

import { readFileSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [path, input] = isMainThread ? [process.argv[2], JSON.parse(readFileSync(0, 'utf8'))] : [workerData, null];
const { WgslExec, WgslParser, WgslReflect, detectRaces } = await import(pathToFileURL(path));

function refusal(text) {
  try {
    new WgslReflect(text);
    return null;
  } catch (error) {
    return String(error.message ?? error);
  }
}

function memory({ buffers, uniforms }, shape) {
  const made = buffers.map(words => Uint32Array.from(words));
  const bound = (words, i) => [i, uniforms.includes(i) ? { uniform: shape(words) } : shape(words)];
  return [{ 0: Object.fromEntries(made.map(bound)) }, made];
}

function attempt(work) {
  const begun = process.cpuUsage();
  const result = { crash: null, races: 0, errors: [], buffers: [] };
  try {
    Object.assign(result, work());
  } catch (error) {
    result.crash = String(error.message ?? error);
  }
  const { user, system } = process.cpuUsage(begun);
  return { ...result, seconds: (user + system) / 1e6 };
}

const WAYS = {
  watched: run => {
    const [groups, made] = memory(run, words => words.buffer);
    const { races, errors } = detectRaces(run.text, 'main', run.groups, groups);
    return { races: races.length, errors, buffers: made.map(words => [...words]) };
  },
  executed: run => {
    const [groups, made] = memory(run, words => words);
    new WgslExec(new WgslParser().parse(run.text)).dispatchWorkgroups('main', run.groups, groups);
    return { buffers: made.map(words => [...words]) };
  },
};

async function inTime(worker, job, limit) {
  let timer;
  const late = new Promise(resolve => {
    timer = setTimeout(() => resolve({ late: true, seconds: limit }), limit * 1000);
  });
  const answer = new Promise(resolve => worker.once('message', resolve));
  worker.postMessage(job);
  const result = await Promise.race([answer, late]);
  clearTimeout(timer);
  return result;
}

async function attempts(runs) {
  const answers = [];
  let worker = null;
  for (const run of runs) {
    worker ??= await started();
    const answer = await inTime(worker, { way: input.way, run }, input.limit);
    answers.push(answer);
    if (answer.late) {
      await worker.terminate();
      worker = null;
    }
  }
  return answers;
}

async function started() {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: path, stdout: true, stderr: true });
  await new Promise(resolve => worker.once('message', resolve));
  return worker;
}

if (isMainThread) {
  const answers = input.way === 'parsed' ? input.items.map(refusal) : await attempts(input.items);
  process.stdout.write(JSON.stringify(answers), () => process.exit(0));
} else {
  parentPort.on('message', ({ way, run }) => parentPort.postMessage(attempt(() => WAYS[way](run))));
  parentPort.postMessage('ready');
}
