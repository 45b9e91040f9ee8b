"""The OpenAPI document: complete, and true of what the service does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.api.catalogue import KINDS
from service.api.schemas.examples import COMPARISONS, ESTIMATES, IMPORTS, OBSERVATIONS, PLANS, VERDICTS
from service.settings import Settings
from service.usecases.scopes import SCOPES

OPERATIONS = {
    "create_estimate": "POST /v1/estimates",
    "create_verdicts": "POST /v1/verdicts",
    "create_import": "POST /v1/imports",
    "create_plan": "POST /v1/plans",
    "list_plans": "GET /v1/plans",
    "get_plan": "GET /v1/plans/{plan_id}",
    "keep_plan": "PATCH /v1/plans/{plan_id}",
    "delete_plan": "DELETE /v1/plans/{plan_id}",
    "export_plan": "GET /v1/plans/{plan_id}/exports/{format}",
    "create_comparison": "POST /v1/comparisons",
    "list_comparisons": "GET /v1/comparisons",
    "get_comparison": "GET /v1/comparisons/{comparison_id}",
    "create_observation": "POST /v1/observations",
    "list_observations": "GET /v1/observations",
    "get_observation": "GET /v1/observations/{observation_id}",
    "delete_observation": "DELETE /v1/observations/{observation_id}",
    "list_calibrations": "GET /v1/calibrations",
    "get_operation": "GET /v1/operations/{operation_id}",
    "follow_operation": "GET /v1/operations/{operation_id}/events",
    "cancel_operation": "POST /v1/operations/{operation_id}/cancel",
    "list_devices": "GET /v1/devices",
    "get_device": "GET /v1/devices/{device_id}",
    "put_device": "PUT /v1/devices/{device_id}",
    "delete_device": "DELETE /v1/devices/{device_id}",
    "list_policies": "GET /v1/policies",
    "get_policy": "GET /v1/policies/{queue}",
    "put_policy": "PUT /v1/policies/{queue}",
    "delete_policy": "DELETE /v1/policies/{queue}",
    "list_refusals": "GET /v1/policies/{queue}/refusals",
    "get_policy_summary": "GET /v1/policies/{queue}/summary",
    "list_models": "GET /v1/models",
    "get_liveness": "GET /livez",
    "get_readiness": "GET /readyz",
    "get_metrics": "GET /metrics",
}
PUBLIC = {"get_liveness", "get_readiness", "get_metrics"}
WITH_BODY = {"400", "413", "415", "422"}
STATUSES = {
    "create_estimate": {"200", *WITH_BODY},
    "create_verdicts": {"200", *WITH_BODY},
    "create_import": {"200", *WITH_BODY},
    "create_plan": {"200", "201", "202", "409", "503", *WITH_BODY},
    "list_plans": {"200", "422", "503"},
    "get_plan": {"200", "304", "404", "422", "503"},
    "keep_plan": {"200", "404", "412", "503", *WITH_BODY},
    "delete_plan": {"204", "404", "412", "422", "503"},
    "export_plan": {"200", "404", "422", "503"},
    "create_comparison": {"200", "201", "404", "409", "503", *WITH_BODY},
    "list_comparisons": {"200", "422", "503"},
    "get_comparison": {"200", "304", "404", "422", "503"},
    "create_observation": {"200", "201", "404", "409", "503", *WITH_BODY},
    "list_observations": {"200", "422", "503"},
    "get_observation": {"200", "304", "404", "422", "503"},
    "delete_observation": {"204", "404", "412", "422", "503"},
    "list_calibrations": {"200", "422", "503"},
    "get_operation": {"200", "404", "503"},
    "follow_operation": {"200", "204", "404", "422", "503"},
    "cancel_operation": {"200", "404", "409", "503"},
    "list_devices": {"200", "304", "422"},
    "get_device": {"200", "304", "404", "422"},
    "put_device": {"200", "201", "409", "412", "503", *WITH_BODY},
    "delete_device": {"204", "404", "409", "412", "422", "503"},
    "list_policies": {"200"},
    "get_policy": {"200", "304", "404", "422"},
    "put_policy": {"200", "201", "409", "412", "503", *WITH_BODY},
    "delete_policy": {"204", "404", "412", "422", "503"},
    "list_refusals": {"200", "422", "503"},
    "get_policy_summary": {"200", "422", "503"},
    "list_models": {"200", "304", "422"},
    "get_liveness": {"200"},
    "get_readiness": {"200", "503"},
    "get_metrics": {"200"},
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("openapi") / "memplan.db"
    return create_app(Settings(database_url=f"sqlite:///{path}")).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def properties(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in document["components"]["schemas"].items():
        for key, field in schema.get("properties", {}).items():
            yield f"{name}.{key}", field


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for each in node.values():
            yield from references(each)
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


def is_object(field: dict[str, Any]) -> bool:
    """Whether a field holds objects, whose own fields have the examples."""
    forms = [field, field.get("items", {}), *field.get("anyOf", [])]
    return any("$ref" in each or "$ref" in each.get("items", {}) for each in forms)


def test_it_says_what_and_whose_it_is(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    info = document["info"]
    assert info["title"] == "memplan"
    assert info["version"]
    assert info["license"]["identifier"] == "Apache-2.0"
    assert document["servers"] == [{"url": "/", "description": "This service"}]


def test_every_operation_is_named_after_its_function(document: dict[str, Any]) -> None:
    assert {operation["operationId"]: route for route, operation in operations(document)} == OPERATIONS


def test_every_operation_has_a_tag_a_summary_and_a_description(document: dict[str, Any]) -> None:
    tags = {each["name"] for each in document["tags"]}
    for route, operation in operations(document):
        assert set(operation["tags"]) <= tags, route
        assert operation["summary"], route
        assert operation["description"], route


def test_every_operation_documents_its_answers_and_every_error_is_a_problem(document: dict[str, Any]) -> None:
    for _, operation in operations(document):
        answers = operation["responses"]
        refusals = {"401", "403", "429", "503"} if operation["security"] else set()
        assert answers.keys() == {*STATUSES[operation["operationId"]], *refusals, "500", "default"}
        for status, answer in answers.items():
            if status[0] in "45d":
                assert answer["content"].keys() == {"application/problem+json"}
            assert answer["description"]
            assert "X-Request-Id" in answer["headers"]
        if "503" in answers:
            assert "Retry-After" in answers["503"]["headers"]
        if operation["security"]:
            assert "Retry-After" in answers["429"]["headers"]
            assert "WWW-Authenticate" in answers["401"]["headers"]
            assert "`rate_limited`" in answers["429"]["description"]


def test_every_operation_says_which_scope_it_needs_or_is_public(document: dict[str, Any]) -> None:
    scheme = document["components"]["securitySchemes"]["bearer"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    public = set()
    for _, operation in operations(document):
        match operation.get("security"):
            case [{"bearer": [scope]}, {}]:
                assert scope in SCOPES
            case []:
                public.add(operation["operationId"])
            case other:
                raise AssertionError(other)
    assert public == PUBLIC


def test_where_tokens_are_needed_no_operation_goes_without(tmp_path: Path) -> None:
    guarded = create_app(Settings(database_url=f"sqlite:///{tmp_path}/memplan.db", access="tokens")).openapi()
    needs = {
        operation["operationId"] for _, operation in operations(guarded) if len(operation.get("security", ())) == 1
    }
    assert needs == OPERATIONS.keys() - PUBLIC


def test_it_uses_no_word_of_a_later_openapi(document: dict[str, Any]) -> None:
    stream = document["paths"]["/v1/operations/{operation_id}/events"]["get"]["responses"]["200"]["content"]
    assert stream == {"text/event-stream": {"schema": {}}}


def test_every_code_of_a_problem_is_listed(document: dict[str, Any]) -> None:
    assert {each["code"] for each in document["x-problems"]} == {each.code for each in KINDS}


def test_nothing_is_left_of_the_frameworks_own_errors(document: dict[str, Any]) -> None:
    assert "ValidationError" not in str(document)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) == known


def test_every_link_names_an_operation_and_one_of_its_parameters(document: dict[str, Any]) -> None:
    parameters = {
        each["operationId"]: {one["name"] for one in each["parameters"]}
        for _, each in operations(document)
        if "parameters" in each
    }
    links = [
        link
        for _, each in operations(document)
        for answer in each["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert links
    for link in links:
        assert link["parameters"].keys() <= parameters[link["operationId"]]


def test_every_field_says_what_it_is(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, field in properties(document):
        section = schemas.get(field.get("$ref", "").rpartition("/")[2], {})
        assert field.get("description") or section.get("description"), name


def test_every_field_has_an_example(document: dict[str, Any]) -> None:
    without = [name for name, field in properties(document) if not is_object(field) and not field.get("examples", [])]
    assert without == []


def test_sizes_are_64_bit_integers_and_say_their_unit(document: dict[str, Any]) -> None:
    sizes = [(name, field) for name, field in properties(document) if name.endswith("_bytes")]
    assert sizes
    for name, field in sizes:
        forms = [each for each in (field, *field.get("anyOf", [])) if each.get("type") == "integer"]
        assert [each["format"] for each in forms] == ["int64"], name
        assert "bytes" in field["description"], name


def test_every_parameter_says_what_it_is_and_has_an_example(document: dict[str, Any]) -> None:
    for route, operation in operations(document):
        for each in operation.get("parameters", []):
            assert each["description"], route
            assert "null" not in str(each["schema"]), route


@pytest.mark.parametrize(
    ("path", "examples"),
    [
        ("/v1/estimates", ESTIMATES),
        ("/v1/verdicts", VERDICTS),
        ("/v1/comparisons", COMPARISONS),
        ("/v1/observations", OBSERVATIONS),
        ("/v1/imports", IMPORTS),
        ("/v1/plans", PLANS),
    ],
)
def test_every_example_works_as_pasted(
    api: TestClient, document: dict[str, Any], path: str, examples: dict[str, Any]
) -> None:
    shown = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
    assert shown.keys() == examples.keys()
    for each in shown.values():
        answer = api.post(path, json=each["value"])
        assert answer.status_code in {200, 201}, answer.text
        assert answer.json().get("verdict", "fits") == "fits"


def test_it_is_served(api: TestClient, document: dict[str, Any]) -> None:
    assert api.get("/openapi.json").json() == document
