"""Every error is a problem (RFC 9457) that says which field, what was found, and what would do: all at once."""

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.calculator import limits
from tests.api.questions import DEVICE, estimate, job, open_job, plan, script
from tests.api.test_openapi import OPERATIONS, STATUSES, WITH_BODY

WITH_A_BODY = sorted(each for each, statuses in STATUSES.items() if statuses >= WITH_BODY)
MEDIA_TYPE = "application/problem+json"


def problem(api: TestClient, status: int, method: str, path: str, **sent: Any) -> dict[str, Any]:
    """Send a request that must end in a problem of this status, and return the problem."""
    response = api.request(method, path, **sent)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    found: dict[str, Any] = response.json()
    assert {"type", "title", "status", "detail", "instance", "code", "request_id", "errors"} <= found.keys()
    assert found["status"] == status
    assert found["type"] == f"/docs/errors#{found['code']}"
    assert found["request_id"] == response.headers["x-request-id"]
    assert found["detail"]
    for each in found["errors"]:
        assert each["message"]
        assert each["fix"]
    return found


def refused(api: TestClient, question: Any, path: str = "/v1/estimates") -> dict[str, dict[str, Any]]:
    """Send a body that must be refused with 422, and return its errors by pointer."""
    return {each["pointer"]: each for each in problem(api, 422, "POST", path, json=question)["errors"]}


def send(api: TestClient, status: int, content: bytes, media_type: str | None = "application/json") -> dict[str, Any]:
    headers = {"content-type": media_type} if media_type else {}
    return problem(api, status, "POST", "/v1/estimates", content=content, headers=headers)


class TestRequest:
    """What is wrong before the body is looked at."""

    @pytest.mark.parametrize("path", ["/", "/nowhere", "/v1", "/v1/estimate", "/docs/assets/nothing.js"])
    def test_an_unknown_path(self, api: TestClient, path: str) -> None:
        assert problem(api, 404, "GET", path)["code"] == "not_found"

    @pytest.mark.parametrize(("method", "path"), [("GET", "/v1/estimates"), ("PUT", "/v1/plans"), ("POST", "/livez")])
    def test_a_wrong_method_says_which_are_taken(self, api: TestClient, method: str, path: str) -> None:
        assert problem(api, 405, method, path)["code"] == "method_not_allowed"
        assert api.request(method, path).headers["allow"]

    def test_of_all_routes_with_the_path(self, api: TestClient) -> None:
        assert api.put("/v1/plans").headers["allow"] == "GET, POST"
        assert api.post("/v1/plans/pln_0").headers["allow"] == "DELETE, GET, PATCH"

    @pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "nonsense", None])
    def test_another_media_type(self, api: TestClient, media_type: str | None) -> None:
        found = send(api, 415, json.dumps(estimate()).encode(), media_type)
        assert found["code"] == "unsupported_media_type"
        assert "application/json" in found["detail"]

    @pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "application/vnd.memplan+json"])
    def test_json_by_another_name_is_json(self, api: TestClient, media_type: str) -> None:
        sent = api.post("/v1/estimates", content=json.dumps(estimate()), headers={"content-type": media_type})
        assert sent.status_code == 200

    def test_a_body_of_six_mebibytes(self, api: TestClient) -> None:
        body = json.dumps({"source": {"text": "x" * (6 << 20)}, "device": DEVICE}).encode()
        assert send(api, 413, body)["code"] == "body_too_large"

    def test_a_body_of_six_mebibytes_whose_length_is_not_declared(self, api: TestClient) -> None:
        chunks = (b"[" * (1 << 20) for _ in range(6))
        found = problem(api, 413, "POST", "/v1/imports", content=chunks, headers={"content-type": "application/json"})
        assert found["code"] == "body_too_large"

    def test_a_body_up_to_the_limit_is_read(self, api: TestClient) -> None:
        body = json.dumps({"source": {"text": "#" * (4 << 20)}}).encode()
        assert api.post("/v1/imports", content=body, headers={"content-type": "application/json"}).status_code == 200


