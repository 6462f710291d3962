"""A simulator for WGSL: it runs the text of a compute kernel without a GPU, and sees every access.

The rooms, each of which uses only those before it: `grammar` reads the text, `arithmetic` computes, `types`
settles names and types, `memory` holds the words and knows who touched them, `findings` records what was seen, and
`execution` runs the program, all invocations in step. `run.simulate` walks through them; `command` is the command line,
``python -m helpers.simulator``.
"""
