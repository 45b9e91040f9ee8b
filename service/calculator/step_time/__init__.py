"""A first step-time model for ranking: computation, traffic, bubble and optimizer."""

from service.calculator.step_time.rates import Rates, rates_of
from service.calculator.step_time.step import StepTime, step_time

__all__ = ["Rates", "StepTime", "rates_of", "step_time"]
