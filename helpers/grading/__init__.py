"""Is it right? Results are compared, a learner's kernel is judged, and an answer to a question is read.

`report` and `tolerance` compare results. `puzzle` says what a kernel is tried on; `judge` makes its verdicts from runs
(`trial`) of copies that let no mistake pass: indices past an array lead to guards (`bounds`), and loops and barriers
are counted (`loops`). `drawing` shows a wrong output, `sandbox` is the process apart. `prediction` is for questions.
"""
