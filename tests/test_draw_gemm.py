"""The pictures of a fused layer: in every state that a slider can reach, words are readable, apart and on the sheet."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from helpers import draw, explore_gemm, gemm, reference_gemm
from helpers.draw import Picture, Word, Words
from helpers.draw_activations import NAMES, TAILS, ActivationsPicture, is_right, tails
from helpers.draw_gemm import GemmPicture, timeline
from helpers.draw_tiles import TilesPicture
from helpers.explore import Explorer

SMALLEST = 12  # CSS pixels


# --- Reading a picture ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Let words remember what they were told to write."""
    put = Words.put

    def put_and_keep(self, words):
        self.kept = list(words)
        put(self, self.kept)

    monkeypatch.setattr(Words, "put", put_and_keep)


def written(picture: Picture) -> list[tuple[Word, tuple[str, str]]]:
    """All words on a picture, each with its weight and style."""
    artists = picture.figure.findobj(Words)
    return [(word, artist.face) for artist in artists for word in artist.kept if word.text.strip()]


def extents(words: list[tuple[Word, tuple[str, str]]]) -> np.ndarray:
    """Left, top, right and bottom of each, in CSS pixels."""
    outlines = [draw._outline(word, *face)[0] for word, face in words]
    return np.array([[*outline.min(axis=0), *outline.max(axis=0)] for outline in outlines])


def faults(picture: Picture) -> Iterator[str]:
    """What a reader would stumble over."""
    if picture.width > 960 or picture.height > 460:
        yield f"the sheet is {picture.width} x {picture.height}"
    words = written(picture)
    boxes, texts = extents(words), [word.text for word, _ in words]
    yield from (f"{word.text!r} is small" for word, _ in words if word.size < SMALLEST)
    off = (boxes[:, :2] < 0).any(axis=1) | (boxes[:, 2:] > (picture.width, picture.height)).any(axis=1)
    yield from (f"{texts[i]!r} leaves the sheet" for i in np.flatnonzero(off))
    apart = (boxes[:, None, :2] >= boxes[None, :, 2:]).any(axis=2)
    overlap = np.triu(~apart & ~apart.T, 1)
    yield from (f"{texts[i]!r} and {texts[j]!r} overlap" for i, j in np.argwhere(overlap))


def words_of(picture: Picture) -> list[str]:
    return [word.text for word, _ in written(picture)]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        (Word(100, 50, "over"), "'here' and 'over' overlap"),
        (Word(195, 20, "out"), "'out' leaves the sheet"),
        (Word(30, 20, "tiny", 11), "'tiny' is small"),
    ],
)
def test_a_fault_would_be_seen(word, found):
    picture = Picture(200, 100)
    picture.words([Word(90, 52, "here")])
    assert not list(faults(picture))
    picture.words([word])
    assert list(faults(picture)) == [found]


# --- The four products ----------------------------------------------------------------------------------

A = np.array([[1, 0, 2, 1], [0, 3, 1, -1], [2, 1, 0, 1]], np.float32)
B = np.array([[1, 0, 2, -1, 1], [0, 1, 1, 2, 0], [2, -1, 0, 1, 3], [1, 0, -2, 1, 1]], np.float32)
BIAS = np.array([1, 0, -1, 2, -3], np.float32)
GRAD = np.array([[2, -1, 1, 0, 3], [1, 2, -1, 3, -2], [0, 1, 2, -1, 1]], np.float32)


def gemm_picture(columns: int = 5, negate: bool = False) -> GemmPicture:
    """The picture over the numbers above, with the reference in the GPU's place."""
    sign = -1 if negate else 1
    a, b, bias, grad = sign * A, B[:, :columns], BIAS[:columns], sign * GRAD[:, :columns]
    names = "d_a", "d_b", "d_bias"
    gradients = reference_gemm.backward(a[None], b, bias, grad[None], "relu")
    returned = {name: g[0] if name == "d_a" else g for name, g in zip(names, gradients, strict=True)}
    return GemmPicture(a, b, bias, grad, {"pre": reference_gemm.pre(a, b, bias), **returned})


def products() -> Explorer:
    """The explorer over the numbers above and what the GPU makes of them."""
    pre = gemm.gemm_bias_act(A[None], B, BIAS)[0]
    d_a, d_b, d_bias = gemm.gemm_bias_act_backward(A[None], B, BIAS, GRAD[None], "relu")
    return explore_gemm.products(A, B, BIAS, GRAD, pre, d_a[0], d_b, d_bias)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_every_state_of_the_products_is_readable(columns, negate):
    picture = gemm_picture(columns, negate)
    for number in range(4):
        for element in np.ndindex(picture.size(number)):
            assert not list(faults(picture.show(number, *element))), (number, element)


