"""Values of a chart that makes a JobSet: Google's recipes for training on GKE (AI-Hypercomputer/gpu-recipes)."""

import re
import shlex

from service.formats.kubernetes.workloads import Group, Machine, Node, Workload, at, sequence, text_of

# The plug-in gIB drives the RoCE network of these machines, and no other: A3 Ultra and A4.
_GIB_DEVICES = ("h200-sxm-141gb", "b200-sxm-180gb")


_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_]\w*\.[\w.]+=")


def values_workload(document: Node) -> Workload | None:
    """The workload that a chart makes of its values, None when they are no such values."""
    gpus = at(document, "workload", "gpus")
    if gpus is None or document.get("kind") is not None:
        return None
    arguments = " ".join(
        text_of(each)
        for key in ("arguments", "arguments[]", "defaultArguments", "defaultArguments[]")
        for each in sequence(at(document, "workload", key))
    )
    config = text_of(at(document, "workload", "configFile"))
    if config or _OVERRIDE.match(arguments):
        # The chart's launcher hands the file and the overrides to the program that its image holds.
        named = ["--config-file", shlex.quote(config)] if config else []
        arguments = " ".join(["torchrun", "train.py", *named, arguments])
    env = {text_of(at(each, "name")): text_of(at(each, "value")) for each in sequence(at(document, "workload", "envs"))}
    group = Group("workload", None, {}, "workload", command=arguments)
    return Workload("values", "", [group], environment=env, machine=_machine(document), total=gpus)


def _machine(document: Node) -> Machine | None:
    version = text_of(at(document, "network", "gibVersion"))
    if not version:
        return None
    return Machine(_GIB_DEVICES, "network.gibVersion, a plug-in of A3 Ultra and A4 machines,")
