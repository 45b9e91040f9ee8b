"""Manifests: which pods run, how many processes, and the command in them, whatever dialect it is written in."""

import json
from itertools import chain
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.usecases.imports import import_config
from tests.formats.corpus import expected, facts, items

MEGATRON = [
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336 --seq-length 8192",
    "--max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 128 --vocab-size 128256 --bf16",
    "--tensor-model-parallel-size 2 --swiglu",
]
FLAGS = " ".join(MEGATRON)
MASKED = {item["id"].rpartition("/")[2]: item for item in items("k8s")}


def container(command: list[str], gpus: Any = 8, **further: Any) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": gpus}} if gpus is not None else {}
    return {"name": "main", "command": command, "resources": resources, **further}


def template(each: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [each], "hostIPC": True, **spec}}


def manifest(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "example/v1", "kind": kind, "metadata": {"name": "train"}, "spec": spec}


def read(*documents: dict[str, Any], **source: Any) -> Imported:
    return import_config(ConfigSource(text=yaml.safe_dump_all(documents), **source))


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def missing(imported: Imported) -> set[str]:
    return {each.fact for each in imported.findings.missing}


TORCHRUN = ["torchrun", "--nproc_per_node=8", "pretrain_gpt.py", *FLAGS.split()]
PLAIN = template(container(TORCHRUN))
WORKER = {"replicas": 4, "template": PLAIN}
LAUNCHER = {"template": template(container(["mpirun", "python", "pretrain_gpt.py", *FLAGS.split()], None))}
RAY_WORKERS = {
    "groupName": "gpu",
    "replicas": 4,
    "template": template({"resources": {"limits": {"nvidia.com/gpu": "8"}}}),
}
SSHD = {"replicas": 4, "template": template(container(["/usr/sbin/sshd"]))}
REPLICATED = {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 2, "template": PLAIN}}}
MASTER_AND_WORKERS = {"Master": {"template": PLAIN}, "Worker": {**WORKER, "replicas": 3}}
TRAINER = {"numNodes": 4, "command": TORCHRUN, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}
RAY = {"entrypoint": f"python pretrain_gpt.py {FLAGS}", "rayClusterSpec": {"workerGroupSpecs": [RAY_WORKERS]}}
WORKLOADS = {
    "Job": manifest("Job", {"parallelism": 4, "completions": 4, "template": PLAIN}),
    "JobSet": manifest("JobSet", {"replicatedJobs": [REPLICATED]}),
    "PyTorchJob": manifest("PyTorchJob", {"pytorchReplicaSpecs": MASTER_AND_WORKERS}),
    "MPIJob": manifest("MPIJob", {"slotsPerWorker": 8, "mpiReplicaSpecs": {"Launcher": LAUNCHER, "Worker": SSHD}}),
    "TrainJob": manifest("TrainJob", {"trainer": TRAINER}),
    "RayJob": manifest("RayJob", RAY),
    "Workload": manifest("Workload", {"podSets": [{"name": "main", "count": 4, "template": PLAIN}]}),
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_every_kind_of_workload_hands_its_command_to_the_dialect_and_counts_its_processes(kind: str) -> None:
    imported = read(WORKLOADS[kind])

    assert (imported.outcome, imported.format, missing(imported)) == ("ok", "megatron", set())
    assert imported.job is not None
    assert (imported.job.world_size, imported.job.parallelism.tensor) == (32, 2)
    assert imported.findings.sources["/world_size"].origin == "derived"


@pytest.mark.parametrize(
    "command",
    [
        ["bash", "-c", f"torchrun --nproc_per_node=8 --nnodes=$(NODES) pretrain_gpt.py {FLAGS}"],
        ["bash", "-xc", f"set -e\nARGS=({FLAGS})\ntorchrun --nproc_per_node 8 pretrain_gpt.py ${{ARGS[@]}}\n"],
        ["/bin/sh", "-c", "bash /scripts/run.sh"],
        ["/scripts/run.sh"],
    ],
)
def test_a_command_may_be_a_shell_s_text_or_a_mounted_script(command: list[str]) -> None:
    script = f"#!/bin/bash\ntorchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py {FLAGS}\n"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts"}, "data": {"run.sh": script}}
    pod = template(container(command, env=[{"name": "NODES", "value": "4"}]))

    imported = read(config_map, manifest("Job", {"parallelism": 4, "completions": 4, "template": pod}))

    assert (imported.outcome, imported.format) == ("ok", "megatron")
    assert imported.job is not None
    assert imported.job.world_size == 32


def test_a_launcher_that_expects_other_pods_than_there_are_is_refused() -> None:
    pod = template(container(["torchrun", "--nnodes=2", *TORCHRUN[1:]]))

    imported = read(manifest("Job", {"parallelism": 4, "template": pod}))

    (error,) = [each for each in imported.findings.errors if each.code == "replicas_mismatch"]
    assert error.message == "the command expects 2 nodes, the manifest runs 4 pods"


def test_processes_of_a_pod_come_from_the_launcher_not_from_the_number_of_pods() -> None:
    """https://github.com/kubeflow/trainer/issues/1790: 3 processes for 5 GPUs."""
    plain = ["python", "pretrain_gpt.py", *FLAGS.split()]
    specs = {
        "Master": {"replicas": 1, "template": template(container(plain, 1))},
        "Worker": {"replicas": 2, "template": template(container(plain, 2))},
    }

    imported = read(manifest("PyTorchJob", {"pytorchReplicaSpecs": specs}))

    assert imported.job is not None
    assert imported.job.world_size == 3
    (warning,) = [each for each in imported.findings.diagnostics if each.code == "world_size_mismatch"]
    assert warning.message == "3 processes run (1 pods of Master x 1 + 2 pods of Worker x 1), 5 GPUs are asked for"
    assert "gpus_differ" in codes(imported)


def test_a_world_size_that_counts_pods_is_understood_as_the_number_of_nodes() -> None:
    """https://github.com/kubeflow/trainer/issues/1790"""
    command = ["torchrun", "--nnodes=$(WORLD_SIZE)", "--nproc_per_node=8", "pretrain_gpt.py", *FLAGS.split()]

    imported = read(
        manifest(
            "PyTorchJob", {"pytorchReplicaSpecs": {"Worker": {"replicas": 4, "template": template(container(command))}}}
        )
    )

    assert imported.job is not None
    assert imported.job.world_size == 32
    assert imported.outcome == "ok"


@pytest.mark.parametrize("gpus", ["0.5", 1.5, "some"])
def test_gpus_that_are_no_whole_number_are_refused(gpus: object) -> None:
    imported = read(manifest("Job", {"parallelism": 4, "template": template(container(TORCHRUN, gpus))}))

    assert "value_type" in {each.code for each in imported.findings.errors}


def test_a_runtime_among_the_documents_says_what_a_train_job_leaves_out() -> None:
    pod = template(container([], 8))
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {
            "mlPolicy": {"numNodes": 4, "torch": {"numProcPerNode": "auto"}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": pod}}}]}},
        },
    }
    job = manifest(
        "TrainJob", {"runtimeRef": {"name": "torch"}, "trainer": {"command": ["torchrun", "train.py", *FLAGS.split()]}}
    )

    alone, together = read(job), read(runtime, job)

    assert {"torch", "world_size"} <= missing(alone)
    assert together.job is not None
    assert (together.job.world_size, missing(together)) == (32, set())


@pytest.mark.parametrize(
    ("selector", "device"),
    [
        ({"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}, "h100-sxm-80gb"),
        ({"node.kubernetes.io/instance-type": "p5.48xlarge"}, "h100-sxm-80gb"),
        ({"node.kubernetes.io/instance-type": "p5en.48xlarge"}, "h200-sxm-141gb"),
        ({"node.kubernetes.io/instance-type": "a3-ultragpu-8g"}, "h200-sxm-141gb"),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, "h100-sxm-80gb"),
        ({"kubernetes.io/hostname": "h100"}, None),
    ],
)
def test_the_machine_that_is_asked_for_hints_at_the_device(selector: dict[str, str], device: str | None) -> None:
    pod = template(container(TORCHRUN), nodeSelector=selector)

    found = read(manifest("Job", {"parallelism": 4, "template": pod})).findings.diagnostics

    assert [each.found for each in found if each.code == "device_hint"] == ([device] if device else [])


def test_pods_of_several_gpus_without_shared_memory_are_pointed_out() -> None:
    bare = {"spec": {"containers": [container(TORCHRUN)]}}
    mounted = {
        "spec": {
            "containers": [container(TORCHRUN, volumeMounts=[{"name": "m", "mountPath": "/dev/shm"}])],  # noqa: S108
            "volumes": [{"name": "m", "emptyDir": {"medium": "Memory"}}],
        }
    }

    assert "shared_memory" in codes(read(manifest("Job", {"template": bare})))
    assert "shared_memory" not in codes(read(manifest("Job", {"template": mounted})))


def test_an_image_that_decides_what_runs_is_incomplete() -> None:
    imported = read(manifest("Job", {"parallelism": 4, "template": template(container([]))}))

    assert (imported.outcome, missing(imported)) == ("incomplete", {"command"})
    assert imported.job is not None
    assert imported.job.world_size == 32


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_order_of_keys_quotes_and_comments_change_nothing(random: Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(each) for each in value] if isinstance(value, list) else value

    for document in WORKLOADS.values():
        plain, other = yaml.safe_dump(document), yaml.safe_dump(shuffled(document), sort_keys=False)
        style = random.choice([None, '"', "'"])
        quoted = yaml.safe_dump(shuffled(document), sort_keys=False, default_style=style)
        commented = "# 64 GPUs\n" + other.replace("\n", "\n# note\n", 1)

        jobs = [import_config(ConfigSource(text=each)).job for each in (plain, other, quoted, commented)]

        assert jobs[0] is not None
        assert all(each == jobs[0] for each in jobs)


def test_a_manifest_may_be_json() -> None:
    text = json.dumps(WORKLOADS["JobSet"], indent=2)

    assert (
        import_config(ConfigSource(text=text)).job
        == import_config(ConfigSource(text=yaml.safe_dump(WORKLOADS["JobSet"]))).job
    )


def test_nothing_in_a_manifest_is_executed_or_sourced() -> None:
    hostile = [
        "bash",
        "-c",
        f"$(touch /tmp/x); torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) pretrain_gpt.py {FLAGS}",
    ]
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "m"},
        "data": {"../x.sh": "a", "/y": "b"},
    }

    imported = read(config_map, manifest("Job", {"parallelism": 2, "template": template(container(hostile))}))

    assert imported.job is not None
    assert imported.job.world_size == 16


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Job\nspec: !!python/object/apply:os.system ['true']\n",
        "apiVersion: v1\nkind: Job\nspec: [\n",
        "apiVersion: v1\nkind: Job\nspec: 3\n",
        "apiVersion: v1\nkind: Job\nspec: {template: [1, 2], parallelism: {a: b}}\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
        "apiVersion: v1\nkind: List\nitems: {a: 1}\n",
        "apiVersion: v1\nkind: Job\nmetadata: &a [*a]\n",
        "---\n" * 50_000 + "apiVersion: v1\nkind: Job\n",
        "apiVersion: v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 99999999999999999999}}}\n",
    ],
)
def test_a_broken_manifest_is_an_answer_like_any_other(text: str) -> None:
    assert import_config(ConfigSource(text=text, format="kubernetes")).outcome != "ok"


