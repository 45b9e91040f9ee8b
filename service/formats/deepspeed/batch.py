"""DeepSpeed's three batch numbers: which are stated, which follow, and whether they fit the number of ranks.

Rules: deepspeedai/DeepSpeed @ edaa7221, deepspeed/runtime/config.py (_set_batch_related_parameters, _batch_assertion).
"""

from dataclasses import dataclass

from service.formats.config.settings import Settings
from service.formats.deepspeed.partner import Partner
from service.formats.draft import Draft
from service.job.diagnostics import Origin

TRAIN, MICRO, ACCUMULATION = "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"
_POINTERS = {TRAIN: "/batch/global", MICRO: "/batch/micro", ACCUMULATION: "/batch/accumulation"}
_FACTS = {TRAIN: "global", MICRO: "micro", ACCUMULATION: "accumulation"}


@dataclass(frozen=True, slots=True)
class _Number:
    value: int
    origin: Origin
    where: str


@dataclass(slots=True)
class _Triad:
    """The three numbers as far as they are known, the ranks that share a batch, and keys that are left `auto`."""

    numbers: dict[str, _Number]
    ranks: int | None
    hidden: list[str]

    def get(self, key: str) -> int | None:
        return self.numbers[key].value if key in self.numbers else None

    def derive(self, key: str, value: int, rule: str, origin: Origin = "derived") -> None:
        self.numbers[key] = _Number(value, origin, rule)


def read_batch(config: Settings, partner: Partner, draft: Draft) -> None:
    """Writes what is stated and what follows; D1 to D3, and what is left `auto`."""
    triad = _Triad({}, _ranks(draft), [])
    for key in (TRAIN, MICRO, ACCUMULATION):
        _read_number(config, key, partner, triad, draft)
    if not triad.numbers and not triad.hidden:
        _none_given(config, draft)
    stated = set(triad.numbers)
    _derive(triad)
    for key, each in triad.numbers.items():
        draft.set(_POINTERS[key], each.value, each.origin, each.where)
    if stated >= {TRAIN} and triad.ranks is not None:
        _check(triad, stated, draft)
    _ask(config, triad, draft)


def _ranks(draft: Draft) -> int | None:
    """Ranks that get different data: all but those of tensor and sequence groups."""
    world = draft.get("/world_size")
    grid = 1
    for degree in ("tensor", "pipeline", "context"):
        value = draft.get(f"/parallelism/{degree}")
        grid *= value if isinstance(value, int) and value > 0 else 1
    return world // grid if isinstance(world, int) and world % grid == 0 else None


def _read_number(config: Settings, key: str, partner: Partner, triad: _Triad, draft: Draft) -> None:
    if config.is_auto(key):
        _left_to_trainer(config, key, partner, triad)
        return
    value = config.integer(key, pointer=_POINTERS[key])
    if value is None:
        return
    where = config.where(key)
    if value <= 0:
        message = f"{where} is {value}; it must be at least 1"
        draft.note("value_type", "error", message, fields=[_POINTERS[key]], found=str(value), rule="a positive integer")
        draft.leave_open(_POINTERS[key])
        return
    if isinstance(config.raw(key), str):
        message = f'{where} is the text "{value}"; the trainer compares it with a number and refuses it'
        draft.note("value_type", "warning", message, fields=[_POINTERS[key]], found=str(config.raw(key)))
    triad.numbers[key] = _Number(value, "key", where)


def _left_to_trainer(config: Settings, key: str, partner: Partner, triad: _Triad) -> None:
    values = {MICRO: (partner.micro, "micro"), ACCUMULATION: (partner.accumulation, "accumulation")}
    value, name = values.get(key, (None, ""))
    if value is not None:
        where = f"{config.where(key)} is auto: {partner.where[name]}"
        triad.numbers[key] = _Number(value, partner.origin(name), where)
    elif not partner.present and key != TRAIN:
        triad.hidden.append(key)


