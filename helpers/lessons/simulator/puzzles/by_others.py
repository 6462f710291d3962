# The official lines of the puzzle by_others;
# the lines that end in a star are not in the skeleton.

# A thread uses a word of memory. The note beside the word
# says who used it last, and in which epoch:
#   who      the thread, or -1: nobody
#   when     the epoch of that access, or -1
# And of the access that is made now:
#   thread   the thread that makes it
#   epoch    the epoch in which it is made

# 1. Give other its value: is the access in the note by
#    another thread, with no barrier since?
other = when == epoch and who != thread  # *
