"""Appendix C: raw wgpu and the launcher."""
