"""The lessons, each with all that it shows, asks and grades: one folder a notebook, named as it."""
