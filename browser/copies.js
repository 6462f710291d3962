// A lesson that was corrected reaches who opened it before: JupyterLite keeps a copy of each lesson that it saved, and
// would open that copy for ever. A lesson says in its metadata what it was when it was served: its `version`, and a sum
// (CRC-32) of each cell's text. Where the reader changed no text, the copy goes; else the reader is asked, once.
(function () {
  var path = new URLSearchParams(location.search).get("path");
  var STORAGE = "JupyterLite Storage - " + new URL("..", location.href).pathname, KEEPS = "convgrad keeps " + path;

  function sum(text) {
    var bytes = new TextEncoder().encode(text), crc = -1;
    for (var i = 0; i < bytes.length; i++) {
      crc ^= bytes[i];
      for (var bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
  }

  function text(cell) {
    return [].concat(cell.source).join("");
  }

  function at(cells, cell) { // the place of a cell
    return cells.findIndex(function (each) { return each.id === cell.id; });
  }

  function changed(cell, sums) { // by the reader, or added
    return sum(text(cell)) !== sums[cell.id];
  }

  function done(request) { // what a request to the browser's storage comes to
    return new Promise(function (resolve, reject) {
      request.onsuccess = function () { resolve(request.result); };
      request.onerror = function () { reject(request.error); };
    });
  }

  function storage() { // the one that there is: none is made
    var request = indexedDB.open(STORAGE);
    request.onupgradeneeded = function () { request.transaction.abort(); };
    return done(request);
  }

  function merged(served, mine, sums) { // the new lesson, with the reader's texts in their places
    var cells = served.cells.filter(function (cell) { return !(cell.id in sums) || at(mine.cells, cell) >= 0; });
    var last = -1; // where the cell before is
    mine.cells.forEach(function (cell, place) {
      var i = at(cells, cell), next = mine.cells.slice(place).find(function (each) { return at(cells, each) >= 0; });
      if (i >= 0) last = i;
      if (!changed(cell, sums) || (i >= 0 && text(cell) === text(cells[i]))) return;
      if (i >= 0 && !changed(cells[i], sums)) cells[i] = cell; // the lesson did not change there
      else if (i >= 0) cells.splice(++last, 0, Object.assign({}, cell, { id: crypto.randomUUID().slice(0, 8) }));
      else {
        last = !(cell.id in sums) ? last + 1 : next ? at(cells, next) : cells.length; // below what was corrected
        cells.splice(last, 0, cell);
      }
    });
    return Object.assign({}, served, { cells: cells });
  }

  function take(served, sums) {
    var shown = window.jupyterapp.shell.currentWidget, mine = shown.content.model.sharedModel.toJSON();
    shown.content.model.fromJSON(merged(served, mine, sums));
    shown.context.save();
  }

  function ask(served, sums) {
    window.convgrad.say("corrected", "This lesson was corrected after you changed it. What do you want to see? Your "
      + "kernels and answers are kept in both cases.", {
      "The corrected lesson, with my texts": function () { take(served, sums); },
      "My copy": function () { localStorage.setItem(KEEPS, served.metadata.convgrad.version); },
    });
  }

  async function look() {
    var served = await (await fetch("../files/" + path, { cache: "no-cache" })).json();
    var database = await storage(), files = database.transaction("files", "readwrite").objectStore("files");
    var copy = (await done(files.get(path)) || {}).content, now = served.metadata.convgrad;
    var then = copy && copy.metadata.convgrad; // none in a copy of the time before
    if (copy && (!then || then.version !== now.version)) {
      var own = copy.cells.some(function (cell) { return changed(cell, (then || now).cells); });
      own = own || (then && copy.cells.length < Object.keys(then.cells).length); // or the reader deleted a cell
      var corrected = JSON.stringify(then && then.cells) !== JSON.stringify(now.cells);
      if (!own) await done(files.delete(path));
      else if (corrected && localStorage.getItem(KEEPS) !== String(now.version)) ask(served, then ? then.cells : {});
    }
    database.close();
  }

  window.convgrad.ready = Promise.race([
    look().catch(function () {}), // nothing is stored, or can be
    new Promise(function (resolve) { setTimeout(resolve, 5000); }),
  ]);
})();
