// Asks Tint, the compiler of Chromium, through the package `webgpu`: a list of texts comes in as JSON, and an answer
// for each goes into the file that is named, a line of JSON: null where it takes the text, or [line, column, message]
// of its first error. The first line says which package is asked, or what is missing.

import { openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PACKAGE = 'webgpu';
const FEATURES = ['shader-f16', 'subgroups'];
const { resolve } = createRequire(join(process.cwd(), 'here'));  // looks where a script in this folder would

const out = openSync(process.argv[2], 'w');  // the package prints to the standard output, too

function say(what) {
  writeSync(out, JSON.stringify(what) + '\n');
}

function found() {
  try {
    return resolve(PACKAGE);
  } catch {
    return null;
  }
}

async function device(path) {
  const { create, globals } = await import(pathToFileURL(path));
  Object.assign(globalThis, globals);
  globalThis.gpu = create(['backend=null']);  // compiles without an adapter; it lives as long as its device
  const adapter = await globalThis.gpu.requestAdapter();
  if (!adapter) return null;
  return adapter.requestDevice({ requiredFeatures: FEATURES.filter(name => adapter.features.has(name)) });
}

async function answer(compiler, code) {
  compiler.pushErrorScope('validation');
  const { messages } = await compiler.createShaderModule({ code }).getCompilationInfo();
  await compiler.popErrorScope();
  const error = messages.find(({ type }) => type === 'error');
  return error ? [error.lineNum, error.linePos, error.message] : null;
}

async function main() {
  const path = found();
  const compiler = path && await device(path);
  if (!compiler) return say({ missing: path ? 'adapter' : PACKAGE });
  const { version } = JSON.parse(readFileSync(join(path, '..', 'package.json')));
  say({ asked: `${PACKAGE} ${version}` });
  for (const text of JSON.parse(readFileSync(0, 'utf8'))) say(await answer(compiler, text));
}

await main();
process.exit(0);  // the package keeps Node alive
