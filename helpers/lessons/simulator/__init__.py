"""Appendix A: how a simulator works."""
