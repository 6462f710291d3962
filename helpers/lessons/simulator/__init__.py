"""Appendix A: inside a simulator."""
