// Runs in Python's worker, before Pyodide: it tells the page how much of Python is here. `SIZES` is filled in by site.py.
(function () {
  var SIZES = {}; // bytes, by the names of files
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
})();
