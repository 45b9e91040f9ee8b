"""The shell syntax of real launch scripts, read without a shell."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from service.formats.syntax.shell import Script, read_script

EVERYTHING = 'train "$@"'


def read(
    text: str,
    env: Mapping[str, str] | None = None,
    argv: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> Script:
    return read_script(text, env=env or {}, argv=argv, files=files)


def words(script: Script) -> list[str]:
    """The words of the last command; a hole is shown by its name."""
    if not script.commands:
        return []
    return [script.holes.shown(each.text) for each in script.commands[-1].words]


def last(text: str, **given: object) -> list[str]:
    return words(read(text, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TP=8\nrun $TP", ["run", "8"]),
        ("run ${TP:-8}", ["run", "8"]),
        ("run ${TP:=8} $TP", ["run", "8", "8"]),
        (': "${TP:=8}"\nrun $TP', ["run", "8"]),
        ("run ${1:-4}", ["run", "4"]),
        ("A=2 B=3\nrun $(( A*B )) $((A+B*4)) $(( (A+B)*4 )) $((A**B)) $(( B/A )) $(( A > B ? 1 : 2 ))",
         ["run", "6", "14", "20", "8", "1", "2"]),
        ("GPUS=8\nNNODES=4\nrun $((GPUS*NNODES)) $(($GPUS * ${NNODES}))", ["run", "32", "32"]),
        ("A=(--x 1 # kept\n  # dropped 2\n  '--y=3')\nrun ${A[@]}", ["run", "--x", "1", "--y=3"]),
        ('A=("--x 1" --y)\nrun "${A[@]}"', ["run", "--x 1", "--y"]),
        ('A=("--x 1" --y)\nrun ${A[@]}', ["run", "--x", "1", "--y"]),
        ('A=("--x 1" --y)\nrun "${A[*]}"', ["run", "--x 1 --y"]),
        ("A=(1)\nA+=(2 3)\nrun ${A[@]} ${#A[@]} ${A[0]} ${A[-1]}", ["run", "1", "2", "3", "3", "1", "3"]),
        ('A=(1 2)\nA=("${A[@]}" 3)\nrun "${A[@]:1}"', ["run", "2", "3"]),
        ('S="--x 1 \\\n  --y"\nS="$S --z"\nrun $S', ["run", "--x", "1", "--y", "--z"]),
        ('S="--x"\nS+=" 1"\nrun $S', ["run", "--x", "1"]),
        ("run --x \\\n  1 \\\n\\\n  --y", ["run", "--x", "1", "--y"]),
        ('declare -A L=([7b]=32 ["13b"]=40)\nSIZE=13b\nrun ${L[$SIZE]} ${L[7b]}', ["run", "40", "32"]),
        ("X=a/b.sh\nrun ${X##*/} ${X%.sh} ${X%/*} ${X/b/c} ${X^^} ${#X} ${X:2:1}",
         ["run", "b.sh", "a/b", "a", "a/c.sh", "A/B.SH", "6", "b"]),
        ("N=TP\nTP=8\nrun ${!N}", ["run", "8"]),
        ("run {1..3} a\\ b 'c d' \"e $((1+1))\"", ["run", "1", "2", "3", "a b", "c d", "e 2"]),
        ("export TP=8 PP=2\nreadonly CP=1\nrun $TP $PP $CP", ["run", "8", "2", "1"]),
        ("f() { local n=$1; OUT=$((n+1)); }\nf 4\nrun $OUT", ["run", "5"]),
        ("f() { run --inside; }\nrun --outside", ["run", "--outside"]),
        ('for i in 1 2 3; do L+="$i,"; done\nrun $L', ["run", "1,2,3,"]),
        ('for ((i=0; i<4; i++)); do L+="[1]"; done\nrun $L', ["run", "[1][1][1][1]"]),
        ("i=0\nwhile [ $i -lt 3 ]; do i=$((i+1)); done\nrun $i", ["run", "3"]),
        ("set -- 8 4\nTP=$1\nshift\nrun $TP $1 $#", ["run", "8", "4", "1"]),
        ("TP=1; TP=2 && PP=3\nrun $TP $PP", ["run", "2", "3"]),
        ("A=1 B=2\nrun $A$B", ["run", "12"]),
        ("A=1 \\\nB=2 run x", ["run", "x"]),
        ("X=a.b.c\nrun ${X#*.} ${X%%.*} ${X##*.} ${X%.*} ${X//./-} ${X/#a/z} ${X/%c/z} ${X^} ${X:1}",
         ["run", "b.c", "a", "c", "a.b", "a-b-c", "z.b.c", "a.b.z", "A.b.c", ".b.c"]),
        ("X=ABC\nrun ${X,} ${X,,} ${X:0:1} ${X+set} ${Y+set} ${Y-unset} ${X:+on}",
         ["run", "aBC", "abc", "A", "set", "unset", "on"]),
        ('i=0\nA=(1 2 3)\nA[1]=x\nA[4]=y\nrun ${A[1]} ${#A[@]} ${!A[@]} ${A[i+2]} "${A[@]:1:2}"',
         ["run", "x", "5", "0", "1", "2", "3", "4", "3", "x", "3"]),
        ("declare -A M\nM[a]=1\nM[b]=2\nrun ${M[b]} ${!M[@]}", ["run", "2", "a", "b"]),
        ("A=(1 2)\nA+=x\nrun ${A[@]}", ["run", "1x", "2"]),
        ('let "G = 128 * 2" H=G+1\nlet H++\nrun $G $H', ["run", "256", "258"]),
        ("i=1\n(( i += 4 ))\n((i++))\nlet j=i*2\nrun $i $j", ["run", "6", "12"]),
        ('K=TP\nexport "$K"=8\nrun $TP', ["run", "8"]),
        ("X=1\nunset X\nrun ${X:-gone}", ["run", "gone"]),
        ("for x in a b c; do [ $x = b ] && continue; [ $x = c ] && break; Y+=$x; done\nrun $Y", ["run", "a"]),
        ("until [ ${#S} -ge 3 ]; do S+=x; done\nrun $S", ["run", "xxx"]),
        ("true && A=1 || A=2\nfalse || B=3\n! false && C=4\nrun $A $B $C", ["run", "1", "3", "4"]),
        ("grep -q x y && A=1\ncd somewhere || exit 1\nrun $A", ["run", "1"]),
        ("while getopts ab o; do A=1; done\nrun ${A:-none}", ["run", "none"]),
        ("f() { return; run --never; }\nf\nrun after", ["run", "after"]),
        ("run $'a\\tb' $\"c\" ~/x", ["run", "a\tb", "c", "~/x"]),
        ("run a > log 2>&1 < /dev/null", ["run", "a"]),
        ("run a &\nwait", ["wait"]),
        ("{ A=1; }\n( B=2 )\nrun $A", ["run", "1"]),
        ("exit 0\nrun --never", []),
    ],
)  # fmt: skip
def test_expansions_and_structure(text: str, expected: list[str]) -> None:
    assert last(text) == expected


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('[ "$M" = 7b ]', True),
        ('[ "$M" != 7b ]', False),
        ("[ $N -eq 4 ]", True),
        ("[ $N -gt 4 -o $N -lt 5 ]", True),
        ('[ $N -ge 4 -a -z "$M" ]', False),
        ("! [ $N -eq 4 ]", False),
        ("test $N -le 3", False),
        ("[[ $M == 7* ]]", True),
        ('[[ $M == "7*" ]]', False),
        ("[[ -n $M && ( $N -eq 1 || $N -eq 4 ) ]]", True),
        ("(( N > 3 ))", True),
        ('[ -z "$NOT_GIVEN" ]', True),
        ('[ "x$NOT_GIVEN" = x ]', True),
        ('[ -n "${NOT_GIVEN:-}" ]', False),
        ("[ -f model.sh ]", True),
        ("[ $# -eq 0 ]", True),
    ],
)  # fmt: skip
def test_a_decidable_condition_chooses_its_branch(condition: str, holds: bool) -> None:
    text = f"M=7b\nN=4\nif {condition}; then X=yes; else X=no; fi\nrun $X"

    assert last(text, files={"model.sh": ""}) == ["run", "yes" if holds else "no"]


def test_case_takes_the_first_matching_pattern() -> None:
    text = "case $M in 7b) H=4096 ;; 13b|30b) H=5120 ;; mix*) H=1 ;; *) H=0 ;; esac\nrun $H"

    assert last(text, env={"M": "30b"}) == ["run", "5120"]
    assert last(text, env={"M": "mixtral"}) == ["run", "1"]
    assert last(text, env={"M": "70b"}) == ["run", "0"]


def test_an_undecidable_branch_reports_both_alternatives_and_asks_for_the_variable() -> None:
    script = read('if [ "$MODEL" = 7b ]; then H=4096; else H=5120; fi\nrun --hidden-size $H --layers 32')

    (hole,) = script.holes.within(script.commands[-1].words[2].text)
    assert (hole.name, hole.alternatives) == ("MODEL", ("4096", "5120"))
    assert words(script)[3:] == ["--layers", "32"]


def test_what_both_branches_agree_on_stays_known() -> None:
    script = read("if grep -q x file; then A=1; B=2; else B=2; A=3; fi\nrun $B $A")

    assert words(script)[1] == "2"
    assert script.holes.within(script.commands[-1].words[2].text)[0].alternatives == ("1", "3")


def test_flags_that_only_another_branch_sets_are_none_and_other_variables_are_asked_for() -> None:
    text = (
        "case 7b in\n 7b) L=32 ;;\n 70b) L=80; GQA='--num-query-groups 8'; NODES=4 ;;\nesac\n"
        "run --num-layers $L $GQA --nnodes $NODES"
    )
    *known, last_ = words(read(text))

    assert known == ["run", "--num-layers", "32", "--nnodes"]
    assert "NODES" in last_
    assert last(text, env={"GQA": "--x"})[3] == "--x"


def test_an_array_that_one_branch_extends_keeps_its_common_part() -> None:
    script = read('A=(--x 1)\nif [ "$FP8" = 1 ]; then A+=(--fp8 hybrid); fi\nrun "${A[@]}"')

    assert words(script)[:3] == ["run", "--x", "1"]
    assert script.holes.within(script.commands[-1].words[3].text)[0].alternatives == ("--fp8 hybrid", "")


def test_assignments_win_over_the_environment_and_the_environment_over_defaults() -> None:
    text = "A=1\nrun $A ${B:-2} ${C:-3}"

    assert last(text, env={"A": "7", "B": "8"}) == ["run", "1", "8", "3"]


def test_what_is_not_given_is_a_hole_with_its_name() -> None:
    script = read("run $NNODES ${TP:?set it} $2 ${A[@]}")

    found = [script.holes.within(each.text)[0] for each in script.commands[-1].words[1:]]
    assert [(each.name, each.kind) for each in found] == [("NNODES", "unset"), ("TP", "unset"), ("2", "positional")]


def test_positional_parameters_come_from_the_request_only() -> None:
    assert last(EVERYTHING, argv=["8", "a b"]) == ["train", "8", "a b"]
    assert last(EVERYTHING) == ["train"]
    assert last("run $2 $# ${@:2}", argv=["1", "2", "3"]) == ["run", "2", "3", "2", "3"]


def test_a_loop_over_arguments_is_followed() -> None:
    text = "while [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift 2 ;; *) shift ;; esac; done\nrun $TP"

    assert last(text, argv=["--x", "--tp", "8"]) == ["run", "8"]


def test_a_refusal_to_run_without_arguments_does_not_end_the_reading() -> None:
    text = 'if [ $# -lt 1 ]; then echo usage; exit 1; fi\n[ -z "$X" ] && exit 2\nrun --x 1'

    assert last(text) == ["run", "--x", "1"]


def test_heredocs_are_files_that_are_not_written(tmp_path: Path) -> None:
    target = tmp_path / "ds.json"
    script = read(f"MB=2\ncat <<EOF > {target}\n{{\"micro\": $MB}}\nEOF\ncat > raw <<'EOT'\n$MB\nEOT\n")

    assert script.heredocs == {str(target): '{"micro": 2}\n', "raw": "$MB\n"}
    assert not target.exists()


def test_a_sourced_file_is_read_when_supplied_and_named_when_not() -> None:
    script = read("source scripts/model.sh\n. other.sh\nsource ~/venv/bin/activate\nrun $L", files={"model.sh": "L=32"})

    assert words(script) == ["run", "32"]
    assert script.missing_files == {"other.sh": "line 2"}


def test_wrapped_commands_are_read() -> None:
    script = read('srun -N 2 bash -c "torchrun x.py --tp \\$TP"', env={"TP": "8"})

    assert words(script) == ["torchrun", "x.py", "--tp", "8"]
    assert [each.text for each in script.commands[-1].wrappers] == ["srun", "-N", "2"]


def test_a_supplied_script_that_is_called_is_read_with_its_arguments() -> None:
    inner = "TP=$1\npython x.py --tp $TP\n"

    assert last("bash inner/run.sh 8", files={"inner/run.sh": inner})[-1] == "8"
    assert last("./run.sh 4", files={"inner/run.sh": inner})[-1] == "4"
    assert last("srun -N 2 bash run.sh 2", files={"run.sh": inner})[-1] == "2"
    assert read("srun bash run.sh 2").missing_files == {"run.sh": "line 1"}


def test_variables_of_another_shell_do_not_come_back() -> None:
    assert last("X=1\nbash -c 'X=2'\nrun $X") == ["run", "1"]
    assert last('X=1\neval "X=2"\nrun $X') == ["run", "2"]


def test_what_is_read_at_run_time_is_a_hole() -> None:
    script = read("read -r HOST\nmapfile LINES < file\nrun $HOST $LINES $RANDOM $0 ${V@Q}", env={"V": "1"})

    kinds = [script.holes.within(each.text)[0].kind for each in script.commands[-1].words[1:]]
    assert kinds == ["inert"] * 5


@pytest.mark.parametrize(
    "loop",
    [
        "while read line; do X=2; done < file",
        "for i in $(seq 4); do X=2; done",
        "for ((i=0; i<N; i++)); do X=2; done",
        "while [ $N -gt 0 ]; do X=2; done",
        "[ -f file ] && X=2",
        "[[ $N =~ ^a ]] || X=2",
        "(( N )) && X=2",
        "case $N in a) X=2;; esac",
        "test -d dir && X=2",
        "if [ -e dir ]; then X=2; else exit 0; fi\n[ -e dir ] && X=1",
    ],
)
def test_what_may_or_may_not_happen_leaves_both_values(loop: str) -> None:
    script = read(f"X=1\n{loop}\nrun $X")

    (hole,) = script.holes.within(script.commands[-1].words[1].text)
    assert sorted(hole.alternatives) == ["1", "2"]


def test_a_branch_that_ends_the_script_does_not_count() -> None:
    assert last("X=1\nif [ -d out ]; then X=2; exit 0; fi\nrun $X") == ["run", "1"]


def test_commands_in_an_undecided_branch_say_what_they_depend_on() -> None:
    script = read('if [ "$MODE" = train ]; then run --x; fi')

    assert script.commands[0].conditions == ("MODE",)


def test_a_batch_job_in_a_heredoc_is_read() -> None:
    assert last("TP=8\nsbatch <<EOT\n#SBATCH --nodes=4\nsrun python x.py --tp $TP\nEOT") == [
        "srun", "python", "x.py", "--tp", "8",
    ]  # fmt: skip


def test_a_comment_inside_a_continued_command_is_passed_over_with_a_warning() -> None:
    script = read("run --x 1 \\\n  # --y 2\n  --z 3")

    assert words(script) == ["run", "--x", "1", "--z", "3"]
    assert [each.code for each in script.diagnostics] == ["comment_in_command"]


def test_places_are_those_of_the_words() -> None:
    script = read("A=(\n  --x 1\n)\nB='--y'\nrun ${A[@]} $B --z")

    assert [each.where for each in script.commands[-1].words] == ["line 5", "line 2", "line 2", "line 4", "line 5"]


@pytest.mark.parametrize(
    "text",
    [
        "X=$(touch {file})",
        "X=`touch {file}`",
        "run <(touch {file})",
        "run >(touch {file})",
        'eval "touch {file}"',
        'eval "$(echo touch {file})"',
        "touch {file}",
        "bash -c 'touch {file}'",
        "echo hi > {file}",
        "cat <<EOF > {file}\nhi\nEOF",
        "trap 'touch {file}' EXIT",
        "f() {{ touch {file}; }}; f",
        "X=${{Y:-$(touch {file})}}",
        "(( $(touch {file}) ))",
        '[ -z "$(touch {file})" ]',
    ],
)  # fmt: skip
def test_nothing_is_executed(text: str, tmp_path: Path) -> None:
    file = tmp_path / "proof"

    read(text.format(file=file))

    assert not file.exists()


def test_a_substitution_is_an_unresolved_value_that_shows_its_text() -> None:
    script = read("GPUS=$(nvidia-smi -L | wc -l)\nrun --nproc_per_node $GPUS")

    (hole,) = script.holes.within(script.commands[-1].words[2].text)
    assert hole.kind == "inert"
    assert hole.name == "$(nvidia-smi -L | wc -l)"


def test_text_that_is_no_shell_is_reported_with_its_line() -> None:
    script = read("A=1\nif then fi (\nrun 1\n")

    assert "syntax" in {each.code for each in script.diagnostics}
