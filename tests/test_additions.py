"""An operation and an activation that are added in one place of a copy of the project are found everywhere.

The texts below are all that CONTRIBUTING.md asks for. The general tests find them there, and pass.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.launcher import ROOT
from support.sample import at_night

KERNEL = """\
// scale / 1_thread_per_element
//
// equation  output[i] = 2 * input[i]
// numpy     output = 2 * input
// in        input (n)
// out       output (n)
// dispatch  ceil(n / 256) workgroups of 256 threads
// barriers  none: each thread writes its own element and reads only inputs
// cost      per element:
//           1 global load, 0 workgroup loads, 0 multiply-adds
// limits    none that matter: it only moves memory
// new here  everything

struct Params {
  count: u32,  // n
}

@group(0) @binding(0)
var<storage, read> input: array<f32>;         // (n)
@group(0) @binding(1)
var<storage, read_write> output: array<f32>;  // (n)
@group(0) @binding(2)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which element is mine? Workgroups lie in rows of up to 65,535.
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (i >= params.count) { return; }
  output[i] = 2.0 * input[i];
}
"""
VERSIONS = {
    "1_thread_per_element": KERNEL,
    "2_sum_with_itself": KERNEL.replace("1_thread_per_element", "2_sum_with_itself")
    .replace("2.0 * input[i];", "input[i] + input[i];")
    .replace("1 global load,", "2 global loads,")
    .replace("// equation  output[i] = 2 * input[i]\n// numpy     output = 2 * input\n", ""),
}
MISTAKE = """
["scale/{version}"]
shape = "ELEMENTS"
mistakes = [
  {{ name = "element moved", old = 'input[i];', new = 'input[i / 2u];' }},
]
"""
PLANTED = "".join(MISTAKE.format(version=version) for version in VERSIONS)
ADDED = {  # to the ends of files
    "helpers/operations/network/reference.py": """
def scale(input: Array, shape: object) -> Array:
    return 2 * np.asarray(input, np.float64)
""",
    "helpers/operations/network/operations.py": f"""
OPERATIONS["scale"] = Operation(
    name="scale",
    tensors=("input", "output"),
    outputs=("output",),
    versions=dict.fromkeys({[*VERSIONS]}, _elements),
    choose=lambda shape, adapter: [Choice(version, "it is new") for version in {[*VERSIONS]}],
    answer=reference.scale,
    examples=[ElementShape(7), ElementShape(300)],
)
""",
    "tests/support/kernel_faults.toml": PLANTED,
    **{f"kernels/scale/{version}.wgsl": text for version, text in VERSIONS.items()},
}
QUICK_GELU = """    "quick_gelu": Activation(
        function=lambda x: x * sigmoid(1.7 * x),
        steepest=(1.10, 0.86),
        factors=lambda x: (1.7 * x, 1.0, 1.7 * x),
        size=abs,
    ),
}
ACTIVATIONS"""
CHANGED = {
    "helpers/operations/activations.py": ("}\nACTIVATIONS", QUICK_GELU),
    "kernels/shared/activate.wgsl": (
        "    default:",
        "    case 6u: { return max(x, -52.0) * sigmoid(1.7 * x); }  // quick_gelu\n    default:",
    ),
    "kernels/shared/derivative.wgsl": (
        "    default:",
        """    case 6u: {                                        // quick_gelu
      let t = clamp(x, -52.0, 52.0);
      return sigmoid(1.7 * t) * (1.0 + 1.7 * t * sigmoid(-1.7 * t));
    }
    default:""",
    ),
    "README.md": ("[relu_backward](", "[scale](kernels/scale), [relu_backward]("),
}
WORDS = (
    "kernels kernel_files operations wrong_kernels simulator_kernels simulator_costs iterations activations readme_map"
)
GENERAL = [f"tests/test_{word}.py" for word in WORDS.split()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with what is added, after the one command."""
    folder = tmp_path_factory.mktemp("copy") / "convgrad"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__"))
    for path, text in ADDED.items():
        (folder / path).parent.mkdir(exist_ok=True)
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write(text)
    for path, (old, new) in CHANGED.items():
        text = (folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")
    subprocess.run([sys.executable, folder / "tests/support/shared_blocks.py"], check=True)
    return folder


def general_tests(folder: Path, words: str, files: list[str] = GENERAL) -> str:
    """The report of a copy's general tests whose names have one of the words; it lists which passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfp", "-p", "no:cacheprovider", *files, "-k", words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@at_night
def test_the_general_tests_find_an_operation_and_an_activation_and_pass(copy):
    report = general_tests(copy, "scale or quick_gelu or block or map_is_true")
    assert re.search(r"^\d+ passed", report, re.MULTILINE), report
    for name in "simulator_costs.py::.*[scale/2_sum", "activations.py::.*[quick_gelu", "kernel_files.py::.*block":
        assert re.search(f"^PASSED tests/test_{name.replace('[', '.*')}", report, re.MULTILINE), name


@at_night
def test_they_fail_where_what_was_added_is_wrong(copy):
    wrong = VERSIONS["2_sum_with_itself"].replace("input[i];", "input[0];")
    (copy / "kernels/scale/2_sum_with_itself.wgsl").write_text(wrong, encoding="utf-8")
    failed = "FAILED tests/test_kernels.py::test_whole_and_random_numbers_come_out_right[scale/2_sum_with_itself]"
    assert failed in general_tests(copy, "scale/2", GENERAL[:1])
