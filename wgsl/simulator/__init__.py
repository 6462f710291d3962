"""A simulator for WGSL: it runs the text of a compute kernel without a GPU, and sees every access.

`run.simulate` checks the arguments and runs a kernel. Each file uses only those before it:

- the text: `wgsl` settles its names and types, and computes on arrays, one element for each invocation;
- `uniformity` and `subgroup_uniformity` find what browsers refuse before a run;
- invocations: `lanes` numbers them; `values` are what expressions give; `memory` is what variables hold, and which
  accesses race; `footprint` counts its bytes before a run; `updates` are those that are lost, and `waiting` the loops
  that wait for other invocations;
- buffers: `bindings` finds the one of each binding;
- what is seen: `findings`, `counts` and `trace` (the course of a run) are filled by `watch`; `watched` says which
  variables can be watched;
- the run: `access` loads and stores, `subgroups` is what their functions give, `expressions` evaluates, `endless` finds
  the loop to blame, `machine` runs the statements;
- runs made again: `undefined` puts other numbers where WGSL defines none, `sizes` takes subgroups of other sizes;
- the command line, ``python -m wgsl``: `__main__` one folder up, and `buffer_arguments` for its ``NAME=BUFFER``.
"""
