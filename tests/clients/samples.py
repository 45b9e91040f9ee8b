"""clients/curl.md, made from the samples of the document. `python -m tests.clients.samples` writes it anew."""

from pathlib import Path

from service.api.app import create_app
from service.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "clients" / "curl.md"

_HEAD = """\
# memplan by curl

Every operation of the HTTP interface, as it is called from a shell. Each block works as pasted against a fresh service
at 127.0.0.1:8000 (`make serve`), and a test runs them all; `/docs` shows the same beside each route. A service that
asks for a token takes it with `-H "Authorization: Bearer $MEMPLAN_TOKEN"`. What is needed of curl is 7.84.

A file goes into the JSON field `source.text`, which any JSON tool can write:

```sh
python3 -c 'import json, sys; print(json.dumps({"items": [{
    "source": {"text": open(sys.argv[1]).read()}, "targets": [{"device": "h100-sxm-80gb"}]}]}))' \\
    docs/examples/llama-3-8b.sh |
  curl -sS http://127.0.0.1:8000/v1/verdicts -H 'Content-Type: application/json' -d @-
```
"""


def page() -> str:
    """The page as the document makes it now."""
    document = create_app(Settings()).openapi()
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [_HEAD]
    for tag in document["tags"]:
        parts.append(f"## {tag['description']}\n")
        for route, operation in operations:
            if operation["tags"] == [tag["name"]]:
                (sample,) = operation["x-codeSamples"]
                parts.append(f"`{route}`\n\n```sh\n{sample['source']}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
