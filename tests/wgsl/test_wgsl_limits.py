"""Texts that are long or deep: none raises an exception, the work grows with the length, and a limit is named."""

import sys
from collections.abc import Callable

import pytest

import wgsl
from wgsl.types.declarations import MOST_OPEN

FAULTY = "fn f0(x: u32) -> u32 { return 1.5; }"
WAITS = "fn f0(x: u32) -> u32 { if x == 0 { workgroupBarrier(); } return 1; }"


def kernel(body: str, declarations: str = "") -> str:
    entry = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32)"
    return f"{declarations}\n{entry} {{ {body} }}"


def chain(length: int, body: str = "return f{0}(x);") -> list[str]:
    """Functions of which each calls the one before it; the first has a barrier."""
    return [WAITS] + [f"fn f{i}(x: u32) -> u32 {{ {body.format(i - 1)} }}" for i in range(1, length)]


def twins(levels: int) -> str:
    """Structs of which each has two of the one before it."""
    inner = [f"struct S{i} {{ a: S{i - 1}, b: S{i - 1} }}" for i in range(1, levels)]
    return " ".join(["struct S0 { a: vec4f, b: vec4f }", *inner])


def nested(opened: str, inside: str, closed: str, levels: int) -> str:
    return opened * levels + inside + closed * levels


def kinds(text: str) -> list[str]:
    return [problem.kind for problem in wgsl.check(text)]


HUGE = "array<array<array<u32, 256>, 256>, 256>"
LIMITED = [  # each past a limit, and the kind of what is found
    (kernel(nested("{", "", "}", 5000)), "does not compile"),
    (kernel(nested("if t == 0 {", "", "}", 70)), "not portable"),
    (kernel("let x = " + nested("(", "1", ")", 5000) + ";"), "not portable"),
    (kernel("let x = " + nested("abs(", "1", ")", 1000) + ";"), "not portable"),
    (kernel("let x = t" + " + t" * 1000 + ";"), "not portable"),
    (kernel("let x = t" + " + t" * 300 + ";"), "not supported"),
    (kernel("if t == 0 {} " + "else if t == 1 {} " * 125), "not portable"),
    (kernel("if t == 0 {} " + "else if t == 1 {} " * 2000), "not portable"),
    (kernel("", " ".join(["struct S0 { a: f32 }"] + [f"struct S{i} {{ a: S{i - 1} }}" for i in range(1, 600)])),
     "not portable"),
    (kernel("", f"const a = {HUGE}();"), "not supported"),
    (kernel("", " ".join(f"fn f{i}() {{ f{(i + 1) % 500}(); }}" for i in range(500))), "not supported"),
    (kernel("let y = x; _ = y.a;", f"{twins(22)} @group(0) @binding(0) var<storage> x: S21;"), "not supported"),
]  # fmt: skip
RIGHT = [
    kernel(nested("{", "", "}", 126)),
    kernel("if t == 0 {} " + "else if t == 1 {} " * 124),
    kernel("let x = t" + " + t" * 150 + ";"),
    kernel("let x = " + nested("(", "t", ")", 126) + ";"),
    kernel(nested("for (;;) { if t == 0 { break; }", "", "}", 40)),
    kernel("_ = &x;", f"{twins(22)} @group(0) @binding(0) var<storage> x: S21;"),
    kernel("_ = &x;", f"{twins(22)} @group(0) @binding(0) var<uniform> x: S21;"),
    kernel("x = y; y.a = x.b;", f"{twins(22)} var<private> x: S21; var<private> y: S21;"),
    kernel("_ = a200;", "const a0 = 1; " + " ".join(f"const a{i} = a{i - 1};" for i in range(1, 201))),
    kernel("x = 1;", "alias A0 = f32; " + " ".join(f"alias A{i} = A{i - 1};" for i in range(1, 500))
           + "var<private> x: A499;"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), LIMITED)
def test_a_text_past_a_limit_has_one_problem(text, kind):
    assert kinds(text) == [kind]


@pytest.mark.parametrize("text", RIGHT)
def test_a_text_within_the_limits_is_right(text):
    assert wgsl.check(text) == ()


@pytest.mark.parametrize("order", [list, lambda functions: functions[::-1]], ids=["callees first", "callers first"])
def test_a_chain_of_calls_may_be_long(order):
    (problem,) = wgsl.check(kernel("_ = f999(t);", "\n".join(order(chain(1000)))))
    assert (problem.kind, problem.message[:30]) == ("not portable", "WGSL cannot prove that all thr")


def test_a_fault_at_the_end_of_a_chain_is_told_once():
    assert (
        len(wgsl.check(kernel("_ = f299(t);", "\n".join(["fn f0(x: u32) -> u32 { return 1.5; }", *chain(300)[1:]]))))
        == 1
    )


def test_a_circle_is_refused_by_name():
    circle = " ".join(f"fn f{i}() {{ f{(i + 1) % MOST_OPEN}(); }}" for i in range(MOST_OPEN))
    (problem,) = wgsl.check(circle)
    assert problem.message == "`f0` uses itself, which WGSL does not allow"


def deep(call: Callable, levels: int) -> object:
    return deep(call, levels - 1) if levels else call()


def test_a_caller_may_be_deep_in_pythons_stack():
    text = kernel("_ = f19(t);", "\n".join(chain(20)))
    free = sys.getrecursionlimit() - len(frames())
    assert deep(lambda: kinds(text), free - 30) == ["not portable"]


def test_a_text_for_which_no_stack_has_room_is_not_checked(monkeypatch):
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("wgsl.problems.ThreadPoolExecutor", no_thread)
    free = sys.getrecursionlimit() - len(frames())
    assert deep(lambda: kinds(kernel("_ = f19(t);", "\n".join(chain(20)))), free - 30) == ["not supported"]


def frames() -> list[object]:
    """The frames of Python's stack."""
    frame = sys._getframe()
    found = []
    while frame:
        found.append(frame)
        frame = frame.f_back
    return found


def calls(text: str) -> int:
    """The number of calls of Python functions that a check makes."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        wgsl.check(text)
    finally:
        sys.setprofile(before)
    return count


GROWING: dict[str, Callable[[int], str]] = {
    "calls": lambda n: kernel(f"_ = f{n - 1}(t);", "\n".join(chain(n))),
    "calls of two": lambda n: kernel(f"_ = f{n - 1}(t);", "\n".join(chain(n, "return f{0}(x) + f{0}(x);"))),
    "faulty callees": lambda n: kernel("", "\n".join([FAULTY, *chain(n)[1:]])),
    "constants": lambda n: "const a0 = 1; " + " ".join(f"const a{i} = a{i - 1} + a{i - 1};" for i in range(1, 60))
    + " ".join(f"const b{i} = a59;" for i in range(n)),
    "structs": lambda n: twins(n // 20),
    "loops": lambda n: kernel(nested("for (;;) { if t == 0 { break; } ", "", "}", n // 10)),
    "barriers": lambda n: kernel("if t == 0 { workgroupBarrier(); } " * n),
    "members": lambda n: "struct S { " + ", ".join(f"a{i}: u32" for i in range(n)) + " }",
}  # fmt: skip


@pytest.mark.parametrize("family", GROWING)
def test_twice_the_text_is_no_more_than_twice_the_work(family):
    """Calls are counted, for times depend on the machine."""
    make = GROWING[family]
    calls(make(100))  # what is made once
    few, more = (calls(make(n)) for n in (200, 400))
    assert more < 2.5 * few
