"""Does a barrier stand between the first numbers in workgroup memory and the first use of another thread's number?"""

import re

from helpers.compile_errors.text import FUNCTION, Text
from helpers.wgsl import Kernel, closing


def early_read(kernel: Kernel) -> str:
    """That none does, with both lines, where one entry point alone uses the memory; or nothing.

    Without a barrier, what a thread reads may not yet be written; many a GPU hides it.
    """
    text = Text(kernel.source)
    bodies = {
        each["name"]: text.code[: text.closing(each.end())][each.end() :] for each in FUNCTION.finditer(text.code)
    }
    waits = "|".join([r"\w+Barrier", "workgroupUniformLoad", *(n for n, body in bodies.items() if "Barrier" in body)])
    for name in re.findall(r"\bvar\s*<\s*workgroup\s*>\s*(\w+)", text.code):
        users = [user for user, body in bodies.items() if re.search(rf"\b{name}\b", body)]
        if len(users) == 1 and users[0] in text.entry_points and (places := _early(bodies[users[0]], name, waits)):
            start = text.code.index(bodies[users[0]])
            wrote, reads = (text.place(start + place)[0] for place in places)
            return f"no barrier stands between line {wrote}, which writes {name}, and line {reads}, which reads it"
    return ""


def _early(body: str, name: str, waits: str) -> tuple[int, int] | None:
    """Where an array is first written, and then read with another index, if both are above all that `waits`."""
    wrote = {}  # where, by the index
    for found in re.finditer(rf"\b(?:(?P<wait>{waits})\s*\(|{name}\s*\[)", body):
        if found["wait"]:
            return None
        end = closing(body, found.end() - 1)
        index = "".join(body[found.end() : end].split())
        if re.match(r"\]\s*(?:[-+*/]=|=(?!=))", body[end:]):
            wrote.setdefault(index, found.start())
        elif wrote and index not in wrote:
            return min(wrote.values()), found.start()
    return None
