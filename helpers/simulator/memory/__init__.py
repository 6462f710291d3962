"""The fourth room: what the variables hold, and who touched each word last."""
