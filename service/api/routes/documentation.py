"""The pages for people who write programs: the routes, and the catalogue of errors; nothing comes from elsewhere."""

from html import escape
from importlib.resources import files
from string import Template

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from service.api.catalogue import KINDS, Kind
from service.api.headers import PAGE_POLICY

router = APIRouter(include_in_schema=False)

_STATIC = files("service.api").joinpath("static")
_HEADERS = {"Content-Security-Policy": PAGE_POLICY}


@router.get("/docs")
async def get_documentation() -> HTMLResponse:
    """Show every route, with a form to try it."""
    return HTMLResponse(_STATIC.joinpath("docs.html").read_text("utf-8"), headers=_HEADERS)


@router.get("/docs/errors")
async def get_error_catalogue() -> HTMLResponse:
    """Explain every code that a problem may have."""
    page = Template(_STATIC.joinpath("errors.html").read_text("utf-8"))
    return HTMLResponse(page.substitute(entries="\n".join(map(_entry, KINDS))), headers=_HEADERS)


def _entry(kind: Kind) -> str:
    status = f'<span class="status">{int(kind.status)} {escape(kind.status.phrase)}</span>'
    return (
        f'<dt id="{kind.code}"><code>{kind.code}</code> {status}</dt>\n'
        f"<dd>{escape(kind.title, quote=False)}. {escape(kind.remedy, quote=False)}</dd>"
    )
