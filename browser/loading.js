// While Python loads, the stored picture of a cell that was run stays until the new one is there, and a line says what
// is loading, and how far. Python's worker tells it (`worker.js`).
(function () {
  var far = { done: 0, all: 0 }, here = false; // has Python run a cell?
  var kept = new Map(); // by their output areas, the old outputs that are still shown
  var STAYS = " Until your picture is computed, the stored one stays.";

  function panel() {
    return window.jupyterapp && window.jupyterapp.shell.currentWidget;
  }

  function waits(cell) {
    var prompt = cell && cell.querySelector(".jp-InputPrompt");
    return prompt && prompt.textContent.indexOf("*") >= 0;
  }

  function children(nodes) {
    return Array.from(nodes).filter(function (node) {
      return node.classList && node.classList.contains("jp-OutputArea-child");
    });
  }

  function drop(area) { // a recorded picture stays until the live one shows what was chosen in it
    var old = kept.get(area);
    kept.delete(area);
    if (old && window.convgrad.handOver) window.convgrad.handOver(area, old);
    else if (old) old.remove();
  }

  function answers(node) { // from a recording
    return node.querySelector(".convgrad-recorded");
  }

  function keep(area, outputs) {
    var old = kept.get(area) || document.createElement("div");
    old.className = "convgrad-kept";
    if (!outputs.some(answers)) old.style.cssText = "opacity:0.6;pointer-events:none";
    outputs.forEach(function (node) { old.appendChild(node); });
    area.appendChild(old); // JupyterLab puts new outputs before it
    kept.set(area, old);
  }

  new MutationObserver(function (records) {
    records.forEach(function (record) {
      var area = record.target;
      if (!area.classList || !area.classList.contains("jp-OutputArea")) return;
      var gone = children(record.removedNodes);
      if (gone.length && (!here || gone.some(answers)) && waits(area.closest(".jp-CodeCell"))) keep(area, gone);
      if (children(record.addedNodes).length) drop(area);
    });
  }).observe(document, { childList: true, subtree: true });

  function tell() {
    var shown = panel(), status = shown && shown.sessionContext && shown.sessionContext.kernelDisplayStatus;
    if (!status) return;
    var cells = shown.content.widgets.filter(function (cell) { return waits(cell.node); });
    kept.forEach(function (_, area) { if (!waits(area.closest(".jp-CodeCell"))) drop(area); });
    if (status !== "idle" && status !== "busy") here = false; // it starts, or starts again
    else if (!cells.length) here = true;
    if (here || !cells.length) return window.convgrad.unsay("loading");
    var mb = function (bytes) { return Math.round(bytes / 1e6); };
    window.convgrad.say("loading", status === "busy" ? "Python runs your cell." + STAYS
      : !far.all ? "Python is loading." + STAYS
      : far.done < far.all ? "Python is loading: " + mb(far.done) + " of " + mb(far.all) + " MB are here." + STAYS
      : "Python is here, and starts." + STAYS);
  }

  var Plain = window.Worker;
  window.Worker = class extends Plain { // this tab's Python, which `worker.js` lets tell how much of it is here
    constructor(address, options) {
      super(address, options);
      this.addEventListener("message", function (event) {
        if (!event.data || !event.data.convgrad) return;
        far = event.data.convgrad;
        event.stopImmediatePropagation();
      });
    }
  };
  setInterval(tell, 500);
})();
