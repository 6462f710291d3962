"""Appendix E: the order of a sum."""
