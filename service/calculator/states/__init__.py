"""Weights, gradients and optimizer states of one stage, as each framework keeps them (memory_model.md, section 2)."""

from service.calculator.states.dispatch import held_parameters, host_lines, state_lines
from service.calculator.states.stage import StageParameters, parameter_count, stage_parameters

__all__ = ["StageParameters", "held_parameters", "host_lines", "parameter_count", "stage_parameters", "state_lines"]
