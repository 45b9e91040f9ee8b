"""What is understood of a config: each finding once, and none lost."""

from service.formats.source import ConfigSource
from service.job.diagnostics import Diagnostic, Findings
from service.usecases.imports import import_config, merged


def test_two_variables_that_hide_the_same_number_are_two_findings() -> None:
    text = "torchrun --nnodes $NODES --nproc_per_node $GPUS pretrain_gpt.py --num-layers 2 --hidden-size 64"

    findings = import_config(ConfigSource(text=text)).findings

    (unresolved,) = [each for each in findings.diagnostics if each.code == "unresolved"]
    assert unresolved.found == "GPUS, NODES"


def test_every_repeated_flag_is_a_finding_of_its_own() -> None:
    text = "torchrun pretrain_gpt.py --num-layers 2 --num-layers 3 --hidden-size 64 --hidden-size 128"

    findings = import_config(ConfigSource(text=text)).findings

    assert [each.found for each in findings.diagnostics if each.code == "repeated_flag"] == [
        "2, then 3",
        "64, then 128",
    ]


def test_what_reader_and_validation_both_find_on_the_same_fields_is_one_finding() -> None:
    read = Diagnostic("ignored_option", "warning", "in the file's words", ("/parallelism/sequence",))
    checked = Diagnostic("ignored_option", "warning", "in the job's words", ("/parallelism/sequence",))
    other = Diagnostic("ignored_option", "info", "another option", ("/sharding/stage",))

    assert merged(Findings([read]), Findings([checked, other])).diagnostics == [read, other]


def test_errors_come_first() -> None:
    late = Diagnostic("value_type", "error", "refused")
    early = Diagnostic("unit_suffix", "info", "read as")

    assert merged(Findings([early]), Findings([late])).diagnostics == [late, early]
