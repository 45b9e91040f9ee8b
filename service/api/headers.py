"""Headers that keep a browser from doing with an answer what it is not for; a page may have a policy of its own."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For pages: nothing from another site; the interactive page sets styles of its own."""

_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
# One year, without subdomains: they are none of ours.
_BEHIND_TLS = (b"strict-transport-security", b"max-age=31536000")


class SafeHeaders:
    """Adds them to every answer; the one that keeps a browser to TLS only where there is TLS."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_tls = scope.get("scheme") == "https"

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                own = [] if any(name == _POLICY[0] for name, _ in headers) else [_POLICY]
                message["headers"] = [*headers, *_ALWAYS, *own, *([_BEHIND_TLS] if is_tls else [])]
            await send(message)

        await self._app(scope, receive, send_safely)
