"""Kernels as text: what `messages/declared.txt` has of what a source declares, and how a lesson shows it."""

from helpers.operations.kernels import load, versions
from wgsl import PART, SECTION, without_comments


def test_a_long_text_is_read_in_time_that_grows_as_the_text():
    """A copy of the rest for each comment would take a minute."""
    assert not without_comments("// for\n/* a /* b */ c */\n" * 40_000).strip()


# --- How a lesson shows it (the stored outputs of lessons show numbers of lines, and functions) -------------------


def test_the_parts_of_a_file_are_the_whole_file():
    for version in versions("conv2d_grad_input"):
        kernel = load("conv2d_grad_input", version)
        numbers = range(1 + len(PART.findall(kernel.source)))
        names = [section[2] for section in SECTION.finditer(kernel.source)]
        parts = sorted((kernel.part(name) for name in (*numbers, *names)), key=lambda part: part.first_line)
        text = "\n".join(part.text for part in parts)
        assert without_blank_lines(text) == without_blank_lines(kernel.source)


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]
