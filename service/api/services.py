"""What the routes share, made once when the application starts and handed to them as dependencies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from fastapi import Depends
from starlette.requests import Request

from service.api.lanes import Lanes
from service.api.quotas import Quotas
from service.calculator.units import MIB
from service.catalog.devices import Devices
from service.settings import Settings
from service.store.session import Store
from service.usecases.answer_cache import AnswerCache
from service.usecases.calibrations import Calibrations
from service.usecases.current_devices import CurrentDevices
from service.usecases.idempotency import Claims
from service.usecases.policies import CurrentPolicies
from service.usecases.refusals import Record
from service.usecases.search_queue import SearchQueue
from service.usecases.tokens import Keyring
from service.usecases.verdicts import Known

REMEMBERED_BYTES: Final = 64 * MIB
"""How much of answers is remembered by their requests."""

REMEMBERED_VERDICTS: Final = 10_000
"""How many verdicts are remembered by their jobs."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The body of an answer, and how many verdicts of each kind it gives."""

    body: bytes
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, database, and the searches with their few threads, apart from those of all other requests.

    `answers` are bodies by the digest of their request and of what was known, `verdicts` are those of single jobs.
    """

    settings: Settings
    store: Store
    searches: SearchQueue
    claims: Claims
    keyring: Keyring
    quotas: Quotas
    devices: CurrentDevices
    policies: CurrentPolicies
    record: Record
    calibrations: Calibrations
    answers: AnswerCache[bytes, Remembered] = field(default_factory=lambda: AnswerCache(REMEMBERED_BYTES))
    verdicts: Known = field(default_factory=lambda: AnswerCache(REMEMBERED_VERDICTS))
    lanes: Lanes = field(default_factory=Lanes)


# Dependencies are coroutines because FastAPI would send a plain function to a thread of its own first.
async def _services(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


async def _store(request: Request) -> Store:
    return (await _services(request)).store


async def _devices(request: Request) -> Devices:
    # The same from the first look to the last, though an operator may change them meanwhile.
    if not hasattr(request.state, "devices"):
        request.state.devices = (await _services(request)).devices.now
    found: Devices = request.state.devices
    return found


ServicesOf = Annotated[Services, Depends(_services)]
StoreOf = Annotated[Store, Depends(_store)]
DevicesOf = Annotated[Devices, Depends(_devices)]
