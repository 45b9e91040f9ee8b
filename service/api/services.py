"""What the routes share, made once when the application starts and handed to them as dependencies."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from service.settings import Settings
from service.store.session import Store
from service.usecases.search_queue import SearchQueue


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, database, and the searches with their few threads, apart from those of all other requests."""

    settings: Settings
    store: Store
    searches: SearchQueue


# Dependencies are coroutines because FastAPI would send a plain function to a thread of its own first.
async def _services(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


async def _store(request: Request) -> Store:
    return (await _services(request)).store


ServicesOf = Annotated[Services, Depends(_services)]
StoreOf = Annotated[Store, Depends(_store)]
