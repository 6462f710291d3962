"""Functions on the bits of integers: each gives what Python makes of the same 32 letters."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from wgsl.arithmetic import bits

WORDS = [0, 1, 2, 3, 0x80, 0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0xFFFFFFFE, 0xFFFFFFFF]
PLACES = [0, 1, 2, 7, 16, 30, 31, 32, 33, 40, 2**32 - 1]
DTYPES = {"i32": np.int32, "u32": np.uint32}


def letters(word: int) -> str:
    """The 32 bits of a word, the highest first."""
    return f"{word:032b}"


def number(letters: str, dtype: type) -> int:
    """The number that bits mean, in an i32 with a sign."""
    value = int(letters, 2)
    return value - 2**32 if dtype is np.int32 and letters[0] == "1" else value


def first_leading_bit(word: str, dtype: type) -> int:
    wanted = "0" if dtype is np.int32 and word[0] == "1" else "1"
    return 31 - word.index(wanted) if wanted in word else -1


ONE_ARGUMENT = {
    "count_one_bits": lambda word, _: word.count("1"),
    "count_leading_zeros": lambda word, _: len(word) - len(word.lstrip("0")),
    "count_trailing_zeros": lambda word, _: len(word) - len(word.rstrip("0")),
    "first_leading_bit": first_leading_bit,
    "first_trailing_bit": lambda word, _: 31 - word.rindex("1") if "1" in word else -1,
    "reverse_bits": lambda word, dtype: number(word[::-1], dtype),
}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize(("name", "expected"), ONE_ARGUMENT.items(), ids=ONE_ARGUMENT)
def test_a_function_of_one_word(name: str, expected: Callable, dtype: type):
    values = np.array(WORDS, np.uint32).view(dtype)
    results = getattr(bits, name)(values)
    assert results.dtype == dtype
    right = [expected(letters(word), dtype) for word in WORDS]
    assert results.view(np.uint32).tolist() == [result % 2**32 for result in right]


def part(word: str, offset: int, count: int) -> str:
    """The bits of a word from an offset on, the highest first, as far as the word has them."""
    upward = word[::-1]
    return upward[offset : offset + count][::-1]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_bits_are_extracted_with_their_sign_and_none_are_0(dtype: type):
    rows = [*product(WORDS, PLACES, PLACES)]
    words, offsets, counts = np.array(rows, np.uint32).T
    expected = []
    for word, offset, count in rows:
        extracted = part(letters(word), offset, count)
        fill = extracted[:1] if dtype is np.int32 else "0"
        expected.append(number(extracted.rjust(32, fill or "0"), dtype))
    results = bits.extract_bits(words.copy().view(dtype), offsets, counts)
    assert results.dtype == dtype
    assert results.tolist() == expected


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_bits_are_inserted_and_all_others_stay(dtype: type):
    rows = [*product(WORDS[::2], WORDS[1::2], PLACES, PLACES)]
    words, inserted, offsets, counts = np.array(rows, np.uint32).T
    expected = []
    for word, new, offset, count in rows:
        upward = letters(word)[::-1]
        taken = letters(new)[::-1][: len(part(letters(word), offset, count))]
        start = min(offset, 32)
        expected.append(number((upward[:start] + taken + upward[start + len(taken) :])[::-1], dtype))
    results = bits.insert_bits(words.copy().view(dtype), inserted.copy().view(dtype), offsets, counts)
    assert results.dtype == dtype
    assert results.tolist() == expected
