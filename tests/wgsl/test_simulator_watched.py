"""Variables that are watched: what each held, in whom, after which statement."""

from collections import defaultdict
from random import Random

import numpy as np
from support.small_kernels import THREADS, run, text_of

from wgsl.simulator import trace as traces

WORD = 2**32
FIRST = text_of("").count("\n") - 1  # the line in which a body begins


def held(trace, name, dtype=np.uint32):
    """(step, line, values by thread) of each statement that gave the variable a value."""
    steps = defaultdict(dict)
    for row in trace.watched[name]:
        steps[int(row["step"]), int(row["line"])][int(row["invocation"])] = row["value"].view(dtype).tolist()
    return [(*place, values) for place, values in steps.items()]


def test_each_statement_that_writes_a_variable_gives_the_values_of_those_that_ran_it():
    trace = run(
        "var sum = 0.5;\nif (t < 2u) {\n  sum += f32(t); let near = t;\n}\nnumbers[t] = u32(sum);",
        watch=["sum", "t", "near"],
    )
    everyone = dict.fromkeys(range(THREADS), 0.5)
    steps = [step for step, line, _ in held(trace, "sum")]
    assert [trace.steps[step].line for step in steps] == [FIRST, FIRST + 2]
    assert [values for *_, values in held(trace, "sum", np.float32)] == [everyone, {0: 0.5, 1: 1.5}]
    assert trace.steps[steps[1]].active.tolist() == [0, 1]
    assert [(step, values) for step, _, values in held(trace, "t")] == [(-1, {i: i for i in range(THREADS)})]
    assert [values for *_, values in held(trace, "near")] == [{0: 0, 1: 1}]
    assert "watched sum: 10 rows of step, line, workgroup, invocation, value" in repr(trace)


def test_nothing_is_watched_unasked_and_watching_changes_nothing():
    body = "var sum = 0u; for (var i = 0u; i < t; i++) { sum += numbers[i]; } numbers[t + 8u] = sum;"
    plain, watched = run(body), run(body, watch=["sum", "i", "t", "id", "group"])
    assert (plain.watched, repr(plain)) == ({}, "your kernel: no finding")
    assert (plain.counts.total, len(plain.steps)) == (watched.counts.total, len(watched.steps))
    assert (plain.accesses == watched.accesses).all()


def test_workgroups_are_those_of_the_accesses():
    rows = run("let mine = t + 10u * group;", groups=2, watch=["mine"]).watched["mine"]
    assert rows["workgroup"][:, 0].tolist() == [0] * THREADS + [1] * THREADS
    assert rows["value"].tolist() == [*range(THREADS), *range(10, 10 + THREADS)]


def test_values_past_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr(traces, "MOST", 12)
    trace = run("var sum = 1u; sum = 2u;", watch=["sum"])
    assert (trace.watched["sum"]["value"].tolist(), trace.dropped) == ([1] * THREADS, THREADS)


# --- Random kernels -------------------------------------------------------------------------------------------


class RandomKernel:
    """The same random statements in WGSL and in Python, which notes what each name holds."""

    def __init__(self, seed: int) -> None:
        self.random, self.loops = Random(seed), 0
        self.wgsl, self.python = [], ["a = b = 0"]
        self.block(0, 5)

    def value(self) -> str:
        """An expression; `#` stands for the u of WGSL's numbers."""
        first, second = self.random.choices("abt", k=2)
        return f"{first} {self.random.choice('+*^')} ({second} + {self.random.randrange(9)}#)"

    def add(self, wgsl: str, python: str) -> None:
        """Some lines in both languages."""
        self.wgsl.append(wgsl.replace("#", "u"))
        self.python.append(python.replace("#", ""))

    def block(self, depth: int, count: int, inside: bool = False) -> None:
        """Some statements; `inside` a loop they may leave it."""
        space = "  " * depth
        for _ in range(count):
            kind = self.random.choice(["set", "set", "if", "for", "break" if inside else "set"]) if depth < 3 else "set"
            name, value, rest = self.random.choice("ab"), self.value(), self.random.randrange(3)
            asked, python = f"if (({value}) % 3# == {rest}#)", f"{space}if ({value}) % {WORD} % 3 == {rest}:"
            if kind == "set":
                self.add(f"{name} = {value};", f"{space}{name} = ({value}) % {WORD}; note('{name}', {name})")
            elif kind == "break":
                self.add(f"{asked} {{ break; }}", f"{python} break")
            else:
                if kind == "for":
                    self.loops += 1
                    i = f"i{self.loops}"
                    asked = f"for (var {i} = 0u; {i} < {name} % 4u; {i}++)"
                    python = f"{space}{i} = -1\n{space}while ({i} := note('{i}', {i} + 1)) < {name} % 4:"
                self.add(f"{asked} {{", python)
                self.block(depth + 1, 2, inside or kind == "for")
                self.wgsl.append("}")


def test_random_kernels_hold_what_python_holds_thread_by_thread():
    for seed in range(20):
        made = RandomKernel(seed)
        names = ["a", "b", *(f"i{n + 1}" for n in range(made.loops))]
        trace = run("var a = 0u; var b = 0u;\n" + "\n".join(made.wgsl), watch=names)
        for thread in range(THREADS):
            noted = {name: [0] if name in "ab" else [] for name in names}

            def note(name, value, noted=noted):
                noted[name].append(value)
                return value

            exec("\n".join(made.python), {"note": note, "t": thread})
            for name, seen in trace.watched.items():
                assert seen["value"][seen["invocation"] == thread].tolist() == noted[name], (seed, name, made.wgsl)