class TestEveryBody:
    """No route that takes a body takes any body."""

    @pytest.mark.parametrize("operation", WITH_A_BODY)
    def test_it_is_bounded_declared_and_json(self, api: TestClient, operation: str) -> None:
        method, template = OPERATIONS[operation].split()
        path = re.sub(r"{\w+}", "none", template)
        declared = {"content-type": "application/json"}
        for status, content, headers in (
            (413, b" " * (6 << 20), declared),
            (400, b"[" * 1000, declared),
            (400, b"{", declared),
            (415, b"{}", {"content-type": "text/plain"}),
            (422, b"[]", declared),
        ):
            problem(api, status, method, path, content=content, headers=headers)


class TestJson:
    """What is wrong with a body as a text."""

    @pytest.mark.parametrize(
        "body",
        [
            b"{",
            b'{"job": }',
            b"{} {}",
            b"\xef\xbb\xbf{}",
            b'{"device": NaN}',
            b'{"device": "\xff"}',
            b'{"a": "\\ud800"}',
        ],
    )
    def test_what_is_not_json(self, api: TestClient, body: bytes) -> None:
        found = send(api, 400, body)
        assert found["code"] == "malformed_json"
        assert "line 1 column" in found["detail"]

    @pytest.mark.parametrize("bomb", [b"[" * 4_000_000, b'{"a":' * 800_000, b"[" * 1000 + b"]" * 1000])
    def test_a_nesting_bomb(self, api: TestClient, bomb: bytes) -> None:
        assert send(api, 400, bomb)["code"] == "json_too_deep"

    def test_an_integer_of_five_thousand_digits(self, api: TestClient) -> None:
        assert send(api, 400, b'{"device": 1' + b"0" * 5000 + b"}")["code"] == "malformed_json"

    @pytest.mark.parametrize("body", [[], "job", 7, True])
    def test_json_that_is_no_object(self, api: TestClient, body: Any) -> None:
        assert refused(api, body)[""]["message"]

    def test_no_body_at_all(self, api: TestClient) -> None:
        assert problem(api, 422, "POST", "/v1/estimates")["errors"][0]["fix"] == "send one JSON object"


