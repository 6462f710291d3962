"""Lesson 03: the gradient of the input."""
