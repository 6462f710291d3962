"""The house stays small: a budget of tokens for each folder, few rooms, no circle of imports, none that climbs."""

from pathlib import Path

from support.imports import circle, climbing, modules, order
from support.tokens import BUDGET, ROOT, budget, by_folder, over, tokens

MOST_ROOMS = 20
# A subject's folders count once.
SUBJECTS = {"threads", "summation", "convolution", "gemm", "network", "gradient_checks", "speed", "data_parallel"}


def rooms(counts: dict[str, int]) -> set[str]:
    """The folders of `helpers` with Python in them."""
    parts = (name.split("/")[1:] for name in counts if name.startswith("helpers/"))
    return {part[0] if part[0] in SUBJECTS else "/".join(part) for part in parts}


def tree(folder: Path, **files: str) -> Path:
    """A small tree: `helpers_gpu_passes="..."` is the text of helpers/gpu/passes.py."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("_")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_every_folder_keeps_to_its_budget_and_there_are_few_rooms():
    counts = by_folder(ROOT)
    assert over(counts, budget(BUDGET.read_text(encoding="utf-8"))) == []
    assert len(rooms(counts)) <= MOST_ROOMS


def test_no_import_climbs_or_goes_round_in_a_circle():
    graph = modules(ROOT, "helpers", "wgsl")
    assert circle(graph) == []
    assert climbing(graph, order((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))) == []
    assert not any(name.startswith("test_") for names in modules(ROOT / "tests", ".").values() for name in names)


# --- The checks above can fail --------------------------------------------------------------------------------

FLOORS = order("Imports run one way: `checks`, then `gpu` and `pictures`, then `gemm`. All of them may import `wgsl`.")


def test_what_counts_is_code():
    assert tokens('"""A page\nof text."""\n\n\nx = f(1)  # two\n\n\ndef f():\n    """One."""\n    return "a"\n') == 13
    assert tokens("x = {\n    'a': -1.5e-3,\n    r'\\d\\'#': a**b // ...,\n}  # 'b'\nx += f'{y}' >= \\\n z\n") == 22


def test_a_folder_over_its_budget_without_one_or_gone_is_seen(tmp_path):
    counts = by_folder(tree(tmp_path, helpers_gpu_passes="x = 1", helpers_gemm_pictures_bars="y = 2", wgsl_run="z = 3"))
    assert counts == {".": 9, "helpers": 6, "helpers/gpu": 3, "helpers/gemm": 3, "helpers/gemm/pictures": 3, "wgsl": 3}
    assert rooms(counts) == {"gpu", "gemm"}
    allowed = budget("# Folders\nhelpers 5  a part\nhelpers/gpu 3\nwgsl 3\nbrowser 1,000  more\n")
    assert over(counts, allowed) == [
        "helpers: 6 of 5",
        "browser is gone: take its line out of budget.txt",
        "helpers/gemm has no line in budget.txt",
    ]


def test_a_circle_is_seen_also_in_a_function_and_of_types(tmp_path):
    root = tree(
        tmp_path,
        helpers_gpu_a="from helpers.gpu import b",
        helpers_gpu_b="def f():\n    from .c import x",
        helpers_gpu_c="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from helpers.gpu.a import A",
        helpers_gpu_d="import helpers.gpu.a",
    )
    graph = modules(root, "helpers")
    assert {*circle(graph)} == {"helpers.gpu.a", "helpers.gpu.b", "helpers.gpu.c"}
    assert circle({**graph, "helpers.gpu.b": set()}) == []


def test_an_import_that_climbs_is_seen(tmp_path):
    root = tree(
        tmp_path,
        helpers_checks_a="from helpers.gpu import passes\nimport wgsl.run",
        helpers_gpu_passes="from helpers.pictures.bars import x",
        helpers_pictures_bars="import helpers.checks.a",
        helpers_attic_box="import helpers.checks.a",
        wgsl_run="from helpers.gpu import passes",
    )
    assert climbing(modules(root, "helpers", "wgsl"), FLOORS) == [
        "helpers.attic.box imports helpers.checks.a",
        "helpers.checks.a imports helpers.gpu.passes",
        "wgsl.run imports helpers.gpu.passes",
    ]
