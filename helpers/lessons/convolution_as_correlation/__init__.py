"""Lesson 01: a convolution, forward."""
