"""Small texts with subgroups that Tint has judged, from `subgroup_judged.toml`."""

from pathlib import Path

from helpers.data import tables

JUDGED = Path(__file__).with_name("subgroup_judged.toml")
TEXT = """\
enable subgroups;
{directive}
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage> ro: array<u32>;
var<workgroup> w: array<u32, 64>;
var<workgroup> sum: atomic<u32>;
var<private> own: u32;
override ov = 1u;
struct S {{ a: u32 }}
{module}
@compute @workgroup_size(64) fn main(
  @builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32, @builtin(num_subgroups) count: u32,
  @builtin(workgroup_id) group: vec3u,
) {{
{main}
}}
"""


def judged(heading: str) -> dict[str, str]:
    """Return the texts that Tint takes ("right"), or the "refused" ones, by what differs in them."""
    return {str(row): text(row) for row in tables.parse(JUDGED)[heading]}


def text(row: str | dict[str, str]) -> str:
    """Return the whole text of a row: statements, or what the module has besides; or `text`, which is all of it."""
    parts = {"main": row} if isinstance(row, str) else row
    if "text" in parts:
        return parts["text"]
    return TEXT.format(**{"directive": "", "module": "", "main": ""} | parts)
