"""The calculator's parameters of every preset against the published counts."""

import pytest

from service.calculator.model import Model, Moe
from service.calculator.parameters import count, model_parameters, prediction_parameters
from service.catalog.models import ModelPreset, load_models
from service.job.architecture import resolve_architecture
from service.job.schema import ModelSection
from service.job.values import Values
from tests.catalog.parameter_count import Counter

PRESETS = list(load_models().values())


def model_of(preset: ModelPreset) -> Model:
    model = resolve_architecture(ModelSection(preset=preset.name), Values()).model
    assert model is not None
    return model


def balancing_biases(model: Model) -> int:
    """Elements of the buffers that balance the choice of experts."""
    kinds = (model.kinds[each].mlp for each in model.pattern)
    return sum(each.experts for each in kinds if isinstance(each, Moe) and each.expert_bias)


@pytest.mark.parametrize(
    "preset", [each for each in PRESETS if each.parameters is not None], ids=lambda preset: preset.name
)
def test_parameters_and_buffers_are_the_published_ones(preset: ModelPreset) -> None:
    model = model_of(preset)
    assert balancing_biases(model) == preset.buffer_elements
    assert model_parameters(model) + preset.buffer_elements == preset.parameters


@pytest.mark.parametrize(
    "preset", [each for each in PRESETS if each.parameters is None], ids=lambda preset: preset.name
)
def test_parameters_of_unpublished_counts_are_those_of_an_independent_count(preset: ModelPreset) -> None:
    assert model_parameters(model_of(preset)) == Counter(preset).total()


@pytest.mark.parametrize(
    "preset",
    [each for each in PRESETS if each.config.get("num_nextn_predict_layers")],
    ids=lambda preset: preset.name,
)
def test_a_prediction_depth_is_that_of_an_independent_count(preset: ModelPreset) -> None:
    model = model_of(preset)
    assert model.prediction is not None
    assert count(prediction_parameters(model.prediction, model, 1)) == Counter(preset).prediction_depth()