class TestForm:
    """What is wrong with a body as a document."""

    def test_all_problems_come_at_once_each_with_its_place_and_fix(self, api: TestClient) -> None:
        question = estimate(
            world_size="sixty-four",
            model={"preset": "llama-3-8b", "hiden_size": 4096},
            parallelism={"tensor": 0, "pipeline": 2.5},
            kernels={"attention": "flsh"},
        )
        question["devise"] = question.pop("device")
        errors = refused(api, question)
        assert errors.keys() == {
            *("/device", "/devise", "/job/world_size", "/job/model/hiden_size"),
            *("/job/parallelism/tensor", "/job/parallelism/pipeline", "/job/kernels/attention"),
        }
        assert errors["/job/world_size"]["code"] == "wrong_type"
        assert "sixty-four" in errors["/job/world_size"]["message"]
        assert errors["/job/model/hiden_size"]["fix"] == "did you mean `hidden_size`?"
        assert errors["/job/parallelism/tensor"]["code"] == "out_of_range"
        assert errors["/job/kernels/attention"]["fix"] == 'did you mean "flash"?'
        assert errors["/device"]["code"] == "missing_key"
        assert errors["/devise"]["fix"] == "did you mean `device`?"

    def test_an_unknown_key_that_is_like_none_is_told_which_keys_there_are(self, api: TestClient) -> None:
        fix = refused(api, estimate(dropout={"xyzzy": 1}))["/job/dropout/xyzzy"]["fix"]
        assert "hidden" in fix
        assert "attention" in fix

    def test_a_key_one_level_too_high_is_told_its_section(self, api: TestClient) -> None:
        assert refused(api, estimate(tensor=8))["/job/tensor"]["fix"] == "did you mean `parallelism.tensor`?"

    def test_a_key_with_a_slash_is_escaped_in_its_pointer(self, api: TestClient) -> None:
        assert refused(api, estimate(**{"a/b~c": 1})).keys() == {"/job/a~1b~0c"}

    def test_a_union_says_all_that_would_do_at_one_place(self, api: TestClient) -> None:
        errors = refused(api, estimate(optimizer={"offload": "moon"}))
        assert errors.keys() == {"/job/optimizer/offload"}
        assert "'cpu'" in errors["/job/optimizer/offload"]["message"]

    @pytest.mark.parametrize("path", ["/v1/estimates", "/v1/plans"])
    @pytest.mark.parametrize("given", [{}, {"job": job(), "source": {"text": ""}}])
    def test_exactly_one_of_job_and_source(self, api: TestClient, path: str, given: dict[str, Any]) -> None:
        error = refused(api, {**given, "device": DEVICE}, path)[""]
        assert error["code"] == "job_or_source"
        assert "`job`" in error["fix"]
        assert "`source`" in error["fix"]

    def test_very_many_problems_are_cut_short(self, api: TestClient) -> None:
        question = estimate(model={"layer_types": [7] * 5000})
        assert len(problem(api, 422, "POST", "/v1/estimates", json=question)["errors"]) == 100

    @pytest.mark.parametrize(
        ("section", "key", "bound"),
        [
            ("model", "hidden_size", limits.WIDTH),
            ("model", "num_hidden_layers", limits.LAYERS),
            ("model", "vocab_size", limits.VOCABULARY),
            ("batch", "sequence_length", limits.SEQUENCE),
            ("batch", "micro", limits.MICRO_BATCH),
            ("parallelism", "pipeline", limits.WORLD_SIZE),
        ],
    )
    def test_a_dimension_beyond_its_limit(self, api: TestClient, section: str, key: str, bound: int) -> None:
        error = refused(api, estimate(**{section: {key: bound + 1}}))[f"/job/{section}/{key}"]
        assert error["code"] == "out_of_range"
        assert str(bound) in error["message"]

    @pytest.mark.parametrize(
        ("section", "pointer"),
        [
            ({"dropout": {"hidden": True}}, "/job/dropout/hidden"),
            ({"dropout": {"attention": "0.1"}}, "/job/dropout/attention"),
            ({"model": {"moe_layer_pattern": [False]}}, "/job/model/moe_layer_pattern/0"),
        ],
    )
    def test_a_number_is_neither_a_truth_nor_a_text(self, api: TestClient, section: Any, pointer: str) -> None:
        assert pointer in refused(api, estimate(**section))

    def test_numbers_beyond_64_bits_are_refused_not_wrapped(self, api: TestClient) -> None:
        assert refused(api, estimate(world_size=2**64 + 64)).keys() == {"/job/world_size"}

    def test_an_unknown_query_parameter(self, api: TestClient) -> None:
        (error,) = problem(api, 422, "GET", "/v1/plans?modle=llama-3-8b")["errors"]
        assert (error["location"], error["pointer"]) == ("query", "/modle")
        assert error["fix"] == "did you mean `model`?"

    @pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=many", "verdict=maybe", "label=x", "model=%00"])
    def test_a_wrong_query_parameter(self, api: TestClient, query: str) -> None:
        (error,) = problem(api, 422, "GET", f"/v1/plans?{query}")["errors"]
        assert error["pointer"].startswith(f"/{query.partition('=')[0]}")

    @pytest.mark.parametrize(
        ("query", "headers", "message"),
        [
            ("?timeout=soon", {}, 'should be a duration, as in 2s, 500ms or 1.5; found "soon"'),
            ("", {"X-Deadline-Ms": "-1"}, 'should be greater than or equal to 0; found "-1"'),
        ],
    )
    def test_a_wrong_value_is_not_told_that_none_would_do(
        self, api: TestClient, query: str, headers: dict[str, str], message: str
    ) -> None:
        (fault,) = api.post(f"/v1/verdicts{query}", json={"items": []}, headers=headers).json()["errors"][:1]
        assert fault["message"] == message

    def test_a_list_that_is_too_long_is_told_how_long_it_may_be(self, api: TestClient) -> None:
        items = [{"job": job(), "targets": [{"device": DEVICE}]}] * 101
        (fault,) = api.post("/v1/verdicts", json={"items": items}).json()["errors"]
        assert fault["message"].startswith("List should have at most 100 items, not 101; found")

    def test_a_cursor_of_another_making(self, api: TestClient) -> None:
        assert problem(api, 422, "GET", "/v1/plans?cursor=abc")["code"] == "invalid_cursor"


