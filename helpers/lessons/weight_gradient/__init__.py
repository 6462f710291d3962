"""Lesson 02: the gradient of the weights."""
