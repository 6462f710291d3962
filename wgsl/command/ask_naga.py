"""Ask naga, the compiler of Firefox and wgpu: through the package `wgpu`, or else the command `naga`.

A list of texts comes in as JSON, and an answer for each goes into the file that is named, a line of JSON: null where it
takes the text, or [line, column, message] of its error. The first line says which of both is asked, or what is missing.
This runs in a process of its own: a text on which naga ends it does not end the check.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

FEATURES = {"shader-f16", "subgroup", "subgroup-barrier"}
PLACE = re.compile(r"┌─ [^\n]*?:(\d+):(\d+)$", re.MULTILINE)
CAUSE = re.compile(r"^ +(?:│ +)?= (?!note: )(.+)$", re.MULTILINE)
HEADLINE = re.compile(r"^(?:Shader '.*?' parsing error: |Shader validation error: |error: )(.+)$", re.MULTILINE)
Answer = tuple[int, int, str] | None


def answer(log: str) -> Answer:
    """Return the place and the message of what naga prints about an error."""
    place = PLACE.search(log)
    headline = HEADLINE.search(log)
    parts = [headline[1] if headline else log.strip(), *CAUSE.findall(log)]
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    return line, column, ": ".join(parts)


def by_package() -> tuple[str, Callable[[str], Answer]] | None:
    """Return the name and version of wgpu and a function that asks it; None without an adapter."""
    import wgpu

    try:
        adapter = wgpu.gpu.request_adapter_sync()
        device = adapter.request_device_sync(required_features=FEATURES & set(adapter.features))
    except Exception:  # of a kind that each version names in its own way
        return None

    def ask(text: str) -> Answer:
        try:
            device.create_shader_module(code=text)
        except wgpu.GPUError as error:
            return answer(str(error))
        return None

    return f"wgpu {wgpu.__version__}", ask


def by_command(path: str) -> tuple[str, Callable[[str], Answer]]:
    """Return the name and version of the command and a function that asks it."""
    done = subprocess.run([path, "--version"], capture_output=True, text=True)

    def ask(text: str) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "text.wgsl")
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([path, str(file)], capture_output=True, text=True, encoding="utf-8")
        return answer(done.stderr or done.stdout) if done.returncode else None

    return done.stdout.strip(), ask


def main(out: TextIO) -> None:
    """Answer for each text."""
    path = shutil.which("naga")
    package = find_spec("wgpu")
    chosen = by_package() if package else None
    if not chosen and path:
        chosen = by_command(path)
    if not chosen:
        print(json.dumps({"missing": "adapter" if package else "wgpu"}), file=out)
        return
    asked, ask = chosen
    print(json.dumps({"asked": asked}), file=out)
    for text in json.load(sys.stdin.buffer):
        print(json.dumps(ask(text)), file=out, flush=True)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as answers:
        main(answers)
    os._exit(0)  # a driver that breaks at the end changes no answer
