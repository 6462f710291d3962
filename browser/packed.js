// JupyterLab's parts come compressed, whatever the server does: `python -m browser.site` stores a second, compressed file
// beside each script. A browser that cannot open it takes the first.
(function () {
  if (!window.DecompressionStream) return;
  var append = document.head.appendChild;

  function opened(address) { // the address of the script in memory
    return fetch(address).then(function (response) {
      if (!response.ok) throw new Error(response.statusText);
      return new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    }).then(function (content) { return URL.createObjectURL(new Blob([content], { type: "text/javascript" })); });
  }

  document.head.appendChild = function (node) { // as webpack loads a part
    var address = node.tagName === "SCRIPT" && node.src && new URL(node.src);
    if (!address || address.protocol === "blob:" || !/\/(build|static)\/[^/]+\.js$/.test(address.pathname)) {
      return append.call(document.head, node);
    }
    opened(address.origin + address.pathname + ".packed").then(function (script) {
      node.addEventListener("load", function () { URL.revokeObjectURL(script); });
      node.src = script;
    }, function () {}).then(function () { append.call(document.head, node); }); // or as it is
    return node;
  };
})();
