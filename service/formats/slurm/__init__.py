"""Batch scripts: what Slurm gives a job, and the command in it, for whichever dialect it is written in."""

from service.formats.dialect import Wrapper
from service.formats.slurm.script import holds_command, is_script, recognise, unwrap

WRAPPER = Wrapper("slurm", recognise, unwrap)

__all__ = ["WRAPPER", "holds_command", "is_script"]
