"""Appendix B: dilation and groups."""
