"""Words that stand in the wrong place: attributes, keywords, and variables without their kind of memory."""

from __future__ import annotations

import re
from difflib import get_close_matches

from wgsl.facts import Edit, Suggestion
from wgsl.suggestions.context import Context
from wgsl.syntax import tree
from wgsl.syntax.tokens import KINDS
from wgsl.types.kinds import Struct, is_runtime_sized

OTHER_ATTRIBUTES = {"kernel": "compute", "global": "compute", "numthreads": "workgroup_size", "set": "group"}


def attribute(context: Context, name: str) -> Suggestion | None:
    """An attribute that WGSL does not have, or not here."""
    if stage := re.match(r"stage\s*\(\s*(\w+)\s*\)", context.code[context.at :]):
        edit = Edit(context.at, context.at + stage.end(), stage[1])
        return Suggestion("written", {"name": f"@{stage[0]}", "cure": f"@{stage[1]}"}, edits=(edit,))
    if name in KINDS:
        return Suggestion("attribute elsewhere", {"name": name})
    near = OTHER_ATTRIBUTES.get(name) or next(iter(get_close_matches(name.lower(), KINDS, 1, 0.75)), None)
    if near is None:
        return None
    edits = (Edit(context.at, context.at + len(name), near),)
    if name in OTHER_ATTRIBUTES:
        return Suggestion("written", {"name": f"@{name}", "cure": f"@{near}"}, edits=edits)
    return Suggestion("misspelled", {"name": f"@{name}", "near": f"@{near}"}, edits=edits)


def keyword(context: Context, name: str) -> Suggestion | None:
    """A word of WGSL's own in the place of a name: `let mut`."""
    begun = context.before(context.at)
    after = re.match(r"mut\s+(?=[^\W\d])", context.code[context.at :])
    if begun not in ("let", "var") or not after:
        return None
    edit = Edit(begun.at, context.at + after.end(), "var ")
    return Suggestion("written", {"name": f"{begun} mut", "cure": "var"}, edits=(edit,))


def no_address_space(context: Context, name: str) -> Suggestion | None:
    """A variable outside of functions that does not say in which memory it lies."""
    node = next(
        (node for node in context.nodes if getattr(node, "name", None) == name and node.name.at == context.at), None
    )
    if not isinstance(node, tree.Declaration):
        return None
    space = "private"
    if tree.attribute(node, "binding") or tree.attribute(node, "group"):
        type = context.type_named(name) or (node.type and context.named_type(node.type))
        space = "uniform" if isinstance(type, Struct) and not is_runtime_sized(type) else "storage, read"
    elif node.value is None:
        return None  # it may be meant for a workgroup
    begin = context.code.rindex("var", 0, context.at)
    edit = Edit(begin, begin + len("var"), f"var<{space}>")
    return Suggestion("no address space", {"name": name, "cure": f"var<{space}> {name}"}, edits=(edit,))
