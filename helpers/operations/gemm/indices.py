"""The elements that contribute to each result: index arithmetic for the pictures of products, in plain Python.

No GPU is needed.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

from typing import NamedTuple

Cell = tuple[int, int]  # row and column in a matrix as it lies in memory


class GemmTerm(NamedTuple):
    """One product of two cells in an element of a result; a column sum has none on the right."""

    left: Cell
    right: Cell | None


def gemm_terms(product: str, sizes: tuple[int, int, int], row: int, column: int) -> list[GemmTerm]:
    """Every term of one element of a result, in the order in which a kernel adds them.

    Parameters
    ----------
    product : str
        "pre" = a @ b, "d_a" = grad_pre @ b^T, "d_b" = a^T @ grad_pre, or "d_bias", the column sums of grad_pre.
    sizes : (M, K, N)
        Of a (M, K), b (K, N) and grad_pre (M, N), none of which is transposed in memory.
    row, column : int
        The element of the result; d_bias has the one row 0.

    Raises ValueError where there is no such product.
    """
    m, k, n = sizes
    terms = {
        "pre": [GemmTerm((row, i), (i, column)) for i in range(k)],
        "d_a": [GemmTerm((row, i), (column, i)) for i in range(n)],
        "d_b": [GemmTerm((i, row), (i, column)) for i in range(m)],
        "d_bias": [GemmTerm((i, column), None) for i in range(m)],
    }
    if product not in terms:
        raise ValueError(f"product = {product!r}: it must be one of {', '.join(terms)}")
    return terms[product]


def tile_loads(tile: int, corner: Cell, first: int, thread: int) -> tuple[Cell, Cell]:
    """The cells of a and of b that one thread loads, for a product a @ b in tiles.

    The thread belongs to the workgroup whose tile of the result begins at `corner`, and the tiles of the operands
    begin at k = `first`. A cell past the edge of its matrix is one for which a kernel puts 0.
    """
    y, x = divmod(thread, tile)
    return (corner[0] + y, first + x), (first + y, corner[1] + x)


def tile_mates(tile: int, thread: int) -> tuple[list[int], list[int]]:
    """The threads in a thread's row, which share the left tile's cells, and in its column, which share the right one's.

    What its mates loaded is what the thread reads, and what it loaded is what its mates read.
    """
    y, x = divmod(thread, tile)
    row = [y * tile + i for i in range(tile)]
    column = [i * tile + x for i in range(tile)]
    return row, column


LOADS = ("as it lies", "transposed", "strided")


def load_into_tile(load: str, tile: int, corner: Cell, thread: int) -> tuple[Cell, int]:
    """The cell of a matrix that one thread loads into a tile, and the slot into which it puts it.

    In the matrix, the tile begins at `corner`. "as it lies" is how a product loads an operand, "transposed" how it
    loads one that it needs transposed, such as a in a^T @ grad_pre; "strided" makes the same tile as "transposed", but
    transposes the reads instead of the writes.
    """
    y, x = divmod(thread, tile)
    row, column = corner
    cells_and_slots = {
        "as it lies": ((row + y, column + x), thread),
        "transposed": ((row + y, column + x), x * tile + y),
        "strided": ((row + x, column + y), thread),
    }
    return cells_and_slots[load]
