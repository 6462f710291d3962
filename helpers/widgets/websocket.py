"""An addition of start.py to JupyterLab's server: messages from a kernel leave at once.

A slider's step sends several small messages to the browser. By default the server's TCP connection holds each of them
back until the one before was acknowledged (Nagle's algorithm), which a browser delays by up to 40 ms.
"""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The connection between a notebook's page and its kernel, without that delay."""

    def connect(self) -> object:
        """Connect as usual, and turn the delay off (see `tornado.websocket.WebSocketHandler.set_nodelay`)."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
