# The official lines of the puzzle is_race;
# the lines that end in a star are not in the skeleton.

# Two accesses to memory, a and b. What is known of them is True or False:
#   same_word         both use the same word of memory
#   a_writes          a writes; if not, it reads
#   b_writes          b writes; if not, it reads
#   both_atomic       both are atomic operations
#   same_thread       one thread makes both
#   same_workgroup    their threads are in one workgroup
#   barrier_between   a barrier stands between a and b

# 1. Give race its value: are a and b a data race?
race = (  # *
    same_word  # *
    and (a_writes or b_writes)  # *
    and not (same_thread or both_atomic)  # *
    and not (same_workgroup and barrier_between)  # *
)  # *
