"""What the routes share, made once when the application starts and handed to them as dependencies."""

from dataclasses import dataclass
from typing import Annotated

from anyio import CapacityLimiter
from fastapi import Depends
from starlette.requests import Request

from service.settings import Settings
from service.store.session import Store


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, database, and the few threads that searches run in, apart from those of all other requests."""

    settings: Settings
    store: Store
    search_threads: CapacityLimiter


# Dependencies are coroutines because FastAPI would send a plain function to a thread of its own first.
async def _services(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


async def _store(request: Request) -> Store:
    return (await _services(request)).store


ServicesOf = Annotated[Services, Depends(_services)]
StoreOf = Annotated[Store, Depends(_store)]
