"""Pictures: a canvas, and the parts that they are made of."""
