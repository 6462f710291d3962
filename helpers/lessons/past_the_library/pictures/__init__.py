"""The pictures of appendix D."""