def _derive(triad: _Triad) -> None:
    """D2: two given, the third follows by floor division; one given, the accumulation is 1."""
    train, micro, accumulation = (triad.get(each) for each in (TRAIN, MICRO, ACCUMULATION))
    ranks = triad.ranks
    if triad.hidden:
        return
    if accumulation is None and (train is None) != (micro is None):
        accumulation = 1
        triad.derive(ACCUMULATION, 1, "DeepSpeed: one batch number given, no accumulation", "default")
    if ranks is None or ranks < 1:
        return
    if train is not None and micro is not None and accumulation is None:
        rule = f"{TRAIN} / {MICRO} / {ranks} data-parallel ranks"
        triad.derive(ACCUMULATION, max(train // micro // ranks, 1), rule)
    elif train is not None and micro is None and accumulation is not None:
        rule = f"{TRAIN} / {ranks} data-parallel ranks / {ACCUMULATION}"
        triad.derive(MICRO, max(train // ranks // accumulation, 1), rule)
    elif train is None and micro is not None and accumulation is not None:
        rule = f"{MICRO} x {ACCUMULATION} x {ranks} data-parallel ranks"
        triad.derive(TRAIN, micro * accumulation * ranks, rule)


def _check(triad: _Triad, stated: set[str], draft: Draft) -> None:
    """D1: the global batch is the product; the fields are those of the general rule about it, which is said once."""
    train, micro, accumulation = (triad.get(each) for each in (TRAIN, MICRO, ACCUMULATION))
    ranks = triad.ranks
    if train is None or micro is None or accumulation is None or ranks is None:
        return
    product = micro * accumulation * ranks
    if train == product:
        return
    step = micro * ranks
    fields = ["/batch/global", "/batch/micro", "/parallelism/data"]
    if train % step == 0:
        fields.insert(2, "/batch/accumulation")
    factors = f"micro {micro} x accumulation {accumulation} x world {ranks}"
    places = ", ".join(f"{_FACTS[key]}: {triad.numbers[key].where}" for key in (TRAIN, MICRO, ACCUMULATION))
    world = draft.where("/world_size")
    message = f"{train} != {factors} = {product} ({places}; world: {world}). The batch must be a multiple of {step}"
    draft.note(
        "batch_triad",
        "error",
        message,
        fields=fields,
        found=f"{train}, {product}",
        rule=f"{TRAIN} = {MICRO} x {ACCUMULATION} x data-parallel ranks",
        fixes=_fixes(train, step, stated),
    )


def _fixes(train: int, step: int, stated: set[str]) -> list[str]:
    """The nearest batches that fit, each with the accumulation that it needs when that is stated too."""
    nearest = [each for each in (train // step * step, (train // step + 1) * step) if each > 0 and each != train]
    if not nearest:
        return [f"/{ACCUMULATION}: {train // step}"]
    if ACCUMULATION not in stated:
        return [f"/{TRAIN}: {each}" for each in nearest]
    return [f"/{TRAIN}: {each}, /{ACCUMULATION}: {each // step}" for each in nearest]


def _none_given(config: Settings, draft: Draft) -> None:
    if any(key in config for key in (TRAIN, MICRO, ACCUMULATION)):
        return
    draft.note(
        "batch_missing",
        "error",
        f"none of {TRAIN}, {MICRO} and {ACCUMULATION} is given",
        fields=["/batch/micro", "/batch/global"],
        rule=f"at least one of {TRAIN} and {MICRO}",
        fixes=[f"/{MICRO}: 1"],
    )


def _ask(config: Settings, triad: _Triad, draft: Draft) -> None:
    """The micro-batch, where it is left to a trainer that is not supplied or does not follow."""
    if draft.is_open("/batch/micro"):
        return
    if MICRO in triad.hidden:
        told = f"{config.where(MICRO)} is auto and no trainer arguments were supplied; pass batch.micro"
        draft.lack("micro", told, "/batch/micro")
    elif MICRO not in triad.numbers and (triad.ranks is not None or TRAIN not in triad.numbers):
        draft.lack("micro", f"{MICRO} does not follow from what is given; pass batch.micro", "/batch/micro")
