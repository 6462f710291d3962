"""Small pieces of WGSL, run to see what they are worth."""

import numpy as np

from helpers.gpu import launch
from wgsl import WgslError

TYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}
NO_VALUE = "does not compile"

ONE_VALUE = """
@group(0) @binding(0) var<storage, read_write> result: array<{kind}>;

@compute @workgroup_size(1)
fn main() {{
  {before}
  result[0] = {expression};
}}
"""


def value_of(expression: str, kind: str, before: str = "") -> str:
    """What the GPU stores when one thread assigns an expression to an element of type `kind`.

    Parameters
    ----------
    expression : str
        WGSL, such as ``7 / 2``.
    kind : str
        f32, i32 or u32.
    before : str
        Statements in front of it, such as ``let x = 1.5;``.

    Returns the value as text, or "does not compile". Raises ValueError for another type.
    """
    if kind not in TYPES:
        raise ValueError(f"kind = {kind!r}: it must be one of {', '.join(TYPES)}")
    source = ONE_VALUE.format(kind=kind, before=before, expression=expression)
    try:
        return str(launch(source, [np.zeros(1, TYPES[kind])])[0].item())
    except WgslError:
        return NO_VALUE
