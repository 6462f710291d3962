"""`wgsl` and its peers, measured in one run: the table in `wgsl/README.md`.

    python tests/support/wgsl_peers.py [FOLDER]

prints the table, and the texts of which two say different things. It asks `wgsl`; Tint and `wgsl_reflect`, which npm
installs (into FOLDER, or into a folder that is taken away again); and naga, through the package wgpu. The small texts
of the tests and the kernels are judged, and the small kernels of `messages/findings.txt` are run.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

import numpy as np
import wgpu
from support import messages, small_kernels, subgroup_texts, wgsl_programs, wgsl_verdicts
from support.problems import EVERY_VERSION

from wgsl import Problem, check, simulate
from wgsl.command.files import Source
from wgsl.command.peers import PEERS, answers, difference
from wgsl.simulator.findings import KINDS
from wgsl.simulator.trace import Trace
from wgsl.version import VERSION

PACKAGES = ("webgpu", "wgsl_reflect")
REFLECT = Path(__file__).with_name("wgsl_reflect.mjs")
LIMIT = 5  # seconds for a run
RACES = {"data race", "overlapping writes"}
NONE = "–"
SECONDS = "seconds of a processor: "
WAYS = {"driver": "on a driver", "watched": "by `detectRaces`", "executed": "by `WgslExec`"}
# A product of two matrices of 32 x 32 by tiles of 8 x 8.
PRODUCT = """\
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
var<workgroup> left: array<f32, 64>;
var<workgroup> right: array<f32, 64>;
@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * 8u + local.y;
  let column = group.x * 8u + local.x;
  var sum = 0.0;
  for (var tile = 0u; tile < 4u; tile++) {
    left[local.y * 8u + local.x] = a[row * 32u + tile * 8u + local.x];
    right[local.y * 8u + local.x] = b[(tile * 8u + local.y) * 32u + column];
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
      sum += left[local.y * 8u + k] * right[k * 8u + local.x];
    }
    workgroupBarrier();
  }
  c[row * 32u + column] = sum;
}
"""

# --- What is judged and run -----------------------------------------------------------------------------------------


class Text(NamedTuple):
    """A text, and where it comes from."""

    name: str
    text: str


class Run(NamedTuple):
    """A kernel that is run, and the kinds of findings that are due; `uniforms` are the numbers of such buffers."""

    text: str
    groups: tuple[int, int, int]
    buffers: list[np.ndarray]
    uniforms: list[int]
    kinds: set[str]
    options: dict[str, int]


def texts() -> list[Text]:
    """Return all small texts that the tests judge, and the kernels. What `wgsl` does not check is left out."""
    found = []
    for heading, programs in wgsl_programs.sections().items():
        if heading != "unsupported":
            found += [Text(f"{heading}: {one}", wgsl_programs.source(one.main, one.module)) for one in programs]
    for judged in wgsl_programs.judged, wgsl_programs.judged_halves, subgroup_texts.judged:
        for heading in "right", "refused":
            found += [Text(f"{heading}: {name}", text) for name, text in judged(heading).items()]
    found += [Text(str(text), text.text) for text in wgsl_verdicts.texts() if isinstance(text.text, str)]
    return found + [Text(kernel.name, kernel.source) for kernel in EVERY_VERSION]


def runs() -> list[Run]:
    """Return the small kernels whose comments say what is due."""
    found = []
    for _, heading, body, _ in messages.stored("findings"):
        if "without marks" not in heading:
            text = small_kernels.text_of(f"\n{body}", small_kernels.DECLARED)
            kinds = {kind for kind, _ in small_kernels.expected(f"\n{body}")[0]}
            options = {"max_steps": 300} if "300" in heading else {}
            found.append(Run(text, (int(heading[0]), 1, 1), small_kernels.buffers(), [3], kinds, options))
    return found


def product() -> Run:
    """Return a run that is larger."""
    numbers = np.arange(1024, dtype=np.float32) % 7
    return Run(PRODUCT, (4, 4, 1), [numbers, numbers, np.zeros(1024, np.float32)], [], set(), {})


# --- What each tool says --------------------------------------------------------------------------------------------


@dataclass
class Result:
    """The answers of a tool: the texts that it refuses, by number, and for each run the kinds that it reports.

    None stands for a run that it breaks off. `same` are the texts of which `wgsl` says the same, and `values` the runs
    without a mistake whose buffers are those of `wgsl`.
    """

    name: str
    refused: set[int]
    seconds: float
    same: set[int] = field(default_factory=set)
    reported: list[set[str] | None] = field(default_factory=list)
    late: int = 0
    values: dict[str, set[int]] = field(default_factory=dict)
    run_seconds: float = 0
    product_seconds: float = 0


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the seconds of a processor that something and its processes take, and its result."""
    begin = sum(os.times()[:4])
    result = work()
    return sum(os.times()[:4]) - begin, result


