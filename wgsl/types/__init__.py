"""The second room: a syntax tree in, a program out in which every name, type and conversion is settled."""
