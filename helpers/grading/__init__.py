"""A learner's kernel is graded, and an answer to a question is read.

`puzzle` says what a kernel is tried on, and `test_run` tries it: it is simulated first, and run on the adapter only
where the simulator finds nothing wrong. `grader` makes verdicts of that (`verdict`) and names the known `mistakes`,
`drawing` shows a wrong output, `sandbox` is the process apart, and `student_files` the learner's own files.
`prediction` is for questions, `marking_question` for matrices whose cells are marked, and `fault` for kernels whose
fault is to be found. `results` makes the teacher's table of what `reading` finds: ``python -m helpers.gradebook
FOLDER``.
"""