def simulated(run: Run) -> Trace:
    """Run a kernel by the simulator."""
    return simulate(run.text, run.buffers, run.groups, outputs=(), **run.options)


def ours(judged: Sequence[Text], run: Sequence[Run]) -> tuple[Result, list[tuple[Problem, ...]], list[Trace]]:
    """Return what `wgsl` says, with its problems and runs. The start of a process counts, as for each peer."""
    start, _ = timed(lambda: subprocess.run([sys.executable, "-c", "import wgsl; wgsl.check('')"], check=True))
    seconds, problems = timed(lambda: [check(text.text) for text in judged])
    traces = [simulated(one) for one in run]
    run_seconds, _ = timed(lambda: [simulated(one) for one in run if not is_endless(one)])
    product_seconds, _ = timed(lambda: simulated(product()))
    result = Result(f"`wgsl` {VERSION}, for Chrome", set(), start + seconds)
    result.reported = [{finding.kind for finding in trace.findings} for trace in traces]
    result.run_seconds = run_seconds
    result.product_seconds = product_seconds
    return result, problems, traces


def compiler(option: str, judged: Sequence[Text], problems: Sequence[tuple[Problem, ...]]) -> Result:
    """Return what a compiler says. Raises SystemExit where it cannot be asked."""
    sources = [Source(str(i), text.text) for i, text in enumerate(judged)]
    seconds, said = timed(lambda: answers(option, sources))
    if said.problem:
        sys.exit(said.problem)
    refused = {int(name) for name, refusal in said.by_name.items() if refusal}
    differing = [difference(option, source, said, found) for source, found in zip(sources, problems, strict=True)]
    same = {i for i, found in enumerate(differing) if not found}
    return Result(f"{PEERS[option].name}, `{said.asked}`", refused, seconds, same)


def reflect(package: Path, judged: Sequence[Text], run: Sequence[Run], traces: Sequence[Trace]) -> Result:
    """Return what `wgsl_reflect` says: its parser of texts, its detector of races, and its executor of right runs."""
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    spent, refusals = timed(lambda: asked(package, "parsed", [text.text for text in judged]))
    result = Result(f"`wgsl_reflect` {version}", {i for i, why in enumerate(refusals) if why}, spent)
    watched = asked(package, "watched", [*map(as_json, run)])
    result.reported = [*map(kinds_of, watched)]
    result.late = sum("late" in one for one in watched)
    result.run_seconds = sum(one["seconds"] for one, at in zip(watched, run, strict=True) if not is_endless(at))
    result.product_seconds = asked(package, "watched", [as_json(product())])[0]["seconds"]
    right = clean(run)
    executed = asked(package, "executed", [as_json(run[i]) for i in right])
    result.values["executed"] = {i for i, one in zip(right, executed, strict=True) if has_values(one, traces[i])}
    result.values["watched"] = {i for i in right if has_values(watched[i], traces[i])}
    return result


def asked(package: Path, way: str, items: Sequence[object]) -> list:
    """Return the answers of `wgsl_reflect` about texts or runs."""
    job = {"way": way, "items": items, "limit": LIMIT}
    command = ["node", str(REFLECT), str(package / "wgsl_reflect.module.js")]
    done = subprocess.run(command, input=json.dumps(job).encode(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def has_values(answer: dict, trace: Trace) -> bool:
    """Return True where the buffers are those of our run."""
    return answer.get("buffers") == words(trace.buffers)


def words(buffers: Sequence[np.ndarray]) -> list[list[int]]:
    """Return buffers as words of 32 bits."""
    return [buffer.view(np.uint32).tolist() for buffer in buffers]


def as_json(run: Run) -> dict[str, object]:
    """Return a run for another program."""
    return {"text": run.text, "groups": run.groups, "buffers": words(run.buffers), "uniforms": run.uniforms}


def kinds_of(answer: dict) -> set[str] | None:
    """Return what it reports, "race" and "error"; None where it breaks or takes too long."""
    if "late" in answer or answer["crash"]:
        return None
    return {kind for kind, there in (("race", answer["races"]), ("error", answer["errors"])) if there}


def clean(run: Sequence[Run]) -> list[int]:
    """Return the numbers of the runs without a mistake."""
    return [i for i, one in enumerate(run) if not one.kinds]


def is_endless(run: Run) -> bool:
    """Return True for a run that may never end."""
    return "endless loop" in run.kinds


def driven(run: Run) -> list[list[int]]:
    """Run a kernel by wgpu and a driver, and return its buffers."""
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    usage = wgpu.BufferUsage
    buffers, bindings, layout = [], [], []
    for i, numbers in enumerate(run.buffers):
        is_uniform = i in run.uniforms
        kind = usage.UNIFORM if is_uniform else usage.STORAGE
        buffers.append(device.create_buffer_with_data(data=numbers, usage=kind | usage.COPY_SRC))
        bindings.append({"binding": i, "resource": {"buffer": buffers[i], "offset": 0, "size": numbers.nbytes}})
        buffer = {"type": "uniform" if is_uniform else "storage"}
        layout.append({"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": buffer})
    group = device.create_bind_group_layout(entries=layout)
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[group]),
        compute={"module": device.create_shader_module(code=run.text), "entry_point": "main"},
    )
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.create_bind_group(layout=group, entries=bindings))
    compute.dispatch_workgroups(*run.groups)
    compute.end()
    device.queue.submit([encoder.finish()])
    return [np.frombuffer(device.queue.read_buffer(buffer), np.uint32).tolist() for buffer in buffers]


