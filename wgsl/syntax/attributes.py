"""The rules of attributes and directives: which there are, where one may stand, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wgsl.diagnostics import Limited, NotWgsl, Span
from wgsl.syntax.tokens import Word
from wgsl.syntax.tree import Attribute, Name

MOST = {"workgroup_size": 3, "interpolate": 2, "diagnostic": 3}  # arguments, where it is not 1
EXTENSIONS = ("f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index")
FEATURES = (
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "pointer_composite_access",
)
FEATURES_OF_BROWSERS = (  # which naga does not have
    "buffer_view",
    "fragment_depth",
    "immediate_address_space",
    "linear_indexing",
    "subgroup_id",
    "subgroup_uniformity",
    "swizzle_assignment",
    "texture_and_sampler_let",
    "texture_formats_tier1",
    "uniform_buffer_standard_layout",
    "unrestricted_pointer_parameters",
)
SEVERITIES = ("error", "warning", "info", "off")
BELONGS = {  # what may stand before a declaration that begins so
    "var": ("group", "binding"),
    "override": ("id",),
    "fn": ("compute", "vertex", "fragment", "workgroup_size", "must_use", "diagnostic"),
}


def check_enabled(names: Iterable[Word]) -> None:
    """Refuse what is no extension: those that there are add types and functions."""
    for name in names:
        if name not in EXTENSIONS:
            raise NotWgsl("extension", name, name=name)


def check_required(names: Sequence[Word]) -> list[Limited]:
    """Refuse what is no feature of the language, and note the first that not every compiler has.

    The directive changes nothing: it names what a text uses.
    """
    for name in names:
        if name not in FEATURES and name not in FEATURES_OF_BROWSERS:
            raise NotWgsl("language feature", name, name=name)
    rare = [name for name in names if name in FEATURES_OF_BROWSERS]
    return [Limited("language feature of browsers", name, name=name) for name in rare[:1]]


def check_rules(rules: Iterable[tuple[Name, ...]], of: str) -> None:
    """Refuse a severity that there is none of, and two filters of one warning; a directive may repeat itself."""
    known: dict[tuple[str, ...], str] = {}
    for severity, *rule in rules:
        if severity.name not in SEVERITIES:
            raise NotWgsl("severity", severity, severity=severity.name, severities=", ".join(SEVERITIES))
        warning = ".".join(part.name for part in rule)
        repeated = of != "@diagnostic" and known.get(warning) == severity.name
        if warning in known and not repeated:
            raise NotWgsl("two severities", severity, of=of, warning=warning, severity=known[warning])
        known[warning] = severity.name


def check_count(attribute: Attribute) -> None:
    """Refuse more arguments than an attribute takes."""
    most = MOST.get(attribute.name, 1)
    if len(attribute.arguments) > most:
        raise unexpected(")", attribute.arguments[most])


def check_attributes(attributes: Sequence[Attribute], word: str) -> tuple[Attribute, ...]:
    """The attributes that have an effect. Raises NotWgsl for one that stands here twice, or before such a word."""
    if not attributes:
        return ()
    kept: dict[str, Attribute] = {}
    check_rules([attribute.arguments for attribute in attributes if attribute.name == "diagnostic"], "@diagnostic")
    for attribute in attributes:
        if attribute.name not in BELONGS.get(word, (attribute.name,)):
            raise NotWgsl("attribute out of place", attribute, name=attribute.name, word=word)
        if attribute.name == "diagnostic":  # a filter of warnings changes nothing
            continue
        if attribute != kept.setdefault(attribute.name, attribute):
            raise NotWgsl("attribute twice", attribute.name, name=attribute.name)
    return tuple(kept.values())


def unexpected(what: str, place: Span) -> NotWgsl:
    """Something stands where something else belongs."""
    return NotWgsl("expected", place, what=what)
