"""Is it right? Reports, tolerances, verdicts, and a learner's kernel in a process of its own."""
