"""The picture in wgsl's README: a kernel, and what `wgsl run` prints of it. Run it to draw it anew."""

import io
import sys
from contextlib import redirect_stdout
from html import escape
from itertools import chain
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "wgsl"
COMMAND = "wgsl", "run", "race.wgsl", "input=64", "total=1"
COLUMNS, LETTER, LINE, MARGIN = 92, 8.45, 20, 16  # LETTER and LINE: the size of a letter of 14 pixels
COLORS = {"text": "#d4d4d4", "command": "#9cdcfe", "finding": "#ffb454"}


def printed() -> str:
    """The finding that the command prints, without the counts that follow it."""
    from wgsl.command import main

    file = str(FOLDER / "examples" / COMMAND[2])
    with redirect_stdout(io.StringIO()) as out:
        main(["run", file, *COMMAND[3:]])
    return out.getvalue().replace(file, COMMAND[2]).split("\n\nmultiply_adds")[0]


def lines() -> list[tuple[str, str]]:
    """Each line of the picture, after the color that it has."""
    source = (FOLDER / "examples" / COMMAND[2]).read_text(encoding="utf-8").splitlines()
    kernel = [("text", f"{number:>2}  {line}") for number, line in enumerate(source, 1)]
    folded = chain.from_iterable(map(_folded, printed().split("\n")))
    finding = [("finding", line) for line in folded]
    return [("command", "$ cat -n race.wgsl"), *kernel, ("text", ""), ("command", f"$ {' '.join(COMMAND)}"), *finding]


def _folded(line: str) -> list[str]:
    return wrap(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False) if len(line) > COLUMNS else [line]


def picture() -> str:
    """The picture as SVG."""
    rows = lines()
    width, height = round(COLUMNS * LETTER) + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    texts = "".join(
        f'<text x="{MARGIN}" y="{MARGIN + LINE * i + 14}" fill="{COLORS[color]}" xml:space="preserve">'
        f"{escape(row)}</text>\n"
        for i, (color, row) in enumerate(rows)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1e1e1e"/>\n{texts}</svg>\n'
    )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    (FOLDER / "race.svg").write_text(picture(), encoding="utf-8")
