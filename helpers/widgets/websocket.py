"""Additions of start.py to JupyterLab's server: messages leave at once, and an opened lesson is not marked as unsaved.

A slider's step sends several small messages to the browser. By default the server's TCP connection holds each of them
back until the one before was acknowledged (Nagle's algorithm), which a browser delays by up to 40 ms.

JupyterLab writes what a kernel says of its language into the notebook as soon as that is opened. Our notebooks are
stored without the version of Python, which differs from machine to machine. So a kernel's answer has none here: what is
written is what is there, and nothing has changed.
"""

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

HEADER, CONTENT = 0, 3  # among the parts of a message


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The connection between a notebook's page and its kernel, without that delay and without Python's version."""

    def connect(self) -> object:
        """Connect as usual, and turn the delay off (see `tornado.websocket.WebSocketHandler.set_nodelay`)."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()

    def _on_zmq_reply(self, stream: Any, msg_list: Any) -> None:
        """Send a kernel's message to the page; a list has its parts as bytes."""
        if isinstance(msg_list, list) and b'"kernel_info_reply"' in bytes(msg_list[HEADER]):
            content = self.session.unpack(msg_list[CONTENT])
            content.get("language_info", {}).pop("version", None)
            msg_list = [*msg_list[:CONTENT], self.session.pack(content), *msg_list[CONTENT + 1 :]]
        super()._on_zmq_reply(stream, msg_list)
