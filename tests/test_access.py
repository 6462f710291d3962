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
    rules = rules_of(css)
    dark = {last(selector): color(body) for selector, body in rules if IN_THE_DARK in selector}
    for selector, body in rules:
        for text, paper in color_pairs(selector, body, dark):
            if contrast(text, paper) < CONTRAST:
                yield f"{selector}: {text} on {paper} has {contrast(text, paper):.1f}"


def rules_of(css: str) -> list[tuple[str, str]]:
    """Each selector of a style sheet, and its declarations."""
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        for selector in selectors.split(","):
            rules.append((selector.strip(), body))
    return rules


def color_pairs(selector: str, body: str, dark: dict[str, str]) -> list[tuple[str, str]]:
    """The text's color and the background's, in each theme in which a rule decides one of them.

    `dark` has the text's colors in the dark theme, by the last part of a selector.
    """
    text = color(body)
    if not text:
        return []
    background = color(body, "background")
    if background:
        return [(text, background)]
    if IN_THE_DARK in selector:
        return [(text, DARK)]
    text_in_the_dark = dark.get(last(selector)) or text
    return [(text, LIGHT), (text_in_the_dark, DARK)]


def color(body: str, name: str = "color") -> str:
    """The color that some declarations give, if it is written out; a theme's own colors are its own business."""
    match = re.search(rf"(?<![\w-]){name}: (#[0-9a-f]{{6}})", body)
    return match[1] if match else ""


def last(selector: str) -> str:
    """The last part of a selector, which the rules of both themes share."""
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


@pytest.mark.parametrize(("css", "count"), COLORS)
def test_a_faint_color_would_be_seen(css, count):
    assert len(list(faint(css))) == count


def test_the_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


# --- Notebooks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "faults"),
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
def test_what_a_screen_reader_could_not_say_is_seen(markdown, faults):
    lesson = Lesson(NOTEBOOKS / "x.ipynb", v4.new_notebook(cells=[v4.new_markdown_cell(markdown)]))
    assert len(list(spoken(lesson))) == faults
