"""Launch scripts written from a corpus item's arguments, in the styles that people use."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Arguments = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Script:
    """A script's text and the arguments it is called with."""

    text: str
    argv: tuple[str, ...] = ()


def launch_line(launcher: Mapping[str, Any]) -> str:
    """The launcher and the script of an item, without the script's own arguments."""
    program = launcher["program"]
    words = ["srun"] if program.startswith("srun + ") else []
    program = program.removeprefix("srun + ")
    if program == "python -m torch.distributed.run":
        words += ["python", "-u", "-m", "torch.distributed.run"]
    else:
        words += ["ray"] if program == "ray job submit" else program.split()
    given = [each for each in launcher["args"] if each not in (["-u"], ["-m"], ["torch.distributed.run"])]
    words += [word for each in given for word in each]
    return " ".join(shlex.quote(each) for each in [*words, launcher["entrypoint"]])


def directives(options: Mapping[str, str]) -> list[str]:
    """`#SBATCH` lines, one of them without an equals sign, one with a trailing comment."""
    lines = [f"#SBATCH --{name}" + (f"={value}" if value else "") for name, value in options.items()]
    lines[:1] = [each.replace("=", " ", 1) for each in lines[:1]]
    return [f"{each}   # as asked" if index == 1 else each for index, each in enumerate(lines)]


def _quoted(argument: Sequence[str]) -> str:
    return " ".join(shlex.quote(each) for each in argument)


def _inside_double_quotes(text: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", text)


def arrays(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    half = len(arguments) // 2
    first = "\n".join(f"    {_quoted(each)}" for each in arguments[:half])
    second = "\n".join(f"    {_quoted(each)}  # kept" for each in arguments[half:])
    body = f"MODEL_ARGS=(\n    # --num-layers 1\n{first}\n)\nTRAINING_ARGS=(\n{second}\n)\n"
    return Script("\n".join([*head, body, f'{launch} \\\n    ${{MODEL_ARGS[@]}} \\\n    "${{TRAINING_ARGS[@]}}"\n']))


def extended_arrays(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    lines = ["declare -a ARGS=()"] + [f"ARGS+=({_quoted(each)})" for each in arguments]
    return Script("\n".join([*head, *lines, f'{launch} "${{ARGS[@]}}" 2>&1 | tee log.txt\n']))


def continued_command(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    lines = " \\\n    ".join(_quoted(each) for each in arguments)
    return Script("\n".join([*head, f"{launch} \\\n    {lines}\n"]))


def string(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """All arguments in one double-quoted string, split where it is expanded."""
    split = [each for each in arguments if not any(" " in word or "'" in word for word in each)]
    rest = " ".join(_quoted(each) for each in arguments if each not in split)
    lines = " \\\n    ".join(_inside_double_quotes(" ".join(each)) for each in split)
    return Script(
        "\n".join([*head, f'ARGS=" \\\n    {lines}"\nARGS="$ARGS --num-workers 2"', f"{launch} $ARGS {rest}\n"])
    )


def equals_signs(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    words = [f"{each[0]}={shlex.quote(each[1])}" if len(each) == 2 else _quoted(each) for each in arguments]
    return Script("\n".join([*head, f"{launch} {' '.join(words)}\n"]))


def environment_defaults(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """Numbers come from variables with a default, in three notations."""
    lines: list[str] = []
    words: list[str] = []
    for index, each in enumerate(arguments):
        if len(each) == 2 and each[1].isdigit():
            name = f"SETTING_{index}"
            notations = (
                f"{name}=${{{name}:-{each[1]}}}",
                f': "${{{name}:={each[1]}}}"',
                f"{name}=$(( {each[1]} * 1 ))",
            )
            lines.append(notations[index % len(notations)])
            words.append(f"{each[0]} ${{{name}}}")
        else:
            words.append(_quoted(each))
    return Script("\n".join([*head, *lines, f"{launch} {' '.join(words)}\n"]))


def positional_parameters(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """Numbers come from the script's own arguments."""
    argv: list[str] = []
    words: list[str] = []
    for each in arguments:
        if len(each) == 2 and each[1].isdigit():
            argv.append(each[1])
            words.append(f"{each[0]} ${{{len(argv)}:-7}}")
        else:
            words.append(_quoted(each))
    return Script("\n".join([*head, f"{launch} {' '.join(words)}\n"]), tuple(argv))


def one_word_each(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """Flag and value in one quoted array element, relying on word splitting."""
    lines = [
        f'    "{_inside_double_quotes(" ".join(each))}"'
        if len(each) == 2 and " " not in each[1]
        else f"    {_quoted(each)}"
        for each in arguments
    ]
    return Script("\n".join([*head, "ARGS=(", *lines, ")", f"{launch} ${{ARGS[@]}}\n"]))


def chosen_branch(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """Arguments are chosen by `case` and `if` on variables that the script sets."""
    half = len(arguments) // 2
    first = "\n".join(_quoted(each) for each in arguments[:half])
    second = "\n".join(_quoted(each) for each in arguments[half:])
    body = f"""
SIZE=${{SIZE:-large}}
case $SIZE in
  small) ARGS=(--num-layers 1) ;;
  large|huge) ARGS=(
{first}
) ;;
  *) echo "unknown size"; exit 1 ;;
esac
if [ "$SIZE" = small ]; then
  ARGS+=(--hidden-size 8)
elif [[ $SIZE == large && -n "$SIZE" ]]; then
  ARGS+=(
{second}
)
fi
"""
    return Script(
        "\n".join(
            [*head, body, f'CMD=({launch} "${{ARGS[@]}}")', 'if [ -z "$QUIET" ]; then set -x; fi', '"${CMD[@]}"\n']
        )
    )


def evaluated(head: Sequence[str], launch: str, arguments: Arguments) -> Script:
    """The command is put together in a string and given to `eval`."""
    words = " ".join(_quoted(each) for each in arguments)
    return Script(
        "\n".join(
            [*head, f'CMD="{_inside_double_quotes(f"{launch} {words}")} |& tee log.txt"', "echo $CMD", "eval $CMD\n"]
        )
    )


STYLES: Mapping[str, Callable[[Sequence[str], str, Arguments], Script]] = {
    each.__name__: each
    for each in (
        arrays, extended_arrays, continued_command, string, equals_signs, environment_defaults, positional_parameters,
        one_word_each, chosen_branch, evaluated,
    )
}  # fmt: skip
