"""Pages of lists: the query that asks for one, and the link to the next."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request

LINK = {"Link": {"description": 'The next page, as rel="next".', "schema": {"type": "string"}}}


class StrictQuery(BaseModel):
    """The query of a list; unknown parameters are refused, since a misspelt filter would show everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(StrictQuery):
    """The query of a list in pages."""

    limit: int = Field(50, ge=1, le=200, description="Most items on one page.", examples=[50])
    cursor: Annotated[str, Field(max_length=200)] | SkipJsonSchema[None] = Field(
        None, description="Where the page begins: `next_cursor` of the page before.", examples=["AAZEhl9vYAABmtDxxrV8"]
    )


def next_link(request: Request, next_cursor: str | None) -> dict[str, str]:
    """Return the header that leads to the next page, if there is one."""
    if next_cursor is None:
        return {}
    url = request.url.include_query_params(cursor=next_cursor)
    return {"Link": f'<{url.path}?{url.query}>; rel="next"'}