CORPUS = {
    # The runtime, the image and the program are not supplied, so what runs cannot be known.
    "trainer_trainjob_multinode": {"world_size", "torch-distributed"},
    "kuberay_rayjob_text_classifier": {"world_size"},
    "jobset_pytorch_resnet": set(),
    "gpu_recipes_jobset_llama3_70b": set(),
    "aws_pytorchjob_fsdp_llama3_1_70b": {"world_size", "vocab_size"},
}


@pytest.mark.parametrize("name", MASKED)
def test_a_published_manifest_yields_its_facts(name: str) -> None:
    item = MASKED[name]
    argv: list[str] = []
    if "launcher" in item:
        launcher, script = (list(chain(*each)) for each in (item["launcher"]["args"], item["script_args"]))
        argv = ["torchrun", *launcher, "--no-python", "bash", item["launcher"]["entrypoint"], *script]

    imported = read(item["content"], argv=argv)

    assert {each["code"] for each in item["expected"]["diagnostics"]} <= codes(imported)
    assert missing(imported) == CORPUS[name]
    if item["expected"]["model"] is not None:
        filled = read(
            item["content"], argv=argv, env={k: str(v) for k, v in item.get("substitutions_documented", {}).items()}
        )
        found = facts(filled)
        assert {key: (value, found[key]) for key, value in expected(item) if key in found and found[key] != value} == {}


