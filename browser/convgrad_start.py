"""Runs when Python starts in a browser: each cell knows the name `helpers`, and its first use imports them.

Whoever comes back to a lesson runs the cell that they want, and not first the one that imports.
"""

import builtins


class _Helpers:
    """Takes the place of the package until a name in it is used."""

    def __getattr__(self, name: str) -> object:
        import helpers

        builtins.helpers = helpers
        return getattr(helpers, name)


builtins.helpers = _Helpers()
