// A notebook is saved without the names of its live parts, which end with their kernel: opened a day later, each cell
// then shows the picture or the text that is beside the name, and not an error. To its text a part may add words: what
// the learner has written in it.

const VIEW = "application/vnd.jupyter.widget-view+json";

function storeWhatStays(model, more = html => html) {
  const notebook = model.widget_manager?.context?.model;  // of JupyterLab; elsewhere nothing is saved this way
  if (!notebook?.toJSON) return;
  notebook.moreToStore ??= new Map();
  if (model.get("named")) notebook.moreToStore.set(model.get("named"), more);
  if (notebook.storesWhatStays) return;
  const whole = notebook.toJSON.bind(notebook), stays = output => withoutView(output, notebook.moreToStore);
  notebook.storesWhatStays = true;
  notebook.toJSON = () => {
    const saved = whole();
    const cells = saved.cells.map(cell => cell.outputs ? { ...cell, outputs: cell.outputs.map(stays) } : cell);
    return { ...saved, cells };
  };
}

function withoutView(output, moreToStore) {
  if (!output.data?.[VIEW]) return output;
  const { [VIEW]: view, ...data } = output.data, more = moreToStore.get(view.model_id);
  if (more && data["text/html"]) data["text/html"] = more([data["text/html"]].flat().join(""));
  return Object.keys(data).length ? { ...output, data } : output;
}
