"""A simulator for WGSL: it runs the text of a compute kernel without a GPU, and sees every access.

The rooms, each of which uses only those before it: `grammar` reads the text, `types` settles names and types,
`arithmetic` computes, `memory` holds the words and knows who touched them, `findings` records what was seen, and
`execution` runs the program, all invocations in step. `run.simulate` walks through them.
"""
