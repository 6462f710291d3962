"""Template lists: whether a ``<`` compares two values or opens a list, as in ``array<f32, 4>``.

The specification settles this before its grammar is used (section "Template lists"): a ``<`` behind a name opens a list
if a ``>`` follows at the same depth of brackets, and nothing stands between them that no list contains. So
``a < b && c > d`` has two comparisons, and ``f(a < b, c > d)`` has a list.
"""

import re

OPEN, CLOSE = "\uf8fe", "\uf8ff"  # private letters, one for one, so that every offset stays
FOREIGN = str.maketrans({OPEN: "\0", CLOSE: "\0"})
PART = re.compile(
    r"[^\W\d]\w*(?:\s*(?P<opens><)(?![<=]))?"  # a name, and the < behind it
    r"|\d[\w.]*"  # a number's suffix is no name
    r"|(?P<sign><<=?|<=|[=!]=|&&|\|\||>=?|[()\[\];{:=])"
)


def marked(code: str) -> str:
    """A text without comments, with OPEN and CLOSE for the < and > of its template lists."""
    letters = list(code.translate(FOREIGN))
    for opened, closed in _lists(code):
        letters[opened], letters[closed] = OPEN, CLOSE
    return "".join(letters)


def _lists(code: str) -> list[tuple[int, int]]:
    """The offsets of the < and > around each template list."""
    found, pending, depth, at = [], [], 0, 0  # pending: each < that may open a list, and the brackets around it
    while part := PART.search(code, at):
        at, sign = part.end(), part["sign"]
        if part["opens"]:
            pending.append((part.start("opens"), depth))
        elif sign in (">", ">=") and pending and pending[-1][1] == depth:
            found.append((pending.pop()[0], part.start()))
            at = part.start() + 1  # what is behind a closing > is read anew: it may be another one
        elif sign in ("(", "["):
            depth += 1
        elif sign in (")", "]"):
            _drop(pending, depth)
            depth = max(0, depth - 1)
        elif sign in ("&&", "||"):
            _drop(pending, depth)
        elif sign in ("=", ";", "{", ":"):
            pending, depth = [], 0
    return found


def _drop(pending: list[tuple[int, int]], depth: int) -> None:
    """Forget each < at this depth, or deeper."""
    while pending and pending[-1][1] >= depth:
        pending.pop()
