#!/bin/bash
GPUS_PER_NODE=8
NNODES=${NNODES:-8}
TP=8
PP=2
MICRO=${MICRO:-2}

torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 \
    --num-attention-heads 64 --group-query-attention --num-query-groups 8 \
    --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 \
    --swiglu --normalization RMSNorm --position-embedding-type rope \
    --untie-embeddings-and-output-weights --disable-bias-linear \
    --attention-dropout 0 --hidden-dropout 0 --attention-backend flash \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP --sequence-parallel \
    --micro-batch-size $MICRO --global-batch-size 512 --use-distributed-optimizer --bf16
