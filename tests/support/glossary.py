"""Rules of a glossary: each term has a sentence, a lesson and three other names."""

import re
from functools import cache
from pathlib import Path

import nbformat
from support.notebook_gate import lessons_of

from helpers import skeleton
from helpers.operations.kernels import ROOT

NUMBER = re.compile(r"\d\d|[A-Z](?= |\])")  # an appendix has a letter
LESSONS = {path.name.removeprefix("appendix_").split("_")[0].upper(): path for path in lessons_of(ROOT / "notebooks")}
NUMBERS = set(re.findall(rf"^\| \[?({NUMBER.pattern})", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def prose(path: Path) -> str:
    """All Markdown of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def wrong(glossary: str) -> list[str]:
    """The mistakes in a glossary in Markdown: groups of terms, each under a heading."""
    problems = []
    for group in glossary.split("\n## "):
        rows = [line.strip("| ").split(" | ") for line in group.split("\n") if line.startswith("| **")]
        terms = [row[0].strip("*").lower() for row in rows]
        if terms != sorted(terms):
            problems.append(f"{terms}: not sorted")
        for row in rows:
            problems += [f"{row[0]}: {problem}" for problem in wrong_row(*row)]
    return problems


def wrong_row(term, meaning="", lesson="", *others):
    """The mistakes in the row of one term."""
    lead = NUMBER.match(lesson.strip("["))
    number = lead[0] if lead else ""
    names = term.strip("*").lower().split(", ")
    path = LESSONS.get(number)
    link = f"[{number}]({path.name})" if path else f"{number} (to come)"
    first = defining(names)[:1] or [number]
    problems = {
        "not six fields": len(others) != 3 or not all(others),
        "not one sentence": not re.fullmatch(r"[A-Z](?:(?!\. [A-Z]).)*\.", meaning),
        "no such lesson": number not in NUMBERS,
        f"the lesson must be written {link}": lesson != link,
        "the lesson never uses it": path and not any(name in prose(path).lower() for name in names),
        f"lesson {first[0]} defines it": first[0] != number,
    }
    return [problem for problem, is_there in problems.items() if is_there]


def defining(names: list[str]) -> list[str]:
    """The numbers of the lessons that define one of some names, or its plural, in bold."""
    bold = re.compile(rf"\*\*({'|'.join(map(re.escape, names))})s?\*\*", re.IGNORECASE)
    return sorted(number for number, path in LESSONS.items() if bold.search(prose(path)))


LETTERS = {  # whose sizes stand in which column
    1: "conv2d weight_index weight_window weight_padding conv2d_grad_weight conv2d_grad_input conv2d_grad_bias",
    2: "gemm_bwd_da",
}


def missing_letters(glossary: str) -> list[str]:
    """The sizes of the exercises that the table of letters lacks in their columns."""
    table = [line.split("|") for line in glossary.split("## Letters")[1].split("\n## ")[0].split("\n| `")[1:]]
    missing = []
    for i, names in LETTERS.items():
        letters = {*re.findall(r"\w+", " ".join(row[0] for row in table if row[i].strip() != "—"))}
        for name in names.split():
            struct = re.search(r"struct \w+ \{([^}]*)", skeleton(name))[1]
            missing += [f"{name}: {size}" for size in re.findall(r"(\w+):", struct) if size not in letters]
    return missing