@pytest.mark.parametrize("size", [-1, 0, 10**12])
def test_a_number_of_pods_that_no_job_has_is_refused_and_asked_for(size: int) -> None:
    imported = read(manifest("Job", {"parallelism": size, "completions": size, "template": PLAIN}))

    assert imported.outcome == "invalid"
    assert imported.job is None or imported.job.world_size != size * 8


@pytest.mark.parametrize("style", [{"default_flow_style": True}, {"default_style": '"'}, {"sort_keys": False}])
def test_a_manifest_is_recognised_in_every_style(style: dict[str, Any]) -> None:
    text = yaml.safe_dump(WORKLOADS["PyTorchJob"], width=10_000, **style)
    commented = "\n".join(line if line.endswith("-") else f"{line}  # as asked" for line in text.splitlines())

    assert {import_config(ConfigSource(text=each)).outcome for each in (text, commented)} == {"ok"}


HELM = """
workload:
  gpus: 256
  image: x
  configFile: {name}
  arguments[]:
  - trainer.max_steps=20
  - model.global_batch_size=2048
  - model.micro_batch_size=2
  - model.tensor_model_parallel_size=4
"""


def test_overrides_of_a_chart_go_over_its_config_file_which_alone_is_asked_for() -> None:
    found = import_config(ConfigSource(text=HELM.format(name="mixtral.yaml")))

    assert {each.fact for each in found.findings.missing} == {"mixtral.yaml"}
    assert found.job is not None
    assert (found.job.world_size, found.job.parallelism.tensor, found.job.batch.global_) == (256, 4, 2048)
    model = "num_layers: 32, hidden_size: 4096, num_attention_heads: 32, encoder_seq_length: 4096"
    file = f"trainer: {{precision: bf16}}\nmodel: {{{model}, override_vocab_size: 32000, micro_batch_size: 1}}\n"
    given = import_config(ConfigSource(text=HELM.format(name="mixtral.yaml"), files={"mixtral.yaml": file}))
    assert not given.findings.missing
    assert given.job is not None
    assert (given.job.batch.micro, given.job.model.num_hidden_layers, given.job.world_size) == (2, 32, 256)


def test_a_number_of_processes_that_is_a_list_is_none() -> None:
    text = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: x}\n"
        "spec: {trainer: {numNodes: 2, numProcPerNode: [8], command: [torchrun, pretrain_gpt.py, --num-layers, '2']}}\n"
    )

    assert import_config(ConfigSource(text=text)).outcome != "ok"
