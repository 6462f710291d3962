"""The third room: a program runs, all its invocations in step."""
