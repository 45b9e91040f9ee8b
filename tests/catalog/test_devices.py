import json
import re
from pathlib import Path

import pytest

from service.catalog.devices import Device, UnknownDevice, find_device, load_devices

MIB = 1 << 20
GIB = 1 << 30
DATA = Path(__file__).parents[1] / "data"
DEVICES = list(load_devices().values())
WIRE_NAMES = """
    v100-sxm-32gb a100-sxm-40gb a100-sxm-80gb a100-pcie-80gb a800-sxm-80gb h100-sxm-80gb h100-sxm-96gb h100-pcie-80gb
    h100-nvl-94gb h800-sxm-80gb h20-96gb h200-sxm-141gb b200-sxm-180gb b300-sxm-288gb gb200-nvl72 gb300-nvl72 l40s l4
    a10g t4-16gb rtx-3090 rtx-4090 rtx-5090 rtx-6000-ada rtx-pro-6000-blackwell mi250x mi300x mi325x mi355x
    intel-max-1550-tile gaudi2 gaudi3 tpu-v4 tpu-v5e tpu-v5p tpu-v6e
"""


def test_ids_are_the_wire_names() -> None:
    assert set(load_devices()) == set(WIRE_NAMES.split())
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", device.id) for device in DEVICES)


def test_every_device_of_the_measured_runs_is_in_the_catalogue() -> None:
    lines = [line for file in DATA.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    named = {device for line in lines if (device := json.loads(line).get("device")) is not None}
    assert named
    assert named <= set(load_devices())


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_memory_is_positive_and_ordered(device: Device) -> None:
    assert device.marketing_gb > 0
    ordered = [device.usable_bytes, device.usable_max_bytes, device.total_bytes]
    known = [each for each in ordered if each is not None]
    assert known
    assert known[0] > 0
    assert known == sorted(known)
    assert (device.usable_bytes is None) == (device.usable_max_bytes is None)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_memory_is_near_what_is_sold(device: Device) -> None:
    for known in (device.usable_bytes, device.total_bytes):
        # Sold in rounded GB or GiB, whichever the vendor prefers.
        assert known is None or 0.9 * device.marketing_gb * 10**9 < known < (device.marketing_gb + 1) * GIB


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_rates_are_positive_and_no_measurement_passes_its_peak(device: Device) -> None:
    links = (device.link_bytes_per_second, device.peer_bytes_per_second, device.network_bytes_per_second)
    rates = [device.hbm_bytes_per_second, *device.peak_flops.values(), *(each for each in links if each is not None)]
    assert min(rates) > 0
    assert device.peak_flops
    for dtype in device.achieved_flops:
        fraction = device.achieved_fraction(dtype)
        assert fraction is not None
        assert 0.4 < fraction < 1


def test_collectives_stay_below_the_link_unless_the_switch_reduces() -> None:
    measured = [(device, each) for device in DEVICES for each in device.collectives]
    assert {device.id for device, _ in measured} >= {"a100-sxm-80gb", "v100-sxm-32gb", "b200-sxm-180gb"}
    for device, collective in measured:
        assert device.link_bytes_per_second is not None
        assert 2 <= collective.gpus <= device.nvlink_domain
        assert collective.algorithm == "nvls" or collective.bytes_per_second < device.link_bytes_per_second


def test_only_devices_without_a_seen_figure_lack_usable_memory() -> None:
    assert {device.id for device in DEVICES if device.usable_bytes is None} == {"gaudi2", "gaudi3"}


@pytest.mark.parametrize(
    ("name", "listed_mib"),
    [  # memory.total of nvidia-smi, as quoted in public repositories
        ("h100-sxm-80gb", 81559),
        ("h100-nvl-94gb", 95830),
        ("a100-sxm-80gb", 81920),
        ("a100-sxm-40gb", 40960),
        ("h200-sxm-141gb", 143771),
        ("b200-sxm-180gb", 183359),
        ("l40s", 46068),
        ("t4-16gb", 15360),
    ],
)
def test_total_memory_is_what_the_driver_lists(name: str, listed_mib: int) -> None:
    assert load_devices()[name].total_bytes == listed_mib * MIB


@pytest.mark.parametrize(
    ("name", "least_gib", "most_gib"),
    [  # totals in public out-of-memory messages
        ("h100-sxm-80gb", 79.10, 79.25),
        ("a100-sxm-80gb", 79.14, 79.25),
        ("h200-sxm-141gb", 139.72, 139.81),
        ("b200-sxm-180gb", 178.35, 178.36),
        ("mi300x", 191.69, 191.98),
        ("mi250x", 63.98, 63.98),
    ],
)
def test_usable_memory_is_the_least_that_a_process_saw(name: str, least_gib: float, most_gib: float) -> None:
    device = load_devices()[name]
    assert device.usable_bytes == pytest.approx(least_gib * GIB, abs=1)
    assert device.usable_max_bytes == pytest.approx(most_gib * GIB, abs=1)


def test_a_grace_host_has_four_gpus_of_a_domain_of_72() -> None:
    device = load_devices()["gb200-nvl72"]
    assert (device.gpus_per_node, device.nvlink_domain) == (4, 72)


def test_a_mesh_gives_two_gpus_one_link() -> None:
    device = load_devices()["mi300x"]
    assert device.link_bytes_per_second == 448e9
    assert device.peer_bytes_per_second == 64e9


def test_the_best_matmul_of_an_h100_reaches_four_fifths_of_its_peak() -> None:
    device = load_devices()["h100-sxm-80gb"]
    assert device.achieved_fraction("bf16") == pytest.approx(0.803, abs=0.001)
    assert device.achieved_fraction("fp16") is None


def test_gathering_falls_faster_than_reducing_over_many_nodes() -> None:
    curves = {curve.operation: curve for curve in load_devices()["h100-sxm-80gb"].node_curves}
    reduce, gather = curves["all_reduce"], curves["all_gather"]
    assert reduce.nodes == gather.nodes == (1, 2, 4, 8, 16, 32, 64)
    assert (reduce.bytes_per_second[-1], gather.bytes_per_second[-1]) == (33e9, 11e9)


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("h100-sxm-80gb", "h100-sxm-80gb"),
        ("h100", "h100-sxm-80gb"),
        ("a100-80gb", "a100-sxm-80gb"),
        ("A100_SXM4_80GB", "a100-sxm-80gb"),
        ("NVIDIA-H100-80GB-HBM3", "h100-sxm-80gb"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"),
        ("Tesla-T4", "t4-16gb"),
    ],
)
def test_aliases_and_product_labels_lead_to_an_id(name: str, device: str) -> None:
    assert find_device(name).id == device


def test_a_name_that_two_devices_share_is_refused_with_both() -> None:
    with pytest.raises(UnknownDevice, match=r"device 'A100' is ambiguous: a100-sxm-40gb or a100-sxm-80gb") as caught:
        find_device("A100")
    assert caught.value.matches == ("a100-sxm-40gb", "a100-sxm-80gb")


def test_an_unknown_device_is_answered_with_close_ones() -> None:
    with pytest.raises(UnknownDevice, match="no device is called 'h100-sxm-80g'") as caught:
        find_device("h100-sxm-80g")
    assert caught.value.matches[0] == "h100-sxm-80gb"


def test_a_name_like_no_other_has_no_matches() -> None:
    with pytest.raises(UnknownDevice) as caught:
        find_device("abacus")
    assert caught.value.matches == ()
    assert str(caught.value) == "no device is called 'abacus'"


def test_no_alias_hides_behind_the_id_of_another_device() -> None:
    for device in DEVICES:
        assert not set(device.aliases) & (set(load_devices()) - {device.id})


def test_a_device_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        find_device("h100").peak_flops["bf16"] = 1.0  # type: ignore[index]
