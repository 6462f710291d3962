"""A browser for the tests: Chromium, Chrome or Edge."""

import shutil
from pathlib import Path

from helpers.set_up import paths, programs, system_packages
from helpers.set_up.programs import say
from helpers.set_up.stops import AGAIN, Stop

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
PLAYWRIGHT_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def ensure_browser(env: dict) -> None:
    """Write the path of Chromium, Chrome or Edge into `env` as CONVGRAD_BROWSER; install Chromium if none is found."""
    env["CONVGRAD_BROWSER"] = env.get("CONVGRAD_BROWSER") or find_browser() or install_browser(env)
    if not Path(env["CONVGRAD_BROWSER"]).exists():
        raise Stop(f"CONVGRAD_BROWSER={env['CONVGRAD_BROWSER']}: there is no such file", f"correct it, {AGAIN}")
    say(f"Browser: {env['CONVGRAD_BROWSER']}")


def find_browser() -> str | None:
    """A browser on the PATH, but not a snap, which may not read the folders that tests create."""
    on_path = filter(None, map(shutil.which, BROWSERS))
    return next((path for path in on_path if Path(path).resolve().name != "snap"), None)


def install_browser(env: dict) -> str:
    """Install Chromium, and return its path."""
    say("No browser was found for the browser tests. Installing Chromium.")
    if system_packages.can_apt() and not system_packages.is_ubuntu():
        # Playwright needs libatomic1, but does not install it.
        system_packages.apt_install(env, "chromium", "libatomic1")
        return shutil.which("chromium")
    path = programs.run([paths.PYTHON, "-c", PLAYWRIGHT_PATH], env).strip()
    if not Path(path).exists():
        libraries = ["--with-deps"] if system_packages.can_apt() else []
        programs.run([paths.PYTHON, "-m", "playwright", "install", *libraries, "chromium"], env)
    return path
