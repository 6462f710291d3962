"""Lesson 09: what a batch's gradient is made of when several workers share its images."""
