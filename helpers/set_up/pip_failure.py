"""The cause of a failure of pip: its settings, the package index, a certificate, the clock, or this Python."""

import platform
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from helpers.set_up import paths, programs
from helpers.set_up.stops import AGAIN, Failed, Stop

BITS = 64 if sys.maxsize > 2**32 else 32
THIS_PYTHON = f"{BITS}-bit Python {platform.python_version()} on {platform.system()} {platform.machine()}"
DEFAULT_INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
NOT_YET_VALID, EXPIRED = 9, 10  # OpenSSL's numbers


def why_pip_failed(failed: Failed, settings: dict, env: dict) -> Stop:
    """Find the cause in what can be tried here; what pip printed decides only where nothing else does."""
    if "DO NOT MATCH THE HASHES" in failed.output:
        todo = "run this command again; if that does not help, report it, and do not install the package by hand"
        return Stop("a downloaded package differs from the tested one, so it was not installed", todo)
    if settings.get("no-index", "no").lower() in ("1", "true", "t", "yes", "y", "on"):
        why = f"pip needs the package index, which its setting no-index forbids: {failed.last}"
        return Stop(why, f"remove the setting (the variable PIP_NO_INDEX, or a line in pip's configuration), {AGAIN}")
    index = settings.get("index-url") or programs.run([paths.PYTHON, "-c", DEFAULT_INDEX], env).strip()
    problem = index_problem(index, settings, env)
    if problem:
        return problem
    if "No matching distribution" not in failed.output:
        return failed
    todo = "use a package index that has the file (PIP_INDEX_URL), or a 64-bit Python 3.13"
    why = f"pip found no file for {THIS_PYTHON}; the package index may lack it, or there is none: {failed.last}"
    return Stop(why, todo)


def index_problem(index: str, settings: dict, env: dict) -> Stop | None:
    """Ask the package index for the package uv, as pip does; None if it answers, or if it is a folder."""
    parts = urllib.parse.urlsplit(index)
    if parts.scheme not in ("http", "https"):
        return None
    certificates = settings.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE")
    try:
        context = ssl.create_default_context(cafile=certificates)
    except OSError as error:
        why = f"the certificate file {certificates} cannot be read: {error}"
        return Stop(why, f"correct the setting that names it (such as PIP_CERT), {AGAIN}")
    if not certificates:
        trust_as_pip_does(context)
    name = parts.netloc.rpartition("@")[2]  # without the password
    url = parts._replace(netloc=name, path=f"{parts.path.rstrip('/')}/uv/").geturl()
    try:
        opener(context, settings).open(url, timeout=15).close()
    except urllib.error.HTTPError as error:
        if error.code == 404 and parts.netloc == name:  # with a password, the index may show more
            why = f"the package index {name} does not have the package uv"
            return Stop(why, f"use an index that has it (pip's setting index-url, or PIP_INDEX_URL), {AGAIN}")
    except OSError as error:
        return no_answer(name, getattr(error, "reason", error))
    return None


def trust_as_pip_does(context: ssl.SSLContext) -> None:
    """Add the certificates that pip brings with it."""
    for bundle in paths.VENV.rglob("pip/_vendor/certifi/cacert.pem"):
        context.load_verify_locations(bundle)


def opener(context: ssl.SSLContext, settings: dict) -> urllib.request.OpenerDirector:
    """The way to an index: with these certificates, and through pip's proxy where there is one."""
    handlers = [urllib.request.HTTPSHandler(context=context)]
    if "proxy" in settings:
        proxies = {"http": settings["proxy"], "https": settings["proxy"]}
        handlers.append(urllib.request.ProxyHandler(proxies))
    return urllib.request.build_opener(*handlers)


def no_answer(name: str, reason: object) -> Stop:
    """The stop for a package index of this name that does not answer."""
    if not isinstance(reason, ssl.SSLCertVerificationError):
        todo = "connect to the internet (behind a proxy, set HTTPS_PROXY; if you set PIP_INDEX_URL, check it)"
        return Stop(f"the package index {name} does not answer: {reason}", f"{todo}, {AGAIN}")
    if reason.verify_code in (NOT_YET_VALID, EXPIRED):
        why = f"the certificate of {name} is not valid at the time of this computer's clock, {time.ctime()}"
        return Stop(why, f"if the clock is wrong, set it, {AGAIN}; if it is right, the certificate must be renewed")
    why = f"Python does not trust the certificate of {name}: {reason.verify_message}"
    return Stop(why, f"if a proxy inspects your HTTPS traffic, set PIP_CERT to the proxy's certificate file, {AGAIN}")
