"""Is it right? Results are compared, a learner's kernel is judged, and an answer to a question is read.

`report` and `tolerance` compare results. `puzzle` says what a kernel is tried on; `judge` makes its verdicts from runs
(`trial`) of copies that let no mistake pass: indices past an array lead to guards (`bounds`), and loops and barriers
are counted (`loops`). Barriers are judged in the text, too: does every thread reach them (`uniformity`, `statements`),
and does one stand before the first use of another thread's number (`order`)? `drawing` shows a wrong output,
`sandbox` is the process apart. `prediction` is for questions.
"""