def test_the_sum_of_the_terms_is_what_the_gpu_returned():
    explorer = products()
    picture = explorer._picture
    for number in range(4):
        for row, column in np.ndindex(picture.size(number)):
            total, returned = explorer.set(product=number, row=row, column=column).rsplit(" = ", 1)[1].split("; ")
            assert returned == f"the GPU returned {total}."
            assert words_of(picture)[-2:] == [f"sum of its terms: {total}", f"the GPU returned: {total}"]


def test_a_wrong_result_is_told_apart_from_its_terms():
    picture = gemm_picture()
    picture.matrices["d_b"][2, 1] += 1
    assert picture.show(2, 2, 1).sentence.endswith(" = 2; the GPU returned 3.")


def test_sentences_of_the_products():
    explorer = products()
    assert explorer.set(product=0, row=1, column=2) == (
        "pre[1,2] = a[1,:] · b[:,2] + bias[2] = 0·2 + 3·1 + 1·0 + (−1)·(−2) + (−1) = 4; the GPU returned 4."
    )
    assert explorer.set(product=1) == (
        "d_a[1,2] = grad_pre[1,:] · b[2,:] = 1·2 + 2·(−1) + (−1)·0 + 3·1 + 0·3 = 3; the GPU returned 3."
    )
    assert explorer.set(product=2, row=2, column=1) == (
        "d_b[2,1] = a[:,2] · grad_pre[:,1] = 2·0 + 1·2 + 0·1 = 2; the GPU returned 2."
    )
    assert explorer.set(product=3, column=3) == (
        "d_bias[3] = the sum of grad_pre[:,3] = 0 + 3 + (−1) = 2; the GPU returned 2."
    )


def test_the_limits_of_row_and_column_follow_the_product():
    explorer = products()
    explorer.set(product=2, row=3, column=4)
    assert explorer.values == {"product": 2, "row": 3, "column": 4}
    explorer.set(product=1)
    assert explorer.values == {"product": 1, "row": 2, "column": 3}
    explorer.set(product=3)
    assert explorer.values == {"product": 3, "row": 0, "column": 3}


def test_the_smallest_example_is_drawn():
    one, zero = np.ones((1, 1), np.float32), np.zeros(1, np.float32)
    explorer = explore_gemm.products(one, one, zero, one, one, one, one, zero + 1)
    assert explorer.sentence == "d_b[0,0] = a[:,0] · grad_pre[:,0] = 1·1 = 1; the GPU returned 1."


def test_an_example_too_large_for_the_sheet_is_refused():
    ones = np.ones((5, 4), np.float32)
    with pytest.raises(ValueError, match=r"M, K, N = \(5, 4, 5\): at most 4, 4 and 5 fit"):
        GemmPicture(ones, B, BIAS, np.ones((5, 5)), {})


# --- Tiles ----------------------------------------------------------------------------------------------


def operands(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return tuple(random.integers(-3, 4, size).astype(np.float32) for size in ((m, k), (k, n)))


def tiles(a: np.ndarray, b: np.ndarray) -> Explorer:
    """The explorer over two operands and what the GPU makes of them."""
    zeros = np.zeros(b.shape[1], np.float32)
    return explore_gemm.tiles(a, b, gemm.gemm_bias_act(a[None], b, zeros)[0])


@pytest.mark.parametrize("sizes", [(8, 10, 8), (4, 12, 8), (8, 9, 4)], ids=str)
def test_every_state_of_the_tiles_is_readable(sizes):
    a, b = operands(*sizes)
    picture = TilesPicture(a, b, a @ b)
    for step, thread in product(range(picture.steps), range(16)):
        assert not list(faults(picture.show(step, thread))), (step, thread)


def test_the_last_step_writes_what_the_gpu_returned():
    a, b = operands(8, 10, 8)
    explorer = tiles(a, b)
    for thread, value in enumerate((a @ b)[4:, 4:].flat):
        said = explorer.set(step=12, thread=thread)
        number = draw.number(value)
        assert said.endswith(f"= {number}; the GPU returned {number}."), said


def test_a_thread_trusts_its_own_cells_before_the_barrier_and_all_after_it():
    a, b = operands(8, 10, 8)
    picture = TilesPicture(a, b, a @ b)
    assert words_of(picture.show(4, 6)).count("?") == 30
    assert "?" not in words_of(picture.show(5, 6))


def test_sentences_of_the_tiles():
    a, b = operands(8, 10, 8)
    explorer = tiles(a, b)
    row, column = "threads 4 to 7", "threads 2, 6, 10 and 14"
    assert explorer.set(step=8, thread=6).startswith(
        "Step 8, load: thread 6 loads a[5,10] = 0 (past the edge) and b[9,6]"
    )
    assert f"what {row} loaded on the left and {column} on the right" in explorer.set(step=5)
    assert f"{row} read what thread 6 put on the left, and {column} what it put" in explorer.set(step=7)
    assert "no tile follows" in explorer.set(step=11)


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"M, K, N = \(8, 13, 8\): the picture has room"):
        TilesPicture(*operands(8, 13, 8), np.zeros((8, 8)))
    with pytest.raises(ValueError, match=r"M, K, N = \(6, 10, 8\): the picture has room"):
        TilesPicture(*operands(6, 10, 8), np.zeros((6, 8)))
    with pytest.raises(ValueError, match="b has elements other than -9"):
        TilesPicture(operands(8, 10, 8)[0], np.full((10, 8), 10), np.zeros((8, 8)))


