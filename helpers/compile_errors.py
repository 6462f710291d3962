"""What a WGSL compiler says, in the words of someone who learns the language."""

import re

from helpers.wgsl import Kernel

SCALAR = r"(?:Scalar\()?Scalar \{ kind: %s, width: \d \}\)?"
PLAIN_WORDS = {  # the compiler's, as patterns in this order, and what a learner can use instead
    **{SCALAR % kind: name for kind, name in {"Sint": "i32", "Uint": "u32", "Float": "f32", "Bool": "bool"}.items()},
    r"Vector \{ size: Tri, scalar: (\w+) \}": r"vec3<\1>",
    r"\[\d+\] \(of type ([\w<>]+)\)": r"\1",
    r"The type of .* match the type stored .*": "the two sides of = differ in type; is an index like [i] missing?",
    r"The `return` expression .* declared return type.*": "the returned value has a wrong type; is 0 written for 0.0?",
    r'found ""': "found the end of the text; is a } missing?",
    r" \[\d+\] ": " ",
}


def explain_compile_error(kernel: Kernel, message: str) -> str:
    """Shorten a compiler's message to the kernel's name, line, column and reason, and the lines with their carets.

    wgpu's `message` gives the place as ``┌─ wgsl:3:14`` (for an unknown entry point it has none), draws the source
    behind ``│`` and adds notes behind ``=``.
    """
    reason = "; ".join(_reasons(message))
    place = re.search(r"┌─ .*:(\d+):(\d+)", message)
    where = f", line {place[1]}, column {place[2]}" if place else ""
    drawn = (re.sub(r" naga::.*", "", line.rstrip())[:160] for line in message.splitlines())
    excerpt = [line for line in drawn if re.match(r"\s*\d* *│ *[^ ]", line)]
    return "\n".join([f"{kernel.name} does not compile{where}: {reason}", *excerpt])


def _reasons(message: str) -> list[str]:
    """The headline and the notes in plain words; all lines of a message that has neither."""
    found = re.findall(r"parsing error: (.*)", message) + re.findall(r"^ +=+ (?:note: )?(.*)", message, re.MULTILINE)
    if not found:
        lines = [line.strip() for line in message.splitlines()]
        found = [line for line in lines if line and not line.startswith(("Validation Error", "Caused by:", "In wgpu"))]
    useful = [line for line in found if not re.search(r"\[\d+\] is invalid", line)]
    return list(dict.fromkeys(map(_in_plain_words, useful)))  # each one once


def _in_plain_words(reason: str) -> str:
    for pattern, words in PLAIN_WORDS.items():
        reason = re.sub(pattern, words, reason)
    return reason
