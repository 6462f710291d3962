// Runs in Python's worker, behind Pyodide's script: it opens what is stored compressed, too, and tells the page how much
// of Python is here. `SIZES` and `LIST` are filled in by packages.py.
(function () {
  var SIZES = {}; // bytes that are sent, by the names of files
  var LIST = ""; // the name of the list of packages
  var far = { done: 0, all: 0 };
  for (var name in SIZES) far.all += SIZES[name];

  function came(address) {
    var file = address.split("/").pop();
    far.done += SIZES[file] || 0;
    delete SIZES[file];
    self.postMessage({ convgrad: far });
  }

  var read = Response.prototype.arrayBuffer, compile = WebAssembly.instantiateStreaming;
  Response.prototype.arrayBuffer = function () {
    var address = this.url;
    return read.call(this).then(function (content) { came(address); return content; });
  };
  WebAssembly.instantiateStreaming = function (response, imports) {
    return compile.call(WebAssembly, response, imports).then(function (made) { came("pyodide.asm.wasm"); return made; });
  };

  var load = self.loadPyodide, plain = self.fetch;

  async function begin(options) {
    var python = await load(Object.assign({ lockFileURL: options.indexURL + LIST }, options));
    python.runPython("import convgrad_start");
    return python;
  }

  self.loadPyodide = begin;
  if (!self.DecompressionStream) return came("pyodide.asm.js"); // whose way is not seen then

  async function opened(address, type) {
    var packed = (await plain(address + ".packed")).body;
    return new Response(packed.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
  }

  self.fetch = function (address) {
    return /\.wasm$/.test(address) ? opened(address, "application/wasm") : plain.apply(self, arguments);
  };
  self.loadPyodide = async function (options) { // with the script that it would load itself
    var script = await opened(options.indexURL + "pyodide.asm.js", "text/javascript");
    importScripts(URL.createObjectURL(await script.blob()));
    came("pyodide.asm.js");
    return begin(options);
  };
})();
