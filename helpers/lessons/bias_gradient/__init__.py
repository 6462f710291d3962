"""Lesson 04: the gradient of the bias, and how a GPU sums."""
