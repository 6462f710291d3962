// Each lesson is a page: its address names it, so that a reload, a bookmark and a shared link keep it, and links between
// lessons open in the same tab. `python -m browser.site` puts this into JupyterLite's page of one notebook.
(function () {
  var here = location.pathname.replace(/[^/]*$/, "");
  var FIRST = "notebooks/start_here.ipynb"; // the map

  function address(path, place) { // of a lesson, or of another file of the project, as a page of text
    return path.endsWith(".ipynb") ? here + "index.html?path=" + path + (place || "") : here + "../text/" + path + ".html";
  }

  function panel() {
    return window.jupyterapp && window.jupyterapp.shell.currentWidget;
  }

  function go(to) { // what was typed is saved first
    var context = panel() && panel().context, leave = function () { location.assign(to); };
    if (!context || !context.model.dirty) return leave();
    context.save().then(leave, leave); // where that fails, the browser asks before it leaves
  }

  function follow(event) { // JupyterLab opens a new tab, loses the place in the lesson, and does nothing for other files
    var link = event.target.closest && event.target.closest("a");
    if (!link) return;
    var given = link.getAttribute("data-commandlinker-args");
    if (!given) return;
    var to = JSON.parse(given);
    link.href = address(to.path, to.id);
    link.target = to.path.endsWith(".ipynb") ? "_self" : "_blank";
    if (event.type === "pointerdown") return;
    event.stopPropagation();
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.target === "_blank") return;
    event.preventDefault();
    go(link.href);
  }

  ["pointerdown", "click", "auxclick"].forEach(function (kind) { window.addEventListener(kind, follow, true); });
  if (!new URLSearchParams(location.search).get("path")) location.replace(address(FIRST));

  function name(shown) { // the page after the lesson's first heading: JupyterLab names it after the file
    var prose = shown.content.model.sharedModel.cells.filter(function (cell) { return cell.cell_type === "markdown"; });
    var texts = prose.map(function (cell) { return cell.getSource(); });
    var heading = /^# +(.+)$/m.exec(texts.join("\n")), title = document.querySelector("title");
    if (!heading) return;
    var named = function () { if (document.title !== heading[1]) document.title = heading[1]; };
    named();
    new MutationObserver(named).observe(title, { childList: true });
  }

  var watch = setInterval(function () { // until the lesson is shown
    var logo = document.querySelector("#jp-NotebookLogo"), shown = panel();
    if (!logo || !shown || !shown.content || !shown.content.model || shown.content.model.cells.length < 2) return;
    clearInterval(watch);
    name(shown);
    logo.textContent = "convgrad: the map";
    logo.setAttribute("data-commandlinker-args", JSON.stringify({ path: FIRST }));
    if (location.hash) shown.revealed.then(function () { setTimeout(function () { shown.content.setFragment(location.hash); }, 500); });
  }, 100);
})();
