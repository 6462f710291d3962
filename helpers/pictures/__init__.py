"""Pictures with sliders: a canvas, the parts that pictures are made of, two ready-made figures, and the widget."""

from helpers.pictures.figures import images, timeline

__all__ = ["images", "timeline"]
