// A notebook is saved without the names of its live parts, which end with their kernel: opened a day later, each cell
// then shows the picture or the text that is beside the name, and not an error.

const VIEW = "application/vnd.jupyter.widget-view+json";

function storeWhatStays(model) {
  const notebook = model.widget_manager?.context?.model;  // of JupyterLab; elsewhere nothing is saved this way
  if (!notebook?.toJSON || notebook.storesWhatStays) return;
  const whole = notebook.toJSON.bind(notebook);
  notebook.storesWhatStays = true;
  notebook.toJSON = () => {
    const saved = whole();
    const cells = saved.cells.map(cell => cell.outputs ? { ...cell, outputs: cell.outputs.map(stays) } : cell);
    return { ...saved, cells };
  };
}

function stays(output) {
  if (!output.data?.[VIEW]) return output;
  const { [VIEW]: name, ...data } = output.data;
  return Object.keys(data).length ? { ...output, data } : output;
}
