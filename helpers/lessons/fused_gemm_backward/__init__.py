"""Lesson 06: a fused layer, backward."""
