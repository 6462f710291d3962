"""The first room: WGSL text in, a syntax tree out."""
