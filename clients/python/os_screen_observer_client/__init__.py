"""A typed client for the HTTP API of os-screen-observer."""
from . import _types as types
from ._client import VERSION, ScreenObserverClient
from ._transport import ScreenObserverError

__all__ = ["VERSION", "ScreenObserverClient", "ScreenObserverError", "types"]
