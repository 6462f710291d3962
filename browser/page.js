// What the reader must be told about this browser: one line each above the lesson, which can be closed; and keys that
// reach the pictures. Written for old browsers, too. `python -m browser.site` puts it into JupyterLite's page.
(function () {
  var BUSY = 60; // seconds of work after which the reader is told how to end it
  var lines = {};

  function fit() { // the lines push JupyterLab down
    var main = document.getElementById("main"), top = bar.offsetHeight + "px";
    if (!main || (main.style.top || "0px") === top) return;
    main.style.top = top;
    window.dispatchEvent(new Event("resize"));
  }

  var bar = document.createElement("div");
  bar.id = "convgrad-lines";
  bar.style.cssText = "position:fixed;z-index:20000;top:0;left:0;right:0;font:14px/1.4 system-ui,sans-serif";

  function say(name, words, choices) { // the choices: a function for each button's text
    if (lines[name]) {
      lines[name].firstChild.textContent = words;
      return fit();
    }
    var line = lines[name] = document.createElement("div");
    line.setAttribute("role", name === "loading" ? "status" : "alert");
    line.style.cssText = "display:flex;gap:12px;padding:6px 12px;background:#fff3cd;color:#222;border-bottom:1px solid";
    var text = document.createElement("span");
    text.style.flex = "1";
    text.textContent = words;
    line.appendChild(text);
    choices = choices || { Close: function () {} };
    Object.keys(choices).forEach(function (label) {
      var button = document.createElement("button");
      button.textContent = label;
      button.onclick = function () { bar.removeChild(line); fit(); choices[label](); };
      line.appendChild(button);
    });
    bar.appendChild(line);
    fit();
  }

  function unsay(name) { // and say it again the next time
    var line = lines[name];
    delete lines[name];
    if (line && line.parentNode) { bar.removeChild(line); fit(); }
  }

  window.convgrad = { say: say, unsay: unsay };

  var NOT_KEPT = "the last cell of each lesson downloads it as one file";
  function notKept() {
    say("full", "The browser could not keep what you wrote just now, as its storage is full or blocked: " + NOT_KEPT
      + ". Then make room, or allow this page to store data, and reload it.");
    closed();
    closing.observe(document.body, { childList: true, subtree: true });  // its title comes later
  }

  // The line says it once; JupyterLab would say it every few seconds, in front of the link to the download.
  function closed() {
    document.querySelectorAll(".jp-Dialog").forEach(function (dialog) {
      var close = /^File Save Error/.test(dialog.textContent.trim()) && dialog.querySelector(".jp-Dialog-footer button");
      if (close) setTimeout(function () { close.click(); });  // when it listens
    });
  }
  var closing = new MutationObserver(closed);

  function browser() {
    if (!navigator.gpu || !WebAssembly.Suspending) {
      say("old", "This browser does not let the lessons use the GPU, so a simulator computes, with the same results, "
        + "but slowly. Chrome or Edge 137, Firefox 153 (on Linux with dom.webgpu.enabled in about:config) and Safari "
        + "27 do let them, and newer ones.");
    } else {
      navigator.gpu.requestAdapter().then(function (adapter) {
        if (!adapter) say("old", "This browser finds no GPU, or does not use the one that is there, so a simulator "
          + "computes, with the same results, but slowly.");
      });
    }
  }

  function storage() { // can anything be kept?
    var blocked = function () {
      say("blocked", "What you write is kept only until you close this page, as in a private window the browser "
        + "stores nothing for it; but " + NOT_KEPT + ".");
    };
    try {
      var asked = indexedDB.open("convgrad");
      asked.onerror = blocked;
      if (!localStorage || !navigator.serviceWorker) blocked();
    } catch (error) {
      blocked();
    }
  }

  var LOCK = "convgrad " + location.pathname;
  function count(then) { // the open lessons
    navigator.locks.query().then(function (all) {
      then(all.held.concat(all.pending).filter(function (lock) { return lock.name === LOCK; }).length);
    });
  }

  function tabs() { // the first tab holds the lock until it is closed or loaded anew; then it is the next one's
    if (!navigator.locks) return;
    var waiting = setTimeout(function () {
      say("tabs", "These lessons are open in another tab, too. Both write the same files: close one tab, and reload "
        + "the other, before you go on.");
      count(function (open) {
        if (open < 3) return;
        say("memory", "This is the " + open + (open === 3 ? "rd" : "th") + " open lesson. Each keeps a Python of its "
          + "own, which takes some 450 MB of memory. Close those that you do not need.");
        var less = setInterval(function () {
          count(function (now) { if (now < open) { unsay("memory"); clearInterval(less); } });
        }, 1000);
      });
    }, 1000);
    navigator.locks.request(LOCK, function () {
      clearTimeout(waiting);
      unsay("tabs");
      return new Promise(function () {});
    });
  }

  function notebooks() { // where a notebook cannot be saved, JupyterLab names no way out
    var contents = window.jupyterapp && window.jupyterapp.serviceManager.contents;
    if (!contents || contents.tells) return;
    var save = contents.save;
    contents.tells = true;
    contents.save = function () {
      return save.apply(contents, arguments).catch(function (error) { notKept(); throw error; });
    };
  }

  var since = 0;
  function work() { // JupyterLite cannot interrupt a cell
    var shown = window.jupyterapp && window.jupyterapp.shell.currentWidget;
    var busy = shown && shown.sessionContext && shown.sessionContext.kernelDisplayStatus === "busy";
    since = busy ? since || Date.now() : 0;
    if (!busy) unsay("busy");
    else if (Date.now() - since > 1000 * BUSY) {
      say("busy", "Python has been at work for a minute. Interrupting has no effect in a browser: to end it, choose "
        + "Kernel > Restart Kernel. What you wrote is kept.");
    }
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.body.appendChild(bar);
    if (window.isSecureContext) {
      browser();
      storage();
      tabs();
    } else {
      say("http", "The address of this page begins with http, and so the browser gives it no GPU, only a slow "
        + "simulator, and what you write is kept only until you close it, but " + NOT_KEPT + ": open it with https.");
    }
    setInterval(function () { notebooks(); work(); fit(); }, 1000);
  });
  window.addEventListener("convgrad-not-kept", notKept);
  window.addEventListener("keydown", function (event) { // in a notebook of JupyterLab 4.4, these do not reach them
    var target = event.target;
    if (!target.closest || !target.closest(".jupyter-widgets")) return;
    if (/^Arrow/.test(event.key)) target.setAttribute("data-lm-suppress-shortcuts", "");
    if (event.key === "Enter" && target.tagName === "INPUT") target.dispatchEvent(new Event("change", { bubbles: true }));
  }, true);
})();
