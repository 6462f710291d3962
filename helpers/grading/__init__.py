"""Is it right? Results are compared, a learner's kernel is judged, and an answer to a question is read.

`report` and `tolerance` compare results. `puzzle` says what a kernel is tried on, and `trial` tries it: it is simulated
first, and run on the adapter only where the simulator finds nothing wrong. `judge` makes verdicts of that (`verdict`),
`drawing` shows a wrong output, and `sandbox` is the process apart. `prediction` is for questions.
"""
