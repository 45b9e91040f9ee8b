"""What the command understands; imports nothing that takes time."""

import argparse
import re
from importlib.metadata import version
from pathlib import Path

from service.usecases.scopes import SCOPES

DEFAULT_DEVICE = "h100-sxm-80gb"

_FILE = (
    "a launch script, batch script, config file or manifest of a known framework, or a job of memplan's own as JSON; "
    "- reads standard input"
)
_LONGEST_NAME = 100
EXPORT_FORMATS = ("megatron", "nemo", "deepspeed", "accelerate", "torchtitan", "torchtitan-cli", "torchtitan-registry",
                  "slurm")  # fmt: skip
_EPILOG = (
    "What follows -- are arguments that FILE is run with, as in: memplan estimate train.sh -- --micro-batch-size 1"
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; `module` of what it returns names the module that runs the command."""
    parser = argparse.ArgumentParser(
        prog="memplan", description="Plan the GPU memory of distributed training of large language models."
    )
    parser.add_argument("--version", action="version", version=f"memplan {version('memplan')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_estimate(commands)
    _add_verdict(commands)
    _add_plan(commands)
    _add_compare(commands)
    _add_import(commands)
    _add_export(commands)
    _add_observe(commands)
    _add_validate(commands)
    _add_validate_time(commands)
    _add_devices(commands)
    _add_serve(commands)
    _add_db(commands)
    _add_token(commands)
    _add_completion(commands)
    return parser


def _add_estimate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    estimate = commands.add_parser("estimate", help="how much memory a job takes, stage by stage", epilog=_EPILOG)
    _add_config(estimate)
    estimate.add_argument("--device", default=DEFAULT_DEVICE, metavar="ID", help="GPU (default: %(default)s)")
    estimate.add_argument("--world-size", type=int, metavar="N", help="GPUs of the job, where the file does not say")
    estimate.add_argument(
        "--lines", type=int, default=12, metavar="N", help="ledger lines shown (default: %(default)s)"
    )
    estimate.set_defaults(module="service.cli.estimate")


def _add_verdict(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    verdict = commands.add_parser(
        "verdict",
        help="whether a job fits, as an exit code",
        epilog=f"Exit codes: 0 fits, 1 does not fit, 2 wrongly asked, 3 unknown, 4 fits tightly. {_EPILOG}",
    )
    _add_config(verdict)
    verdict.add_argument("--device", default=DEFAULT_DEVICE, metavar="ID", help="GPU (default: %(default)s)")
    verdict.add_argument("--gpus", type=int, metavar="N", help="number of GPUs (default: what the file says)")
    verdict.add_argument(
        "--deadline",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds after which it is unknown (default: %(default)s)",
    )
    verdict.set_defaults(module="service.cli.verdict")


def _add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    compare = commands.add_parser("compare", help="jobs on GPUs, side by side")
    compare.add_argument("files", nargs="+", metavar="FILE", help=f"{_FILE}; with --server also the id of a plan")
    compare.add_argument(
        "--device", action="append", required=True, metavar="ID", help="GPU to compare them on; repeatable"
    )
    compare.add_argument("--gpus", type=int, metavar="N", help="number of GPUs (default: what each file says)")
    _add_environment(compare)
    compare.add_argument("--format", default="auto", help="what every FILE is (default: found out)")
    _add_answer(compare)
    compare.set_defaults(module="service.cli.compare")


def _add_devices(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    devices = commands.add_parser("devices", help="the GPUs that are known by name")
    _add_answer(devices)
    devices.set_defaults(module="service.cli.devices")


def _add_completion(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    completion = commands.add_parser("completion", help="a script that makes the shell complete this command")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell that reads the script")
    completion.set_defaults(module="service.cli.completion")


def _add_plan(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    plan = commands.add_parser("plan", help="which layouts of a job fit a cluster, fastest first", epilog=_EPILOG)
    _add_config(plan)
    plan.add_argument("--device", required=True, metavar="ID", help="GPU of the cluster")
    plan.add_argument("--gpus", required=True, type=int, metavar="N", help="GPUs of the cluster")
    plan.add_argument("--gpus-per-node", type=int, metavar="N", help="GPUs of one node (default: the device's)")
    plan.add_argument("--top", type=int, default=10, metavar="N", help="layouts shown (default: %(default)s)")
    plan.add_argument(
        "--keep", action="store_true", help="keep the layout that FILE states, and search only what it leaves open"
    )
    plan.add_argument(
        "--search",
        action="append",
        default=[],
        metavar="AXIS=V,V",
        help="values of an axis to try, or any, as in tensor=4,8 or cross_entropy=any; repeatable; the axes are those "
        "of POST /v1/plans",
    )
    plan.add_argument("--tensor-across-nodes", action="store_true", help="let tensor parallelism leave the node")
    plan.set_defaults(module="service.cli.plan")


def _add_import(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    reading = commands.add_parser("import", help="what is understood of a config, and where each value is from")
    _add_file(reading)
    reading.add_argument("--format", default="auto", help="what FILE is (default: found out)")
    _add_answer(reading)
    reading.add_argument("--world-size", type=int, metavar="N", help="GPUs of the job, where the file does not say")
    reading.set_defaults(module="service.cli.imports")


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    export = commands.add_parser("export", help="a job in a framework's own form", epilog=_EPILOG)
    export.add_argument("file", metavar="FILE", help=f"{_FILE}; with --server the id of a plan")
    _add_environment(export)
    _add_changes(export)
    export.add_argument("--from", dest="format", default="auto", help="what FILE is (default: found out)")
    export.add_argument("--format", dest="form", required=True, choices=EXPORT_FORMATS, help="form of the answer")
    export.add_argument("--changes", action="store_true", help="print only what --set changes, to be pasted")
    export.add_argument("--world-size", type=int, metavar="N", help="GPUs of the job, where the file does not say")
    export.add_argument("--gpus-per-node", type=int, default=8, metavar="N", help="(default: %(default)s)")
    export.add_argument("--device", metavar="ID", help="GPU that a batch job asks for")
    export.add_argument("--server", metavar="URL", help="the service that has the plan FILE")
    export.add_argument("--candidate", type=int, default=0, metavar="N", help="which layout of the plan (default: 0)")
    export.set_defaults(module="service.cli.exports", json=False)


def _add_observe(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    observe = commands.add_parser("observe", help="tell a service what a run measured, or that it ran out of memory")
    observe.add_argument("file", metavar="FILE", help=f"{_FILE}; or the id of a plan")
    _add_environment(observe)
    _add_changes(observe)
    observe.add_argument("--format", default="auto", help="what FILE is (default: found out)")
    observe.add_argument("--run-id", required=True, metavar="ID", help="name of the run, which has one observation")
    observe.add_argument("--device", metavar="ID", help="GPU that the run was on (default: the plan's)")
    observe.add_argument("--candidate", type=int, default=0, metavar="N", help="which layout of the plan (default: 0)")
    observe.add_argument(
        "--source",
        choices=("torch", "nvidia-smi", "scheduler"),
        default="scheduler",
        help="who measured (default: %(default)s)",
    )
    observe.add_argument("--stage", type=int, metavar="N", help="pipeline rank (default: the most of any)")
    for kind, meaning in (
        ("allocated", "torch.cuda.max_memory_allocated"),
        ("reserved", "torch.cuda.max_memory_reserved"),
        ("device", "what nvidia-smi shows"),
    ):
        observe.add_argument(f"--{kind}-bytes", type=int, metavar="N", help=f"peak of {meaning}")
    observe.add_argument(
        "--oom", action=argparse.BooleanOptionalAction, default=None, help="whether it ran out of GPU memory"
    )
    observe.add_argument("--step-seconds", type=float, metavar="S", help="time of an optimizer step")
    _add_answer(observe)
    observe.set_defaults(module="service.cli.observe")


def _add_validate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    validate = commands.add_parser("validate", help="how far predictions are from measured runs")
    validate.add_argument("file", metavar="FILE", help="measured runs, one JSON object a line; - reads standard input")
    validate.add_argument("--json", action="store_true", help="print rows and groups as one JSON document")
    validate.add_argument(
        "--by",
        choices=("family", "framework", "kind", "device", "grade", "source"),
        default="family",
        help="what rows are grouped by (default: %(default)s)",
    )
    validate.set_defaults(module="service.cli.validate")


def _add_validate_time(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    validate = commands.add_parser("validate-time", help="how far step times are from timed runs, and how they rank")
    validate.add_argument("file", metavar="FILE", help="timed runs, one JSON object a line; - reads standard input")
    validate.add_argument("--json", action="store_true", help="print rows and groups as one JSON document")
    validate.add_argument(
        "--by",
        choices=("family", "group", "framework", "device", "source"),
        default="family",
        help="what rows are grouped by (default: %(default)s)",
    )
    validate.add_argument(
        "--calibrate", type=int, metavar="K", help="say too how far predictions are after K measured steps of a family"
    )
    validate.set_defaults(module="service.cli.validate_time")


def _add_config(command: argparse.ArgumentParser) -> None:
    _add_file(command)
    _add_changes(command)
    command.add_argument("--format", default="auto", help="what FILE is (default: found out)")
    _add_answer(command)


def _add_answer(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print the answer of the HTTP interface")
    command.add_argument(
        "--server", metavar="URL", help="let a memplan service answer, with the token in MEMPLAN_TOKEN if there is one"
    )


def _add_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help=_FILE)
    _add_environment(command)


def _add_environment(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--env", action="append", default=[], metavar="K=V", help="an environment variable that FILE reads; repeatable"
    )
    command.add_argument(
        "--with",
        dest="beside",
        action="append",
        default=[],
        metavar="PATH",
        help="a further file that FILE names; repeatable",
    )


def _add_changes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a value of the job that FILE does not state, as in batch.micro=1; repeatable",
    )


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = commands.add_parser("serve", help="serve over HTTP; a missing SQLite database is created")
    serve.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: MEMPLAN_HOST or 127.0.0.1)")
    serve.add_argument("--port", type=int, metavar="N", help="port to listen on (default: MEMPLAN_PORT or 8000)")
    serve.add_argument(
        "--open",
        action="store_const",
        const="open",
        dest="access",
        help="let everybody ask; else only a loopback address is open, and others need tokens (MEMPLAN_ACCESS)",
    )
    serve.set_defaults(module="service.cli.serve")


def _add_db(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    database = commands.add_parser("db", help="look after the database")
    actions = database.add_subparsers(metavar="ACTION", required=True)
    upgrade = actions.add_parser("upgrade", help="create the database, or bring it up to date")
    upgrade.set_defaults(module="service.cli.database")
    backup = actions.add_parser("backup", help="copy a SQLite database, as of one moment, while it is served")
    backup.add_argument("file", type=Path, metavar="FILE", help="new file for the copy")
    backup.set_defaults(module="service.cli.backup")
    purge = actions.add_parser("purge", help="forget what is older than the settings keep it, at once")
    purge.set_defaults(module="service.cli.purge")


def _add_token(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    token = commands.add_parser("token", help="make, list and revoke tokens of the HTTP service, in its database")
    actions = token.add_subparsers(metavar="ACTION", required=True, dest="action")
    create = actions.add_parser("create", help="make a token and print it, this once")
    create.add_argument("name", type=_name, metavar="NAME", help="what it is for, as in slurm-prolog")
    create.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=SCOPES,
        help="what it may do; repeatable; admin may do everything",
    )
    create.add_argument(
        "--expires",
        type=_seconds,
        metavar="TIME",
        help="how long it is valid, as in 90d or 12h (default: until it is revoked)",
    )
    listing = actions.add_parser("list", help="every token: what it may do, its state, and when it was last used")
    revoke = actions.add_parser("revoke", help="end a token")
    revoke.add_argument("token", metavar="ID", help="its id, or its name when no other valid token has it")
    for action in (create, listing, revoke):
        action.add_argument("--json", action="store_true", help="print JSON")
        action.set_defaults(module="service.cli.tokens")


def _name(text: str) -> str:
    if not text.isprintable() or not 0 < len(text.strip()) <= _LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"a name has 1 to {_LONGEST_NAME} printable characters")
    return text.strip()


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,4})(d|h)", text, re.ASCII)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write days or hours, as in 90d or 12h")
    return int(found[1]) * (86_400 if found[2] == "d" else 3_600)
