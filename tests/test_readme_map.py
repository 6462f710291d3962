"""The map in the README is true: a row for each lesson, with every lesson and kernel, and no link to a missing file.

That a false map is seen is in `messages/readme_map.txt`.
"""

from support.readme_map import wrong

from helpers.operations.kernels import ROOT


def test_the_map_is_true():
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if ".venv" not in path.parts}
    assert wrong((ROOT / "README.md").read_text(encoding="utf-8"), files) == []
