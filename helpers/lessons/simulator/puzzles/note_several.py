# The official lines of the puzzle note_several;
# the lines that end in a star are not in the skeleton.

# A thread uses a word of memory, and the note beside the word
# is written anew. Before, the note says who used it:
#   who      a thread, or -1: nobody, or -2: several threads
#   when     the epoch of these accesses, or -1
# And of the access that is made now:
#   thread   the thread that makes it
#   epoch    the epoch in which it is made

# 1. Has another thread used the word in this epoch?
other = when == epoch and who != thread  # *
# 2. Give new_who its value: who has used the word in this
#    epoch, this thread included? It may be -2.
new_who = -2 if other else thread  # *
