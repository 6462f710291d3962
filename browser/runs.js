// Python starts when a reader first uses a cell: a lesson that is only read needs none. A cell that is run before waits for
// Python's session, and until its run is finished, a cell is saved with what it had. That of an editor is saved with what
// was written in it.
(function () {
  var CLICKED = ".jp-CodeCell, .lm-Menu, .jp-Toolbar", TYPED = ".cm-content, .convgrad-recorded";
  var had = new Map(); // by the names of cells that were run: their models, and what they had before

  window.convgrad.wanted = new Promise(function (resolve) { window.convgrad.start = resolve; });

  function starts(places) {
    return function (event) { if (event.target.closest && event.target.closest(places)) window.convgrad.start(); };
  }
  window.addEventListener("click", starts(CLICKED), true);
  window.addEventListener("keydown", starts(TYPED), true);

  function saved(cell) { // the cell as it is saved
    var run = had.get(cell.id);
    return run && run.model.executionState === "running" ? Object.assign({}, cell, run.before) : cell;
  }

  function savesWhatCellsHad(notebook) {
    if (notebook.savesWhatCellsHad) return;
    notebook.savesWhatCellsHad = true;
    var whole = notebook.toJSON.bind(notebook);
    notebook.toJSON = function () {
      var all = whole();
      return Object.assign({}, all, { cells: all.cells.map(saved) });
    };
  }

  new MutationObserver(function (records) { // what an editor has kept or judged is saved with its cell
    var changed = records.some(function (record) {
      return record.addedNodes.length && record.target.classList && record.target.classList.contains("convgrad-state");
    });
    if (changed) window.jupyterapp.shell.currentWidget.content.model.dirty = true;
  }).observe(document, { childList: true, subtree: true });

  window.convgrad.beforeRun = async function (cell, session) { // JupyterLab calls this
    var model = cell.model, now = model.toJSON();
    savesWhatCellsHad(window.jupyterapp.shell.currentWidget.content.model);
    if (model.executionState !== "running") {
      had.set(model.id, { model: model, before: { outputs: now.outputs, execution_count: now.execution_count } });
    }
    if (session.isReady) return;
    model.executionState = "running";
    window.convgrad.start();
    await session.ready;
  };
})();
