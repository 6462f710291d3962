"""Lesson 07: LeNet trains."""
