"""HTTP under the client: one request, its answer, and errors with what the server said. It retries nothing."""
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any


class ScreenObserverError(Exception):
    """What the server refused, or that it could not be reached (`status` is 0)."""

    def __init__(self, message: str, status: int = 0, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        said = error or {}
        self.status = status
        self.code: str = said.get("code", "")
        self.recoverable: bool = said.get("recoverable", False)
        self.context: dict[str, Any] = said.get("context", {})
        self.suggested_next_tool: str | None = said.get("suggested_next_tool")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to the server that was named, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    def __init__(
        self, base_url: str = "http://127.0.0.1:5001", *, token: str | None = None, timeout: float = 120.0
    ) -> None:
        self._base = base_url.rstrip("/")
        self._token = token
        self._timeout = timeout
        # Proxies of the environment are not used.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        read_as: str = "json",
    ) -> Any:
        """One request. `read_as` says how the answer is read: json, text or bytes."""
        asked = {name: _query_text(value) for name, value in (query or {}).items() if value is not None}
        url = self._base + path + ("?" + urllib.parse.urlencode(asked) if asked else "")
        request = urllib.request.Request(url, method=method)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        answer = self._open(request)
        if read_as == "bytes":
            return answer
        text = answer.decode("utf-8", "replace")
        return text if read_as == "text" else json.loads(text)

    def _open(self, request: urllib.request.Request) -> bytes:
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                answer: bytes = response.read()
                return answer
        except urllib.error.HTTPError as refused:
            raise _refusal(refused) from None
        except (OSError, http.client.HTTPException) as problem:
            raise ScreenObserverError(f"{self._base} cannot be reached: {problem}") from problem


def _query_text(value: Any) -> str:
    """Lists of words stand behind commas, what has parts is written as JSON."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def _refusal(refused: urllib.error.HTTPError) -> ScreenObserverError:
    text = refused.read().decode("utf-8", "replace")
    try:
        error = json.loads(text).get("error", {})
    except (ValueError, AttributeError):
        error = {}
    if isinstance(error, str):
        error = {"message": error}
    message = error.get("message", f"{refused.code} {refused.reason}: {text[:200]}")
    return ScreenObserverError(message, refused.code, error)
