// A worker that runs a kernel on the tests of an exercise, on the viewer's GPU. No browser can stop a kernel, so each
// loop counts its turns and ends after MOST of them; the page gives up the worker, with its device, where no answer comes.

const MOST = 50_000;  // turns that a thread may make in all its loops together; the official kernel makes 120
const STOPPED = 9;  // the binding in which a loop that was ended is noted

const blank = words => words.replace(/[^\n]/g, " ");

// The text with a count in each loop, in the same lines; nothing where the body of a loop is not found.
export function bounded(text) {
  const code = text.replace(/\/\/.*|\/\*[^]*?(?:\*\/|$)/g, blank);
  let made = "", at = 0;
  for (const { index } of code.matchAll(/\b(?:for|while|loop)\b/g)) {
    let depth = 0, end = index;
    while (end < code.length && (depth || code[end] !== "{")) {
      depth += { "(": 1, ")": -1 }[code[end]] ?? 0;
      end++;
    }
    if (end === code.length || end < at) return null;
    made += `${text.slice(at, end + 1)} convgrad_turns += 1u; if (convgrad_turns > ${MOST}u) { atomicStore(&convgrad_stopped, 1u); break; }`;
    at = end + 1;
  }
  return `${made}${text.slice(at)}
var<private> convgrad_turns: u32;
@group(0) @binding(${STOPPED}) var<storage, read_write> convgrad_stopped: atomic<u32>;`;
}

async function compiled(device, code) {  // the module, or what keeps it from compiling
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code }), { messages } = await module.getCompilationInfo();
  await device.popErrorScope();
  const error = messages.find(message => message.type === "error");
  return error ? { error: { line: error.lineNum, column: error.linePos, length: error.length, message: error.message } } : { module };
}

let device = null, lost = null;
async function opened() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw Error("none");
  device = await adapter.requestDevice();
  lost = device.lost.then(() => { throw Error("lost"); });
  lost.catch(() => { device = null; });
}

const KINDS = ["read-only-storage", "read-only-storage", "storage", "uniform"];

async function run(text, tests, trap) {
  const plain = await compiled(device, text), code = bounded(text);
  if (plain.error) return plain;
  const { module } = code ? await compiled(device, code) : {};
  if (!module) return { refused: "loop" };
  const entry = (binding, type) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } });
  const entries = [...KINDS.map((type, i) => entry(i, type)), entry(STOPPED, "storage")];
  const layout = device.createBindGroupLayout({ entries }), pipelines = { bindGroupLayouts: [layout] };
  device.pushErrorScope("validation");
  const pipeline = device.createComputePipeline({ layout: device.createPipelineLayout(pipelines), compute: { module } });
  const problem = await device.popErrorScope();
  if (problem) return { refused: "interface", message: problem.message };
  const outputs = [];
  for (const test of tests) {
    const [output, stopped] = await passed(pipeline, layout, test, trap);
    if (stopped) return { refused: "endless", test: test.name };
    outputs.push(output);
  }
  return { outputs };
}

async function passed(pipeline, layout, { inputs, right, params, workgroups }, trap) {
  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const buffer = (array, usage) => {
    const made = device.createBuffer({ size: array.byteLength, usage: usage | COPY_SRC | COPY_DST });
    device.queue.writeBuffer(made, 0, array);
    return made;
  };
  const output = buffer(new Float32Array(right.length).fill(trap), STORAGE), stopped = buffer(new Uint32Array(1), STORAGE);
  const bound = [...inputs.map(numbers => buffer(new Float32Array(numbers), STORAGE)), output, buffer(new Uint32Array(params), UNIFORM)];
  const entries = [...bound.map((buffer, binding) => ({ binding, resource: { buffer } })), { binding: STOPPED, resource: { buffer: stopped } }];
  const size = 4 * right.length, read = device.createBuffer({ size: size + 4, usage: MAP_READ | COPY_DST });
  const commands = device.createCommandEncoder(), pass = commands.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
  commands.copyBufferToBuffer(output, 0, read, 0, size);
  commands.copyBufferToBuffer(stopped, 0, read, size, 4);
  device.queue.submit([commands.finish()]);
  await read.mapAsync(GPUMapMode.READ);
  const numbers = read.getMappedRange().slice(0);
  [...bound, stopped, read].forEach(buffer => buffer.destroy());
  return [[...new Float32Array(numbers, 0, right.length)], new Uint32Array(numbers, size)[0]];
}

self.onmessage = async ({ data: { text, tests, trap } }) => {
  try {
    if (!device) await opened();
    self.postMessage(await Promise.race([run(text, tests, trap), lost]));
  } catch (error) {
    const known = ["none", "lost"].includes(error.message);
    self.postMessage(known ? { refused: error.message } : { refused: device ? "failed" : "lost", message: error.message });
  }
};
