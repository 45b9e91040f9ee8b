"""Kubernetes manifests: which pods run, how many GPUs each has, and the command in them, for its own dialect."""

from service.formats.dialect import Wrapper
from service.formats.kubernetes.manifest import recognise, unwrap

WRAPPER = Wrapper("kubernetes", recognise, unwrap)

__all__ = ["WRAPPER"]
