"""Is a result right? Test oracles: what decides it, the wrong kernels that they are tried on, and the checker."""
