"""The fifth room: what was seen, counted and put into words."""
