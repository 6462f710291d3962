"""Sentences, made of records of facts, last: what is found in a run, why a text is refused, and the whole message.

`wgsl.suggestions` has the sentences that take a text's own pieces for an example. Nothing in this package reads one.
"""
