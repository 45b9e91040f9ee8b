"""verl's actor on Megatron-Core: its degrees and overrides, read as Megatron's flags.

Defaults: volcengine/verl @ b178a3cd, verl/trainer/config/engine/megatron.yaml, actor/megatron_actor.yaml.
"""

from collections.abc import Mapping

from service.formats.config.settings import Setting, Settings
from service.formats.draft import Draft
from service.formats.megatron.flags import Flags
from service.formats.megatron.layout import read_layout
from service.formats.megatron.recipe import read_recipe
from service.formats.nemo.translation import arguments
from service.formats.syntax.words import Holes

_ENGINE = "actor_rollout_ref.actor.megatron"
# Where overrides of one of Megatron's config objects stand, and the section that the translation knows it by.
_OVERRIDES: Mapping[str, str] = {
    f"{_ENGINE}.override_transformer_config.": "model.",
    f"{_ENGINE}.override_ddp_config.": "ddp.",
    "actor_rollout_ref.actor.optim.override_optimizer_config.": "optimizer.",
    f"{_ENGINE}.": "model.",
}
_BETWEEN = ("param_offload", "optimizer_offload", "grad_offload")
_ON = ("sequence_parallel", "use_distributed_optimizer")


def read_megatron_actor(settings: Settings, draft: Draft) -> None:
    """Writes layout and recipe of the actor; its dimensions are those of the named model."""
    draft.set("/framework/name", "megatron-core", "derived", "the actor trains on Megatron-Core")
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "default", "verl: no dropout")
    translated = _translated(settings, draft)
    holes = Holes()
    draft.lack("micro", "ppo_micro_batch_size_per_gpu is not given; pass batch.micro", "/batch/micro")
    draft.lack("sequence_length", "no lengths are given; pass batch.sequence_length", "/batch/sequence_length")
    flags = Flags(arguments(translated, holes), holes, draft, settings.origin)
    read_layout(flags, draft, {})
    read_recipe(flags, draft, base="bf16")
    if draft.origin("/kernels/attention") == "default":
        draft.set("/kernels/attention", "flash", "default", "verl: attention_backend flash")
    _uneven(draft)
    between = [key for key in _BETWEEN if settings.on(f"{_ENGINE}.{key}")]
    if between:
        message = f"{', '.join(between)}: states are on the host between phases, and on the GPU while the actor trains"
        draft.note("offloaded_between_phases", "info", message, fields=["/optimizer/parameter_offload"])


def _translated(settings: Settings, draft: Draft) -> Settings:
    """The actor's settings under the sections that the translation to flags knows."""
    found = Settings(draft, env=settings.env, origin=settings.origin)
    for key, setting in settings.values.items():
        for prefix, section in _OVERRIDES.items():
            name = key.removeprefix(prefix)
            if name != key:
                settings.read.add(key)
                if "." not in name and name not in _BETWEEN:
                    place = f"{section}{name}"
                    found.values[place] = Setting(place, setting.spelled, setting.value, setting.where)
                break
    for name in _ON:
        place = f"model.{name}"
        found.values.setdefault(place, Setting(place, name, True, f"verl: {name}"))
    return found


def _uneven(draft: Draft) -> None:
    """Embedding and loss that count as layers make the stages uneven; says how."""
    layers, ranks = draft.get("/model/num_hidden_layers"), draft.get("/parallelism/pipeline")
    extra = [name for name in ("embedding", "loss") if draft.get(f"/stages/account_for_{name}")]
    if extra and isinstance(layers, int) and isinstance(ranks, int) and ranks > 0:
        slots = layers + len(extra)
        message = (
            f"{' and '.join(extra)} count as layers: ({layers} + {len(extra)}) / {ranks} = {slots / ranks:g} slots"
        )
        draft.note("uneven_pipeline", "info", message, fields=["/stages", "/parallelism/pipeline"], found=str(slots))
