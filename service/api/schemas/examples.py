"""Examples of the document; each works as pasted, and a test sends it."""

from typing import Any

JOB: dict[str, Any] = {
    "model": {"preset": "llama-3-8b"},
    "framework": {"name": "megatron-core"},
    "world_size": 64,
    "parallelism": {"tensor": 8, "sequence": True, "pipeline": 2},
    "sharding": {"stage": 1},
    "batch": {"micro": 1, "global": 512, "sequence_length": 8192},
    "kernels": {"attention": "flash"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}

OPEN_JOB: dict[str, Any] = {
    "model": {"preset": "llama-3-8b"},
    "framework": {"name": "megatron-core"},
    "batch": {"global": 512, "sequence_length": 8192},
    "kernels": {"attention": "flash"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}

MEGATRON_SCRIPT: dict[str, Any] = {
    "format": "megatron",
    "text": """\
#!/bin/bash
GPUS_PER_NODE=8
NNODES=${NNODES:-8}
TP=8
PP=2

torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \\
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\
    --num-attention-heads 32 --group-query-attention --num-query-groups 8 \\
    --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 \\
    --swiglu --normalization RMSNorm --position-embedding-type rope \\
    --untie-embeddings-and-output-weights --disable-bias-linear \\
    --attention-dropout 0 --hidden-dropout 0 --attention-backend flash \\
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP --sequence-parallel \\
    --micro-batch-size 1 --global-batch-size 512 --use-distributed-optimizer --bf16
""",
}

HUGGING_FACE_CONFIG: dict[str, Any] = {
    "format": "huggingface",
    "text": """\
{
  "model_type": "llama",
  "hidden_size": 4096,
  "num_hidden_layers": 32,
  "num_attention_heads": 32,
  "num_key_value_heads": 8,
  "intermediate_size": 14336,
  "vocab_size": 128256,
  "max_position_embeddings": 8192,
  "rms_norm_eps": 1e-05,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16"
}
""",
    "world_size": 8,
}

SLURM_SCRIPT: dict[str, Any] = {
    "format": "auto",
    "text": """\
#!/bin/bash
#SBATCH --job-name=llama-3-8b
#SBATCH --nodes=8
#SBATCH --gpus-per-node=h100:8
#SBATCH --ntasks-per-node=1
#SBATCH --time=24:00:00

export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 --rdzv_endpoint $MASTER_ADDR:29500 pretrain_gpt.py \\
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\
    --num-attention-heads 32 --group-query-attention --num-query-groups 8 \\
    --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 \\
    --swiglu --normalization RMSNorm --position-embedding-type rope \\
    --untie-embeddings-and-output-weights --disable-bias-linear \\
    --attention-dropout 0 --hidden-dropout 0 --attention-backend flash \\
    --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --sequence-parallel \\
    --micro-batch-size 1 --global-batch-size 512 --use-distributed-optimizer --bf16
""",
}

KUBERNETES_MANIFEST: dict[str, Any] = {
    "format": "auto",
    "text": """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: llama-3-8b
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Worker:
      replicas: 8
      template:
        spec:
          containers:
            - name: pytorch
              image: megatron:latest
              command: [torchrun, pretrain_gpt.py]
              args:
                - --num-layers=32
                - --hidden-size=4096
                - --ffn-hidden-size=14336
                - --num-attention-heads=32
                - --group-query-attention
                - --num-query-groups=8
                - --seq-length=8192
                - --max-position-embeddings=8192
                - --vocab-size=128256
                - --swiglu
                - --normalization=RMSNorm
                - --position-embedding-type=rope
                - --untie-embeddings-and-output-weights
                - --disable-bias-linear
                - --attention-dropout=0
                - --hidden-dropout=0
                - --attention-backend=flash
                - --tensor-model-parallel-size=4
                - --pipeline-model-parallel-size=2
                - --sequence-parallel
                - --micro-batch-size=1
                - --global-batch-size=512
                - --use-distributed-optimizer
                - --bf16
              resources:
                limits:
                  nvidia.com/gpu: 8
""",
}

_CLUSTER = {"device": "h100-sxm-80gb", "world_size": 64, "gpus_per_node": 8}

ESTIMATES: dict[str, Any] = {
    "a job": {"summary": "Llama-3-8B on 64 GPUs", "value": {"job": JOB, "device": "h100-sxm-80gb"}},
    "a launch script": {
        "summary": "a Megatron-LM launch script as it is",
        "value": {"source": MEGATRON_SCRIPT, "device": "h100-sxm-80gb"},
    },
    "Slurm": {
        "summary": "a Slurm batch script as it is",
        "value": {"source": SLURM_SCRIPT, "device": "h100-sxm-80gb"},
    },
    "Kubernetes": {
        "summary": "a PyTorchJob manifest as it is",
        "value": {"source": KUBERNETES_MANIFEST, "device": "h100-sxm-80gb"},
    },
}

VERDICTS: dict[str, Any] = {
    "a job on two targets": {
        "summary": "Llama-3-8B on 64 H100, and on 128 A100",
        "value": {
            "items": [
                {
                    "job": JOB,
                    "targets": [{"device": "h100-sxm-80gb"}, {"device": "a100-sxm-80gb", "world_size": 128}],
                }
            ]
        },
    },
    "a launch script": {
        "summary": "a Megatron-LM launch script as it is",
        "value": {"items": [{"source": MEGATRON_SCRIPT, "targets": [{"device": "h100-sxm-80gb"}]}]},
    },
    "Slurm": {
        "summary": "what a submit filter asks: a Slurm batch script as it is",
        "value": {"items": [{"source": SLURM_SCRIPT, "targets": [{"device": "h100-sxm-80gb"}]}]},
    },
    "Kubernetes": {
        "summary": "what an admission hook asks: a PyTorchJob manifest as it is",
        "value": {"items": [{"source": KUBERNETES_MANIFEST, "targets": [{"device": "h100-sxm-80gb"}]}]},
    },
}

COMPARISONS: dict[str, Any] = {
    "two jobs on two targets": {
        "summary": "Llama-3-8B with 8-way and 4-way tensor parallelism, on H100 and on H200",
        "value": {
            "items": [
                {"label": "8-way tensor", "job": JOB},
                {
                    "label": "4-way tensor",
                    "job": {**JOB, "parallelism": {"tensor": 4, "sequence": True, "pipeline": 2}},
                },
            ],
            "targets": [{"device": "h100-sxm-80gb"}, {"device": "h200-sxm-141gb"}],
        },
    },
}

OBSERVATIONS: dict[str, Any] = {
    "a peak": {
        "summary": "a run of a job that logged what torch had reserved",
        "value": {
            "run_id": "slurm-4711",
            "job": JOB,
            "device": "h100-sxm-80gb",
            "measured": {"source": "torch", "reserved_bytes": 9932111872, "step_seconds": 9.81},
        },
    },
    "out of memory": {
        "summary": "a run of a launch script that the scheduler saw end out of memory",
        "value": {
            "run_id": "slurm-4712",
            "source": MEGATRON_SCRIPT,
            "device": "h100-sxm-80gb",
            "measured": {"source": "scheduler", "oom": True},
        },
    },
}

DEVICES: dict[str, Any] = {
    "over the catalogue": {
        "summary": "H100s of a site where DCGM and MPS hold 1 GiB, called h100-a in Slurm",
        "value": {
            "reserve_bytes": 1073741824,
            "labels": {
                "gres_types": ["h100-a"],
                "instance_types": ["p5.48xlarge"],
                "kubernetes_products": ["NVIDIA-H100-80GB-HBM3"],
            },
            "notes": "Rack 12: DCGM and MPS hold 1 GiB.",
        },
    },
    "slices": {
        "summary": "H100s that are divided into MIG instances",
        "value": {"slices": [{"name": "3g.40gb", "kind": "mig", "usable_bytes": 42144366592, "count": 2}]},
    },
}

KEEPING: dict[str, Any] = {
    "for good": {"summary": "kept whatever the settings say", "value": {"pinned": True}},
    "until a day": {"summary": "removed after a day of its own", "value": {"expires_at": "2027-03-01T00:00:00Z"}},
}

POLICIES: dict[str, Any] = {
    "to see what would be refused": {
        "summary": "every job is admitted; what leaves less than 5 % free is written down",
        "value": {"mode": "shadow", "margin_fraction": 0.05},
    },
    "enforced": {
        "summary": "only H100s, at most 512 of them, and nothing that does not fit",
        "value": {"mode": "enforce", "allowed_devices": ["h100-sxm-80gb"], "max_world_size": 512},
    },
}

IMPORTS: dict[str, Any] = {
    "a launch script": {"summary": "a Megatron-LM launch script as it is", "value": {"source": MEGATRON_SCRIPT}},
    "a Hugging Face config": {
        "summary": "a config.json, which says nothing of the training",
        "value": {"source": HUGGING_FACE_CONFIG},
    },
}

PLANS: dict[str, Any] = {
    "a job": {
        "summary": "Llama-3-8B, any layout of 64 GPUs without context parallelism",
        "value": {"job": OPEN_JOB, "cluster": _CLUSTER, "search": {"context": [1]}},
    },
    "a launch script": {
        "summary": "other layouts of a Megatron-LM launch script",
        "value": {
            "source": MEGATRON_SCRIPT,
            "cluster": _CLUSTER,
            "search": {"tensor": "any", "pipeline": "any", "micro": [1, 2], "checkpointing": "any"},
        },
    },
}
