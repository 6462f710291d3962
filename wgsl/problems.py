"""What is wrong with a text, before any run."""
