"""The application: settings in, routes wired together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

from service.api import handlers
from service.api.headers import SafeHeaders
from service.api.identity import RequestIdentity
from service.api.openapi import DESCRIPTION, TAGS, operation_id, write_document
from service.api.quotas import Quotas
from service.api.routes import (
    calibrations,
    comparisons,
    devices,
    documentation,
    estimates,
    exports,
    health,
    imports,
    measurements,
    models,
    observations,
    operations,
    plans,
    policies,
    verdicts,
)
from service.api.services import Services
from service.logs import logger
from service.settings import Settings
from service.store.migration import ensure_usable
from service.store.session import Store
from service.usecases.calibrations import Calibrations
from service.usecases.current_devices import CurrentDevices
from service.usecases.idempotency import Claims, release_interrupted
from service.usecases.operations import REPORT_SECONDS, end_interrupted
from service.usecases.policies import CurrentPolicies
from service.usecases.refusals import Record
from service.usecases.release import RELEASE
from service.usecases.retention import Purger, retention_of
from service.usecases.search_queue import SearchQueue
from service.usecases.tokens import Keyring

_CATALOGUES = (devices, policies, models)

_CROSS_ORIGIN: dict[str, Any] = {
    "allow_methods": ["GET", "POST", "PUT", "PATCH", "DELETE"],
    "allow_headers": ["Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID"],
    "expose_headers": ["ETag", "Link", "Location", "Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-Id"],
    "max_age": 600,
}
"""What pages of the origins that an operator names may do; credentials of the browser are never sent."""

_documents: dict[tuple[bool, tuple[str, ...]], dict[str, Any]] = {}

_log = logger(__name__)


class Application(FastAPI):
    """FastAPI with our way of writing the OpenAPI document."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, written once for all applications that have the same routes."""
        if not self.openapi_schema:
            kind = (self.state.needs_tokens, tuple(self.state.methods))
            if kind not in _documents:
                _documents[kind] = write_document(self, needs_tokens=self.state.needs_tokens)
            self.openapi_schema = _documents[kind]
        return self.openapi_schema


def create_app(settings: Settings) -> FastAPI:
    """Return the application; its database is opened when it starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        ensure_usable(settings)
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.thread_limit
        with Store(settings) as store:
            end_interrupted(store)
            release_interrupted(store)
            claims = Claims(store)
            queue = SearchQueue(
                store, claims, settings.search_concurrency, settings.search_queue, settings.limits.searches
            )
            keyring = Keyring(store)
            current, rules, record = CurrentDevices(store), CurrentPolicies(store), Record(store)
            quotas, observed = Quotas(settings.limits), Calibrations(store, current)
            observed.refresh()
            app.state.services = Services(
                settings, store, queue, claims, keyring, quotas, current, rules, record, observed
            )
            stopping = asyncio.Event()
            refreshed = (current.refresh, rules.refresh, observed.follow)
            purger = Purger(store, retention_of(settings))
            # What is wrong with a request is said by the document, and writing it takes half a second the first time.
            stored = (queue.report, claims.renew, keyring.store_uses, record.store)
            chores = (*stored, *refreshed, purger.purge, app.openapi)
            reporting = asyncio.create_task(_do_every_second(stopping, *chores))
            try:
                yield
            finally:
                stopping.set()
                await reporting
                await anyio.to_thread.run_sync(queue.close)
                await anyio.to_thread.run_sync(record.store)
                await anyio.to_thread.run_sync(partial(keyring.store_uses, at_once=True))

    app = Application(
        title="memplan",
        summary="GPU memory of distributed training, before it runs",
        description=DESCRIPTION,
        version=RELEASE,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        servers=[{"url": "/", "description": "This service"}],
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
        separate_input_output_schemas=False,
        lifespan=lifespan,
    )
    app.state.needs_tokens = settings.needs_tokens
    app.add_middleware(RequestIdentity)
    app.add_middleware(SafeHeaders)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=settings.cors_origins, **_CROSS_ORIGIN)
    handlers.install(app)
    # Looked through one after the other for each request, so what is asked most comes first.
    stored = (observations, plans, exports, comparisons, calibrations, operations)
    for noun in (verdicts, estimates, imports, *stored, *_CATALOGUES):
        app.include_router(noun.router, prefix="/v1")
    app.include_router(health.router)
    if settings.metrics == "open":
        app.include_router(measurements.router)
    app.include_router(documentation.router)
    app.mount("/docs/assets", StaticFiles(directory=str(files("service.api").joinpath("static"))))
    _note_routes(app)
    return app


def _note_routes(app: FastAPI) -> None:
    """Keep the path of each endpoint as the document writes it, and all methods of each path."""
    templates: dict[object, str] = {}
    methods: dict[str, set[str]] = {}
    for each in iter_route_contexts(app.routes):
        if each.endpoint and each.path_format:
            templates[each.endpoint] = each.path_format
            methods.setdefault(each.path_format, set()).update(each.methods or ())
    app.state.templates, app.state.methods = templates, methods


async def _do_every_second(stopping: asyncio.Event, *chores: Callable[[], object]) -> None:
    # A thread beyond those of requests: progress is also said when all of these are busy.
    thread = CapacityLimiter(1)
    while not stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), REPORT_SECONDS)
        for chore in chores:
            try:
                await anyio.to_thread.run_sync(chore, limiter=thread)
            except Exception:  # noqa: BLE001 - a mistake in one of them must not end the others
                _log.exception("chore failed", chore=chore.__qualname__)
