"""A web server on this machine, which notes what it sent."""

import http.server
from pathlib import Path
from typing import BinaryIO, ClassVar

from browser import paths


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Answers without a word, and notes which files it sent."""

    sent: ClassVar[list[Path]] = []
    missed: ClassVar[list[str]] = []
    is_away = False

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer, but where it is away."""
        if Quiet.is_away:
            self.close_connection = True
        else:
            super().do_GET()

    def send_error(self, *error: object) -> None:
        """Note what is not there."""
        self.missed.append(self.path)
        super().send_error(*error)

    def copyfile(self, source: BinaryIO, output: BinaryIO) -> None:
        """Send a file that the browser does not have yet."""
        self.sent.append(Path(source.name) if hasattr(source, "name") else paths.SITE)
        super().copyfile(source, output)


class Server(http.server.ThreadingHTTPServer):
    """A web server that does not mind a page that is left while it loads."""

    def handle_error(self, *_: object) -> None:
        """Say nothing: what a page lacks, its test notices."""
