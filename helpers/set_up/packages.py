"""Python's packages: uv installs the lock, or pip, with those of the user's settings of pip that are for downloads."""

import ast
import os
import re

from helpers.set_up import paths, programs
from helpers.set_up.pip_failure import why_pip_failed
from helpers.set_up.programs import say
from helpers.set_up.stops import Failed

PIP = ["install", "--disable-pip-version-check", "--no-input", "--no-compile", "--require-hashes", "-r"]
UV = ["uv", "pip", "install", "--no-cache", "--no-build", "--no-config", "--system-certs", "--require-hashes", "-r"]
UV_SETTINGS = {  # pip's name of a setting: uv's name of it
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
# These of pip's settings say from where packages come. Any other one may break .venv, and the lock needs none.
DOWNLOADS = {*UV_SETTINGS, "find-links", "trusted-host", "client-cert", "timeout", "default-timeout", "retries"}
DOWNLOADS |= {"cache-dir", "no-cache-dir", "keyring-provider", "config-file", "disable-pip-version-check"}


def install(env: dict) -> None:
    """Install the lock; every file is checked against its hash.

    pip installs uv, and uv installs the rest in a fraction of pip's time. Where uv fails, pip installs the rest too:
    it reads more settings (proxies, certificates, mirrors), and `why_pip_failed` finds the cause.
    """
    settings = pip_settings(env)
    left_out = sorted(settings.keys() - DOWNLOADS)
    if left_out:
        say(f"  leaving out these settings of your pip, which .venv does not need: {', '.join(left_out)}")
    pip([*PIP, paths.INSTALLER], env)
    try:
        uv_env = {**env, **uv_settings(settings), "VIRTUAL_ENV": str(paths.VENV)}
        programs.run([paths.PYTHON, "-m", *UV, paths.LOCK], uv_env)
    except Failed:
        say("  uv could not install them; trying pip, which takes a minute longer")
        pip([*PIP, paths.LOCK], env)


def pip(words: list, env: dict) -> None:
    """Run pip with the user's settings for downloads and no others. A failure raises `Stop` with its cause."""
    settings = pip_settings(env)
    pip_env = {name: value for name, value in env.items() if not name.startswith("PIP_")}
    for name in DOWNLOADS & settings.keys():
        pip_env["PIP_" + name.upper().replace("-", "_")] = settings[name]
    pip_env["PIP_CONFIG_FILE"] = os.devnull
    try:
        programs.run([paths.PYTHON, "-m", "pip", *words], pip_env)
    except Failed as failed:
        raise why_pip_failed(failed, settings, env) from None


def pip_settings(env: dict) -> dict:
    """The user's settings of pip, from its configuration files and the environment, which comes last."""
    # Of these, `pip config` itself would list only one file, or nothing.
    plain = {"PIP_USER": "no", "PIP_GLOBAL": "no", "PIP_SITE": "no", "PIP_QUIET": "0"}
    listed = programs.run([paths.PYTHON, "-m", "pip", "config", "list"], {**env, **plain})
    settings = {}
    for section in ("global", "install"):
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)", listed, re.MULTILINE):
            settings[name] = " ".join(ast.literal_eval(value).split())
    variables = {name.removeprefix("PIP_"): value for name, value in env.items() if name.startswith("PIP_")}
    settings |= {name.lower().replace("_", "-"): value for name, value in variables.items() if value}
    return {name: value for name, value in settings.items() if value}


def uv_settings(settings: dict) -> dict:
    """pip's settings under uv's names."""
    renamed = {UV_SETTINGS[name]: value for name, value in settings.items() if name in UV_SETTINGS}
    # uv mixes several indexes only on request. It is safe here, because only a file with the locked hash is accepted.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **renamed}
