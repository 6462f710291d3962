"""The mistakes that learners make in every kernel with tiles."""

from helpers.grading.puzzle import Slip

FULL = "both tiles are loaded.\n"  # above the barrier after the loads, which an edit makes a comment
READ = "reads the tiles any more.\n"  # above the barrier after the products
PRODUCT = "left[local.y * TILE + i] * right[i * TILE + local.x]"
TRANSPOSED = "does a row of {0} lie along a row or a column of {1}, in the loads and in the products?"
ONE_TRANSPOSED = (  # where a and b are to lie in their tiles as they are
    Slip(
        "the tile of a is transposed, in the loads or in the products",
        PRODUCT,
        "left[i * TILE + local.y] * right[i * TILE + local.x]",
        TRANSPOSED.format("a", "left"),
    ),
    Slip(
        "the tile of b is transposed, in the loads or in the products",
        PRODUCT,
        "left[local.y * TILE + i] * right[local.x * TILE + i]",
        TRANSPOSED.format("b", "right"),
    ),
)


def in_tiles(sum_name: str, summed: str, row: str, column: str) -> tuple[Slip, ...]:
    """Mistakes with the barriers, in the products and in the loop over the tiles of a kernel with tiles.

    The barriers come first: their mistakes can be told from others only in a simulation of every test.

    `sum_name` is the variable in which the products are added up, `summed` the letter along which that goes, `row`
    and `column` are the indices of the output's element. `summed` is a size (K), the other two are indices (m, n).
    """
    one, other = "MKN".replace(summed, "")
    past = " || ".join(f"{index} >= params.{index.upper()}" for index in (row, column))
    return (
        Slip(
            "no barrier stands between the loads and the products",
            FULL,
            f"{FULL}//",
            "which threads load the numbers that yours multiplies?",
        ),
        Slip(
            "no barrier stands between the products and the loads of the next turn",
            READ,
            f"{READ}//",
            "what may a fast thread do in its next turn while a slow one still multiplies?",
        ),
        Slip(
            "threads without an element return before the barriers",
            f"var {sum_name} = 0.0;",
            f"if ({past}) {{ return; }} var {sum_name} = 0.0;",
            "which numbers would these threads have loaded for the others?",
        ),
        Slip(
            "local.x and local.y are swapped in the products",
            PRODUCT,
            "left[local.x * TILE + i] * right[i * TILE + local.y]",
            "which row of left and which column of right belong to your element?",
        ),
        Slip(
            "the products stop before the last number of each tile",
            "i < TILE; i++",
            "i < TILE - 1u; i++",
            "how many numbers does a row of a tile have?",
        ),
        Slip(
            f"i runs up to {summed} in each turn, past the end of the tiles",
            "i < TILE; i++",
            f"i < params.{summed}; i++",
            "how many products does a thread add in one turn?",
        ),
        Slip(
            f"the loop over the tiles runs up to {one} or {other}, and not to {summed}",
            f"first < params.{summed}; first",
            f"first < params.{other}; first",
            "along which letter does the sum run?",
        ),
        Slip(
            "each product replaces those before it",
            f"{sum_name} += left",
            f"{sum_name} = left",
            f"what was in {sum_name} before, and where does it go?",
        ),
    )


def at_the_edges(row: str, column: str) -> tuple[Slip, ...]:
    """Mistakes in the test before the output is written: `row` and `column` are the indices of its element."""
    in_rows, in_columns = (f"{index} < params.{index.upper()}" for index in (row, column))
    return (
        Slip(
            "threads below the last row write, too",
            f"{in_rows} && {in_columns}",
            in_columns,
            f"which values of {row} do the threads of the last workgroups have?",
        ),
        Slip(
            "threads to the right of the last column write, too",
            f"{in_rows} && {in_columns}",
            in_rows,
            "which element follows the last one of a row in memory?",
        ),
    )
