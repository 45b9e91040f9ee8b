"""Write src/memplan_client/codes.py: a class for every code that the OpenAPI document at sys.argv[1] lists."""

import json
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "memplan_client"
_STATUS = re.compile(r"^class (\w+)\(ProblemError, status=(\d+)\)", re.MULTILINE)
_CLASS = '''

class {name}({base}, code="{code}"):
    """{title}."""
'''


def classes(document: dict[str, list[dict[str, str]]], written_by_hand: str) -> str:
    """Return the module's text; a code that says no more than its status has the class of the status."""
    families = {status: name for name, status in _STATUS.findall(written_by_hand)}
    found: dict[str, str] = {}
    for each in document["x-problems"]:
        name = "".join(word.capitalize() for word in each["code"].split("_"))
        if name not in families.values():
            base = families.get(str(each["status"]), "ProblemError")
            found[name] = _CLASS.format(name=name, base=base, code=each["code"], title=each["title"])
    used = sorted({re.findall(r"\((\w+),", text)[0] for text in found.values()})
    head = '"""A class for each code of a problem; written by `make client`."""\n\n'
    imports = "from memplan_client.failures import (\n" + "".join(f"    {each},\n" for each in used) + ")\n"
    exported = "\n__all__ = [\n" + "".join(f'    "{each}",\n' for each in sorted(found)) + "]\n"
    return head + imports + exported + "".join(found[name] for name in sorted(found))


if __name__ == "__main__":
    text = classes(json.loads(Path(sys.argv[1]).read_text("utf-8")), (PACKAGE / "failures.py").read_text("utf-8"))
    (PACKAGE / "codes.py").write_text(text, "utf-8")
