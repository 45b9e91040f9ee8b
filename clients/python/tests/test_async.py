"""The client for asyncio does the same."""

import asyncio
import inspect
from pathlib import Path

import pytest

from client_jobs import DEVICE, FEW, JOB, SOME, open_job
from memplan_client import AsyncClient, Client, Target, errors, models


def test_every_call_is_there_with_the_same_arguments() -> None:
    def calls(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(each).parameters) for name, each in methods if name[0] != "_"}

    blocking, awaited = calls(Client), calls(AsyncClient)
    assert awaited == {{"close": "aclose"}.get(name, name): given for name, given in blocking.items()}


def test_the_calls_answer_as_those_that_block(address: str, client: Client, script: Path) -> None:
    async def asked() -> None:
        async with AsyncClient(address, timeout=60) as opened:
            assert await opened.estimate(script, DEVICE) == client.estimate(script, DEVICE)
            assert await opened.verdict(JOB, DEVICE) == client.verdict(JOB, DEVICE)
            assert await opened.import_config(script, env={"TP": "4"}) == client.import_config(script, env={"TP": "4"})
            found = await opened.verdicts([JOB], [Target(DEVICE, 32), DEVICE])
            assert [each.world_size for each in found] == [32, 64]
            compared = await opened.compare({"a": JOB}, targets=[DEVICE])
            assert await opened.get_comparison(compared.id) == compared
            assert await opened.devices() == client.devices()
            assert await opened.models() == client.models()
            with pytest.raises(errors.InvalidJob):
                await opened.estimate({**JOB, "world_size": 60}, DEVICE)

    asyncio.run(asked())


def test_a_plan_is_waited_for_listed_exported_and_removed(address: str) -> None:
    seen: list[models.OperationProgress] = []

    async def asked() -> None:
        async with AsyncClient(address, timeout=60) as opened:
            labels = {"by": "asyncio"}
            first = await opened.plan(
                open_job(4112), DEVICE, 64, search=SOME, top=1, labels=labels, progress=seen.append
            )
            assert seen[-1].done == first.searched
            second = await opened.plan(open_job(4116), DEVICE, 8, search=FEW, labels=labels)
            listed = [each.id async for each in opened.plans(labels=labels, page_size=1)]
            assert listed == [second.id, first.id]
            assert await opened.get_plan(first.id) == first
            assert "--tensor-model-parallel-size" in await opened.export(first.id, "megatron")
            await opened.delete_plan(first.id)
            with pytest.raises(errors.PlanNotFound):
                await opened.get_plan(first.id)
            with pytest.raises(errors.OperationUnfinished) as unfinished:
                await opened.plan(open_job(4120), DEVICE, 64, search=SOME, progress=seen.append, patience=0)
            operation = await opened.operation(unfinished.value.operation.id)
            assert (await opened.wait(operation)).world_size == 64
            with pytest.raises(errors.OperationFinished):
                await opened.cancel(operation.id)

    asyncio.run(asked())
