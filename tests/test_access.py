"""Can everybody read it? Colors that stand out in both themes, and notebooks that a screen reader can walk through."""

import re
from collections.abc import Iterator

import pytest
from nbformat import v4
from support.legible import CONTRAST, DARK, LIGHT, contrast
from support.notebook_gate import NOTEBOOKS, Lesson, spoken

from helpers.operations.kernels import ROOT

WIDGETS = ROOT / "helpers" / "widgets"
IN_THE_DARK = '[data-jp-theme-light="false"]'

# --- Colors -----------------------------------------------------------------------------------------------------------


def faint(css: str) -> Iterator[str]:
    """The colors of text that are hard to read, in the light theme or in the dark one."""
    rules = [
        (selector.strip(), body)
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css)
        for selector in selectors.split(",")
    ]
    dark = {last(selector): color(body) for selector, body in rules if IN_THE_DARK in selector}
    for selector, body in rules:
        if not (own := color(body)):
            continue
        paper = color(body, "background")
        pairs = [(own, paper or (DARK if IN_THE_DARK in selector else LIGHT))]
        if not (paper or IN_THE_DARK in selector):
            pairs.append((dark.get(last(selector)) or own, DARK))
        for pair in pairs:
            if contrast(*pair) < CONTRAST:
                yield f"{selector}: {pair[0]} on {pair[1]} has {contrast(*pair):.1f}"


def color(body: str, name: str = "color") -> str:
    """The color that some declarations give, if it is written out; a theme's own colors are its own business."""
    found = re.search(rf"(?<![\w-]){name}: (#[0-9a-f]{{6}})", body)
    return found[1] if found else ""


def last(selector: str) -> str:
    return selector.split()[-1]


@pytest.mark.parametrize("path", sorted(WIDGETS.glob("*.css")), ids=lambda path: path.name)
def test_text_stands_out_in_both_themes(path):
    assert not list(faint(path.read_text()))


# Styles, and how many of their colors are hard to read in a theme; that of the second row is in the dark one alone.
COLORS = [
    (".a { color: #999999; }", 1),
    (".a { color: #b34700; }", 1),
    ('.a { color: #b34700; } [data-jp-theme-light="false"] .a { color: #ffb38a; }', 0),
    ('.a { color: #b34700; } [data-jp-theme-light="false"] .a { color: #904000; }', 2),
    (".a { color: #ffffff; background: #b34700; }", 0),
    (".a { color: #ffffff; background: #ffb38a; }", 1),
]


@pytest.mark.parametrize(("css", "found"), COLORS)
def test_a_faint_color_would_be_seen(css, found):
    assert len(list(faint(css))) == found


def test_the_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


# --- Notebooks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("See [here](a.md), [ this link ](b.md) and [click here](c.md).", 3),
        ("See [the glossary](a.md), here, and ![here](a.png).", 0),
        ("[](a.md)", 1),
        ('<a href="a.md">more</a>', 1),
        ("| | b |\n|---|---|\n| 1 | 2 |", 0),  # the corner above row names
        ("| | |\n|---|---|\n| 1 | 2 |", 1),
        ("| a | |\n|:-:|--|\n| 1 | 2 |", 1),
        ("`| | |`\n\n```\n| | |\n|-|-|\n```", 0),
        ("<table><tr><td>1</td></tr></table>", 1),
        ("<table><tr><th>a</th></tr></table>", 0),
    ],
)
def test_what_a_screen_reader_could_not_say_is_seen(markdown, found):
    lesson = Lesson(NOTEBOOKS / "x.ipynb", v4.new_notebook(cells=[v4.new_markdown_cell(markdown)]))
    assert len(list(spoken(lesson))) == found
