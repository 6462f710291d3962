"""A simulated run, step by step: the kernel's text, its threads, and the memory that they touch."""

from helpers.stepper.explorer import stepper

__all__ = ["stepper"]
