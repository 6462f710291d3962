"""Pictures of appendix A: lanes in lockstep, a sum in three orders, and notes beside a memory's words."""
