# The official lines of the puzzle barrier;
# the lines that end in a star are not in the skeleton.

# Several workgroups come to a barrier.
#   epochs   the epoch of each workgroup
#   size     the threads of a workgroup
#   active   1 for each thread that reaches this barrier, and 0
#            for each that does not: first those of workgroup 0,
#            then those of workgroup 1, ...

# 1. Give after its value, a tuple: the epoch of each workgroup
#    after the barrier. Where all threads of a workgroup reach it,
#    the next epoch begins. Where none does, nothing changes.
#    Where some do, they wait for ever: write -1.
groups = range(len(epochs))  # *
here = [sum(active[g * size : (g + 1) * size]) for g in groups]  # *
after = [  # *
    epochs[g] + 1 if here[g] == size else epochs[g] if here[g] == 0 else -1  # *
    for g in groups  # *
]  # *
