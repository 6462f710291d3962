"""Data that ships with the project."""
