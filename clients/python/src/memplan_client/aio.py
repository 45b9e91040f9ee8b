"""The client for asyncio: the same methods, to be awaited."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from memplan_client import steps
from memplan_client.client import DEFAULT_RETRIES, LONGEST_WAIT_SECONDS
from memplan_client.failures import UnexpectedAnswer
from memplan_client.generated.api.catalogue import list_devices, list_models
from memplan_client.generated.api.comparison import get_comparison
from memplan_client.generated.api.operation import cancel_operation, get_operation
from memplan_client.generated.api.plan import delete_plan, export_plan, get_plan, list_plans
from memplan_client.generated.models.comparison_answer import ComparisonAnswer
from memplan_client.generated.models.device_answer import DeviceAnswer
from memplan_client.generated.models.estimate_answer import EstimateAnswer
from memplan_client.generated.models.import_answer import ImportAnswer
from memplan_client.generated.models.model_answer import ModelAnswer
from memplan_client.generated.models.observation_answer import ObservationAnswer
from memplan_client.generated.models.operation_answer import OperationAnswer
from memplan_client.generated.models.plan_answer import PlanAnswer
from memplan_client.generated.models.plan_summary import PlanSummary
from memplan_client.generated.models.verdict_result import VerdictResult
from memplan_client.questions import Given, Measured, Place, Run, Target
from memplan_client.retries import Retries
from memplan_client.sessions import AsyncSession, generated_client, options

if TYPE_CHECKING:
    from memplan_client.generated.models.device_list import DeviceList
    from memplan_client.generated.models.model_list import ModelList
    from memplan_client.generated.models.plan_list import PlanList

T = TypeVar("T")


class AsyncClient:
    """A connection to a memplan service; see Client for what the arguments mean."""

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        retries: Retries = DEFAULT_RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        session = AsyncSession(retries, transport=transport, **options(base_url, token, timeout))
        self._generated = generated_client(base_url).set_async_httpx_client(session)
        self._session = session
        self._wait_seconds = min(LONGEST_WAIT_SECONDS, timeout / 2)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()

    async def estimate(self, job_or_file: Given, device: str) -> EstimateAnswer:
        """Return the memory of a job on a device: every stage at its worst moment, tensor by tensor."""
        return await self._run(steps.estimate(job_or_file, device))

    async def verdict(
        self,
        job_or_file: Given,
        device: str,
        world_size: int | None = None,
        *,
        deadline: float | None = None,
        queue: str | None = None,
    ) -> VerdictResult:
        """Return whether a job fits a device; `unknown` when that is not found out within `deadline` seconds.

        With a `queue` the answer says what its policy makes of the verdict.
        """
        return await self._run(steps.verdict(job_or_file, Target(device, world_size), deadline, queue))

    async def verdicts(
        self,
        jobs_or_files: Sequence[Given],
        targets: Sequence[Place],
        *,
        deadline: float | None = None,
        queue: str | None = None,
    ) -> list[VerdictResult]:
        """Return a verdict for each job (at most 100) on each target, the first job's targets first."""
        return await self._run(steps.verdicts(jobs_or_files, targets, deadline, queue))

    async def import_config(self, path: Given, **more: Any) -> ImportAnswer:
        """Return what is understood of a config; what `Source.read` takes may be given too, as in `env={"TP": "8"}`."""
        return await self._run(steps.import_config(path, more))

    async def plan(
        self,
        job_or_file: Given,
        device: str,
        world_size: int,
        *,
        gpus_per_node: int | None = None,
        search: Mapping[str, Any] | None = None,
        top: int = 10,
        labels: Mapping[str, str] | None = None,
        progress: steps.Progress | None = None,
        patience: float | None = None,
    ) -> PlanAnswer:
        """Return the layouts of a job that fit a cluster, fastest first; waits until the search has ended.

        `search` limits axes, as in `{"tensor": [4, 8]}`; `progress` is called with how far the search is. After
        `patience` seconds OperationUnfinished is raised, and the search goes on.
        """
        cluster = {"device": device, "world_size": world_size, "gpus_per_node": gpus_per_node}
        asked = steps.PlanQuestion(job_or_file, cluster, search, top, labels or {})
        return await self._run(steps.plan(asked, self._wait_seconds, progress, patience))

    async def plans(
        self,
        *,
        model: str | None = None,
        device: str | None = None,
        verdict: str | None = None,
        labels: Mapping[str, str] | None = None,
        page_size: int = 50,
    ) -> AsyncIterator[PlanSummary]:
        """Yield the stored plans, newest first; further pages are asked for when they are needed."""
        where = steps.plan_filters(model, device, verdict, labels)
        cursor: str | None = None
        while True:
            page: PlanList = await self._call(list_plans, limit=page_size, **where, **steps.from_cursor(cursor))
            for each in page.items:
                yield each
            cursor = page.next_cursor
            if cursor is None:
                return

    async def get_plan(self, plan_id: str) -> PlanAnswer:
        """Return a stored plan."""
        found: PlanAnswer = await self._call(get_plan, plan_id=plan_id)
        return found

    async def delete_plan(self, plan_id: str) -> None:
        """Remove a stored plan."""
        await self._call(delete_plan, plan_id=plan_id)

    async def export(self, plan_id: str, form: str, *, candidate: int = 0) -> str:
        """Return a candidate of a plan as `megatron`, `deepspeed`, `torchtitan`, `slurm` … write it."""
        text: str = await self._call(export_plan, plan_id=plan_id, format_=form, candidate=candidate)
        return text

    async def compare(
        self, jobs: Mapping[str, Given] | None = None, *, plans: Sequence[str] = (), targets: Sequence[Place] = ()
    ) -> ComparisonAnswer:
        """Return jobs, each under its name, and stored plans on targets, side by side; it is stored under its id."""
        return await self._run(steps.compare(jobs or {}, plans, targets))

    async def get_comparison(self, comparison_id: str) -> ComparisonAnswer:
        """Return a stored comparison."""
        found: ComparisonAnswer = await self._call(get_comparison, comparison_id=comparison_id)
        return found

    async def observe(self, run: Run, measured: Measured) -> ObservationAnswer:
        """Tell what a run measured, so that the next answer is better; returns it beside what was predicted."""
        return await self._run(steps.observe(run, measured))

    async def operation(self, operation_id: str) -> OperationAnswer:
        """Return how far a search is."""
        found: OperationAnswer = await self._call(get_operation, operation_id=operation_id)
        return found

    async def wait(
        self, operation: OperationAnswer, *, progress: steps.Progress | None = None, patience: float | None = None
    ) -> PlanAnswer:
        """Return the plan that a search makes, when it has ended."""
        return await self._run(steps.finished(operation, progress, patience))

    async def cancel(self, operation_id: str) -> OperationAnswer:
        """Ask for a search to end."""
        found: OperationAnswer = await self._call(cancel_operation, operation_id=operation_id)
        return found

    async def devices(self) -> list[DeviceAnswer]:
        """Return the devices of the catalogue."""
        found: DeviceList = await self._call(list_devices)
        return found.items

    async def models(self) -> list[ModelAnswer]:
        """Return the models that are known by name."""
        found: ModelList = await self._call(list_models)
        return found.items

    async def _run(self, asked: steps.Steps[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = asked.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
            if isinstance(step, steps.Pause):
                await asyncio.sleep(step.seconds)
                answer = None
            else:
                answer = await self._call(step.endpoint, **step.arguments)

    async def _call(self, endpoint: ModuleType, **arguments: Any) -> Any:
        try:
            return (await endpoint.asyncio_detailed(client=self._generated, **arguments)).parsed
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UnexpectedAnswer.unreadable(error) from error
