"""A learner's kernel is graded, and an answer to a question is read: facts first, then words.

    text -> puzzle, test_run, grader -> Verdict: outcome, reason, line, mistake, what is drawn -> words
                                           |
                                       transport, between processes

`puzzle` has what a kernel is tried on, and `test_run` tries it: it is simulated first, and run on the adapter only
where the simulator finds nothing wrong. A text that passes is tried on `drawn` problems, too. `grader` makes verdicts
of that (`verdict`), each with a record of its reason (`reasons`, and of answers `replies`), and recognizes the known
`mistakes`; `drawing` shows a wrong output. `words` makes the sentences, last, and nothing reads them. `sandbox` is the
process apart, and `student_files` the learner's own files. `prediction` is for questions, `marking_question` for
matrices whose cells are marked, `python_puzzle` for lines of Python, and `fault` for kernels whose fault is to be
found.
"""
