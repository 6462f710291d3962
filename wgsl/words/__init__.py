"""Sentences, made of records of facts, last: what is found in a run, why a text is refused, and the whole message.

A refusal has a reason in `refusals`; what `wgsl.suggestions` knows of a text takes its place, in the sentences of
`suggestions`, `names` and `unfinished`. Nothing in this package reads a sentence.
"""
