"""What each lesson shows, asks and grades: one folder a notebook, named as it."""