class TestJob:
    """What is wrong with a job."""

    def test_rules_of_the_framework_come_all_at_once_with_fixes(self, api: TestClient) -> None:
        question = estimate(parallelism={"tensor": 7, "pipeline": 3})
        found = problem(api, 422, "POST", "/v1/estimates", json=question)
        assert found["code"] == "invalid_job"
        errors = {each["code"]: each for each in found["errors"]}
        assert {"world_size_not_divisible", "heads_tp", "layers_not_divisible"} <= errors.keys()
        heads = errors["heads_tp"]
        assert {"/model/num_attention_heads", "/parallelism/tensor"} <= set(heads["fields"])
        assert heads["pointer"].startswith("/job/")
        assert heads["found"]
        assert heads["rule"]
        assert heads["fixes"]

    def test_missing_facts_are_named_together_with_broken_rules(self, api: TestClient) -> None:
        question = {"job": open_job(parallelism={"tensor": 7}), "device": DEVICE}
        found = problem(api, 422, "POST", "/v1/estimates", json=question)
        assert found["code"] == "invalid_job"
        assert {each["fact"] for each in found["missing"]} == {"micro", "world_size"}
        assert "heads_tp" in {each["code"] for each in found["errors"]}

    def test_an_incomplete_job_names_what_is_missing(self, api: TestClient) -> None:
        found = problem(api, 422, "POST", "/v1/estimates", json={"job": open_job(), "device": DEVICE})
        assert found["code"] == "incomplete_job"
        assert [each["fact"] for each in found["missing"]] == ["micro", "world_size"]
        assert len(found["errors"]) == 2

    def test_an_unresolved_variable_of_a_script_is_a_missing_fact(self, api: TestClient) -> None:
        text = script()["text"].replace("NNODES=${NNODES:-8}\n", "")
        found = problem(api, 422, "POST", "/v1/estimates", json={"source": {"text": text}, "device": DEVICE})
        assert found["code"] == "incomplete_job"
        (missing,) = found["missing"]
        assert missing["fact"] in {"NNODES", "world_size"}
        assert "NNODES" in missing["message"]

    def test_a_text_in_no_known_format(self, api: TestClient) -> None:
        found = problem(api, 422, "POST", "/v1/estimates", json={"source": {"text": "Dear diary"}, "device": DEVICE})
        assert found["errors"][0]["code"] == "unknown_format"

    @pytest.mark.parametrize(("path", "pointer"), [("/v1/estimates", "/device"), ("/v1/plans", "/cluster/device")])
    def test_an_unknown_device_is_told_close_ones(self, api: TestClient, path: str, pointer: str) -> None:
        cluster = {"device": "h100-sxm-80", "world_size": 8}
        question = (
            {"job": open_job(), "cluster": cluster} if path == "/v1/plans" else {"job": job(), "device": "h100-sxm-80"}
        )
        found = problem(api, 422, "POST", path, json=question)
        assert found["code"] == "unknown_device"
        assert found["errors"][0]["pointer"] == pointer
        assert "h100-sxm-80gb" in found["errors"][0]["fix"]

    def test_an_unknown_preset_is_told_close_ones(self, api: TestClient) -> None:
        (error,) = refused(api, estimate(model={"preset": "llama-3-8"})).values()
        assert error["code"] == "unknown_model"
        assert "llama-3-8b" in error["fix"]

    def test_a_plan_needs_the_global_batch(self, api: TestClient) -> None:
        question = plan(job=open_job(batch={"global": None}))
        found = problem(api, 422, "POST", "/v1/plans", json=question)
        assert [each["fact"] for each in found["missing"]] == ["global"]

    def test_a_device_whose_links_are_not_known_cannot_be_planned_for(self, api: TestClient) -> None:
        question = plan(cluster={"device": "gaudi2"})
        assert problem(api, 422, "POST", "/v1/plans", json=question)["code"] == "incomplete_device"
