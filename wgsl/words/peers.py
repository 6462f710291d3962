"""The sentences about compilers that are asked, too."""

from __future__ import annotations

SHOWN = 1000  # letters of what a program prints
MISSING = {
    "node": "there is no `node` on the PATH: install Node.js, and `npm install webgpu` in this folder",
    "webgpu": "node finds no package `webgpu` from this folder: `npm install webgpu`, or name its folder in NODE_PATH",
    "wgpu": "Python has no package `wgpu`, and there is no `naga` on the PATH: `pip install wgpu` is enough",
    "adapter": "its package is installed, and finds no adapter: install a driver, such as Mesa's software one",
}


def refused(name: str, asked: str, reason: str, target: str) -> str:
    """Return what a compiler says of a text in which nothing was found."""
    return f"{name} ({asked}) refuses the text: {reason}; `wgsl` finds nothing in it that {target} refuses"


def taken(name: str, asked: str, rule: str, target: str) -> str:
    """Return which compiler takes a text in which something was found."""
    return f"`wgsl` finds here what {target} refuses ({rule}), and {name} ({asked}) takes the text"


def missing(option: str, what: str) -> str:
    """Return why a compiler cannot be asked."""
    return f"--also {option}: {MISSING[what]}"


def stopped(option: str, name: str, left: int, reason: str, printed: str) -> str:
    """Return where a compiler stopped, with the end of what it printed, and how many texts are left."""
    rest = f", and was not asked about the {left} after it" if left else ""
    end = f":\n{printed[-SHOWN:]}" if printed else ""
    return f"--also {option}: it stopped at {name} ({reason}){rest}{end}"


def not_counted(option: str, target: str, other: str) -> str:
    """Return why it makes no sense to ask a compiler."""
    return f"--also {option}: with --target {target}, no refusal by it counts: write --target {other} or portable"
