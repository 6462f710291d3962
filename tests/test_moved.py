"""Where a link or an open tab has the old name of a lesson, it leads to the new one."""

import asyncio
import json

import pytest
from jupyter_server.services.contents.handlers import validate_model
from playwright.sync_api import sync_playwright
from support.browser import FLAGS, browser_path
from support.notebook_gate import NOTEBOOKS
from tornado.web import HTTPError

from browser.site import script
from helpers.moved import MOVED, Contents
from start import JUPYTERLAB

every_name = pytest.mark.parametrize(("old", "new"), MOVED.items())


def opened(root: str, path: str, kind: str = "notebook") -> dict:
    """What JupyterLab gets when it opens a file: with a hash of it, without which the server refuses to hand it out."""
    is_file = kind == "notebook"
    model = asyncio.run(Contents(root_dir=root).get(path, type=kind, require_hash=is_file))
    validate_model(model, expect_content=True, expect_hash=is_file)
    return model


@every_name
def test_in_jupyterlab_an_old_name_leads_to_the_new_one(old, new):
    model = opened(str(NOTEBOOKS.parent), f"notebooks/{old}")
    (cell,) = model["content"]["cells"]
    assert cell["source"].endswith(f"[Open {new}]({new})")
    assert (model["path"], model["writable"]) == (f"notebooks/{old}", False)
    assert f"--ServerApp.contents_manager_class={Contents.__module__}.{Contents.__name__}" in JUPYTERLAB


def test_a_readers_own_copy_is_opened_and_what_is_nowhere_is_missing(tmp_path):
    old, new = next(iter(MOVED.items()))
    with pytest.raises(HTTPError, match="404"):
        opened(str(tmp_path), old)
    for name in (old, new):
        (tmp_path / name).write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    for folder in ("", "/"):
        assert len(opened(str(tmp_path), folder, "directory")["content"]) == 2
    assert opened(str(tmp_path), new)["content"]["cells"] == []
    assert opened(str(tmp_path), old)["content"]["cells"] == []


def test_on_the_site_an_old_address_and_an_old_link_lead_to_the_new_ones():
    link = '<a data-commandlinker-args=\'{{"path": "notebooks/{}"}}\'>{}</a>'
    names = [*MOVED, *(f"my_{old}" for old in MOVED)]
    page_of = f"<script>{script('page.js')}</script>{''.join(link.format(name, name) for name in names)}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page()
        page.route("**/*", lambda route: route.fulfill(body=page_of, content_type="text/html"))
        for old, new in MOVED.items():
            page.goto(f"http://lessons.test/lab/index.html?path=notebooks/{old}")
            assert page.url.endswith(f"?path=notebooks/{new}")
        page.goto("http://lessons.test/lab/index.html?path=notebooks/my_08_train_lenet.ipynb")
        assert page.url.endswith("/my_08_train_lenet.ipynb")
        for name in names:
            page.get_by_text(name, exact=True).dispatch_event("click")
            (args,) = page.get_by_text(name, exact=True).evaluate_all(
                "all => all.map(a => a.dataset.commandlinkerArgs)"
            )
            assert json.loads(args) == {"path": f"notebooks/{MOVED.get(name, name)}"}
        browser.close()
