"""The folders of the site: what it is made of, where it is made, and where it is."""

from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
LOCK = HERE / "site.lock"
CACHE = ROOT / ".site-downloads"
SITE = ROOT / "site"
MADE = ROOT / ".site-made"  # the site while it is made; what was there stays until it is whole
