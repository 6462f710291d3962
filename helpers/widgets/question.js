// A question, a place for its answer, and after an attempt the reply; the explanation opens only then.

function part(tag, className, parent, text = "") {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  made.textContent = text;
  return made;
}

function render({ model, el }) {
  el.classList.add("convgrad-question");
  const form = part("form", "convgrad-ask", el);
  const label = part("label", "convgrad-asked", form);
  rich(part("span", "", label), model.get("asked"));
  const box = part("input", "convgrad-answer jp-mod-styled", label);
  box.type = "text";
  box.autocomplete = "off";
  box.value = model.get("answer");
  box.placeholder = model.get("hint");
  box.setAttribute("data-lm-suppress-shortcuts", "");
  const send = part("button", "convgrad-send jupyter-button", form, "Answer");
  const reply = part("p", "convgrad-reply", el);
  reply.setAttribute("role", "status");
  reply.setAttribute("aria-live", "polite");
  const why = part("details", "convgrad-why", el);
  part("summary", "", why, "Explanation");
  const words = part("p", "", why);

  form.addEventListener("submit", event => {
    event.preventDefault();
    model.send({ answer: box.value });
  });
  box.addEventListener("keydown", event => {
    event.stopPropagation();
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();  // by itself, the form does not notice the key in JupyterLab 4.4
  });
  const show = () => {
    const { outcome = "", text = "" } = model.get("reply");
    reply.className = `convgrad-reply convgrad-${outcome}`;
    rich(reply, text);
    why.hidden = !model.get("why");
    why.open = outcome === "right";
    rich(words, model.get("why"));
  };
  model.on("change:reply", show);
  model.on("change:why", show);
  show();
}

function rich(parent, text) {  // what stands between backquotes is code
  parent.replaceChildren(...text.split("`").map((piece, i) => {
    const made = document.createElement(i % 2 ? "code" : "span");
    made.textContent = piece;
    return made;
  }));
}

export default { render };
