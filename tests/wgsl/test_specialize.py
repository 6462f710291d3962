"""Text for one layer, as `messages/specialized.txt` has it: how long it may be."""

import pytest

from wgsl import Kernel, WgslError
from wgsl.specialize import MOST_CHARACTERS, specialize

TEXT = """const ROWS: u32 = 2u;
@compute @workgroup_size(1) fn main() {
  for (var i = 0u; i < ROWS; i++) {  // unroll
  }
}
"""


def test_a_text_has_at_most_100_000_characters():
    longest = TEXT + " " * (MOST_CHARACTERS - len(specialize(Kernel(TEXT, "text"), {"ROWS": 12}).source))
    assert len(specialize(Kernel(longest, "text"), {"ROWS": 12}).source) == MOST_CHARACTERS
    with pytest.raises(WgslError, match="for this layer has 100,001 characters: it may have at most 100,000"):
        specialize(Kernel(f"{longest} ", "text"), {"ROWS": 12})