# --- Activations ----------------------------------------------------------------------------------------


def test_the_kernels_number_the_activations_as_drawn():
    assert NAMES == gemm.ACTIVATIONS


def test_every_state_of_the_activations_is_readable():
    picture = ActivationsPicture()
    for act, tenths in product(range(6), range(-60, 61)):
        assert not list(faults(picture.show(act, tenths))), (act, tenths)


def test_a_tangent_stays_in_its_plot():
    picture = ActivationsPicture()
    for act, tenths in product(range(6), range(-60, 61)):
        picture.show(act, tenths)
        left, top, width, height = picture.curve.box
        corners = picture.tangent.get_path().vertices - (left, top)
        assert (corners >= -1e-6).all(), (act, tenths)
        assert (corners <= np.array([width, height]) + 1e-6).all(), (act, tenths)


def test_the_sentence_of_an_activation():
    assert explore_gemm.activations().set(act=4, tenths=0) == (
        "sigmoid at x = 0: act(x) = 0.5, and its slope is 0.25, so an upstream gradient of 1 goes on as 0.25."
    )


def test_every_naive_formula_fails_in_float32_only_and_every_stable_one_holds():
    for tail in TAILS:
        with np.errstate(all="ignore"):
            naive, stable = (of(np.float32(tail.x)) for of in (tail.naive_of, tail.stable_of))
            true = tail.true_of(np.float64(tail.x))
            near = [of(np.float64(0.7)) for of in (tail.naive_of, tail.stable_of, tail.true_of)]
        assert naive.dtype == stable.dtype == np.float32, tail.quantity
        assert not is_right(naive, true), tail.quantity
        assert is_right(stable, true), tail.quantity
        np.testing.assert_allclose(near, near[-1], rtol=1e-12, err_msg=tail.quantity)


def test_the_table_of_tails_is_readable():
    assert not list(faults(tails()))


# --- A launch -------------------------------------------------------------------------------------------

SPANS = [
    ("module", 0, 1.2),
    ("one launch of 200 passes", 1.3, 150.25),
    ("submit", 151.6, 0.004),
    ("wait and read", 151.61, 1400.0),
]


@pytest.mark.parametrize("scale", [1e-3, 1, 1e3])
def test_a_timeline_is_readable_at_any_scale(scale):
    picture = timeline([(name, start * scale, lasts * scale) for name, start, lasts in SPANS] * 3, "said")
    assert not list(faults(picture))
    assert picture.sentence == "said"


def test_a_timeline_without_length_is_drawn():
    assert not list(faults(timeline([("submit", 3.0, 0.0)], "said")))


def test_spans_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="0 spans: the picture has room for 1 to 12"):
        timeline([], "")
    with pytest.raises(ValueError, match=r"span 'submit' lasts -1 ms: a duration is 0 or more"):
        timeline([("submit", 1, -1)], "")


def test_all_of_them_are_explorers():
    explorers = products(), tiles(*operands(8, 10, 8))
    for explorer in (*explorers, explore_gemm.activations()):
        assert isinstance(explorer, Explorer)
        assert explorer._repr_mimebundle_()[0]["text/plain"] == explorer.sentence
