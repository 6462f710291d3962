"""Pictures with sliders: a canvas, the parts that pictures are made of, and the widget."""