# --- The table ------------------------------------------------------------------------------------------------------


def verdict_rows(results: Sequence[Result], judged: Sequence[Text]) -> Iterator[list[str]]:
    """Yield what is said of texts, for which Tint is the yardstick: the label of a row, and a cell for each tool."""
    refused = results[1].refused
    taken = {*range(len(judged))} - refused
    yield [f"of {len(taken)} texts that Tint takes, takes", *(str(len(taken - one.refused)) for one in results)]
    yield [f"of {len(refused)} texts that Tint refuses, refuses", *(str(len(refused & one.refused)) for one in results)]
    same = [str(len(one.same)) if one.same else NONE for one in results]
    yield [f"of all {len(judged)} texts, has the verdict that `wgsl` expects of it", *same]
    yield [f"{SECONDS}all texts", *(rounded(one.seconds) for one in results)]


def run_rows(results: Sequence[Result], run: Sequence[Run]) -> Iterator[list[str]]:
    """Yield what is said of runs."""
    for kind in KINDS:
        due = [i for i, one in enumerate(run) if kind in one.kinds]
        if due:
            label = f"of {len(due)} runs with: {kind}, reports it in"
            yield [label, *(str(sum(reports(one, i, kind) for i in due)) if one.reported else NONE for one in results)]
    right = clean(run)
    yield [f"of {len(right)} right runs, reports something in", *cells(results, lambda one: alarms(one, right))]
    for way, label in WAYS.items():
        row = [str(len(one.values[way])) if way in one.values else NONE for one in results]
        yield [f"of {len(right)} right runs, has the values of `wgsl` in, {label}", *row]
    broken = cells(results, lambda one: str(sum(kinds is None for kinds in one.reported) - one.late))
    yield [f"of all {len(run)} runs, breaks off with an error of its own", *broken]
    yield [f"of all {len(run)} runs, is not done after {LIMIT} s", *cells(results, lambda one: str(one.late))]
    ending = f"{SECONDS}the runs without an endless loop, at most {LIMIT} each"
    yield [ending, *cells(results, lambda one: rounded(one.run_seconds))]
    yield [f"{SECONDS}a tiled product of 32 x 32", *cells(results, lambda one: rounded(one.product_seconds))]


def cells(results: Sequence[Result], cell: Callable[[Result], str]) -> list[str]:
    """Return a cell for each tool; those that run nothing have none."""
    return [cell(one) if one.reported else NONE for one in results]


def reports(result: Result, number: int, kind: str) -> bool:
    """Return True where a run is said to have this kind of mistake; for `wgsl_reflect`, any error will do."""
    other = "race" if kind in RACES else "error"
    return bool({kind, other} & (result.reported[number] or set()))


def alarms(result: Result, right: Sequence[int]) -> str:
    """Return in how many runs without a mistake one is reported."""
    return str(sum(bool(result.reported[i]) for i in right))


def rounded(value: float) -> str:
    """Return seconds with two digits."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table of Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def machine() -> str:
    """Return the processor and the system."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def differing(results: Sequence[Result], judged: Sequence[Text]) -> Iterator[str]:
    """Yield the texts whose verdict is not the one that `wgsl` expects of a compiler."""
    for one in results:
        for i in sorted({*range(len(judged))} - one.same if one.same else ()):
            yield f"{one.name} {'refuses' if i in one.refused else 'takes'}: {judged[i].name}"


def main(folder: Path) -> None:
    """Install what is asked, ask it, and print the table."""
    subprocess.run(
        ["npm", "install", "--silent", "--prefix", str(folder), *PACKAGES], check=True, shell=os.name == "nt"
    )
    judged = texts()
    run = runs()
    result, problems, traces = ours(judged, run)
    with chdir(folder):
        results = [result, compiler("tint", judged, problems), compiler("naga", judged, problems)]
    result.refused = results[1].refused ^ ({*range(len(judged))} - results[1].same)
    results[-1].values["driver"] = {i for i in clean(run) if driven(run[i]) == words(traces[i].buffers)}
    results.append(reflect(folder / "node_modules" / "wgsl_reflect", judged, run, traces))
    rows = [["", *(one.name for one in results)], *verdict_rows(results, judged), *run_rows(results, run)]
    print(f"Measured on {date.today():%Y-%m-%d}: {machine()}.\n\n{table(rows)}\n")
    print("\n".join(differing(results, judged)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).absolute())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
