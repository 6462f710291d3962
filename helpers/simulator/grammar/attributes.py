"""Attributes and directives: which there are, where they stand, and what each takes."""

from collections.abc import Sequence

from lark import Token

from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.grammar.expected import GLOBAL_ITEM, unexpected
from helpers.simulator.grammar.tree import Attribute

KINDS = {  # the token that a word is behind @
    **dict.fromkeys(["compute", "fragment", "must_use", "vertex"], "STAGE"),
    **dict.fromkeys(["binding", "group", "id", "workgroup_size"], "PLACE"),
    **dict.fromkeys(["align", "blend_src", "location", "size"], "LAYOUT"),
    **{"builtin": "NAMED", "interpolate": "NAMED", "diagnostic": "DIAGNOSTIC"},
}
MOST = {"workgroup_size": 3, "interpolate": 2, "diagnostic": 3}  # arguments, where it is not 1
EXTENSIONS = ("f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index")
FEATURES = (
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "unrestricted_pointer_parameters",
    "pointer_composite_access",
)
SEVERITIES = ("error", "warning", "info", "off")


def check_count(attribute: Attribute) -> None:
    """Refuse an attribute with too many arguments."""
    most = MOST.get(attribute.name, 1)
    if len(attribute.arguments) > most:
        what = GLOBAL_ITEM if attribute.name == "workgroup_size" else "`)`"  # the compiler reads three sizes, and ends
        raise unexpected(what, "?", attribute.arguments[most].at)


def check_attributes(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """The attributes that have an effect. Raises Refused for one that stands here twice."""
    _check_filters([each for each in attributes if each.name == "diagnostic"])
    kept = tuple(each for each in attributes if each.name != "diagnostic")  # a filter of warnings changes nothing
    names = [each.name for each in kept]
    for i, each in enumerate(kept):
        if each.name in names[:i]:
            raise Refused(f"repeated attribute: `{each.name}`", each.at + 1, len(each.name), "repeated attribute")
    return kept


def _check_filters(filters: Sequence[Attribute]) -> None:
    """Refuse two severities for one rule of a ``@diagnostic``."""
    known: dict[str, str] = {}
    for each in filters:
        severity, rule = (getattr(part, "name", "") for part in each.arguments[:2])
        if known.setdefault(rule, severity) != severity:
            reason = f"conflicting `@diagnostic` attributes: `{rule}` is `{known[rule]}` already"
            raise Refused(reason, each.at, each.end - each.at)


def check_extensions(names: Sequence[Token]) -> None:
    """``enable``: all that it can add are types and functions that the simulator does not have."""
    for name in names:
        if name not in EXTENSIONS:
            raise Refused(f"unknown enable-extension `{name}`", name.start_pos, len(name))
        raise Unsupported(f"`enable {name}`", name.start_pos)


def check_features(names: Sequence[Token]) -> None:
    """``requires`` changes nothing: it names what a text uses."""
    for name in names:
        if name not in FEATURES:
            raise Refused(f"unknown language extension `{name}`", name.start_pos, len(name))


def check_severity(name: Token) -> None:
    """``diagnostic`` changes nothing: it filters warnings."""
    if name not in SEVERITIES:
        label = "not a valid severity level"
        raise Refused("invalid `diagnostic(…)` severity", name.start_pos, len(name), label)
