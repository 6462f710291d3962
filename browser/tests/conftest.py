"""The site, made once and served, and a page of a headless Chromium, with WebGPU on SwiftShader."""

import functools
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from browser import paths, site
from browser.tests.front import opened
from browser.tests.pages import FLAGS, LONGEST
from browser.tests.server import Quiet, Server
from helpers.set_up.browser import find_browser


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The site, made anew and served."""
    site.main()
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=paths.SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """A page of a browser that has stored nothing; where it goes is on the site."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        context = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(LONGEST * 1000)
        Quiet.missed.clear()
        yield context.new_page()
        chromium.close()
    assert Quiet.missed == []


@pytest.fixture
def front(page: Page) -> Page:
    """The front page, whose picture answers."""
    return opened(page)
