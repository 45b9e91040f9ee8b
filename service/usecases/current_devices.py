"""The devices as of now: the catalogue, with what an operator has stored over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pydantic import ValidationError

from service.catalog.definitions import (
    Definition,
    InvalidDefinition,
    check_names,
    definition_of,
    devices_with,
    document_of,
)
from service.catalog.devices import Device, Devices, UnknownDevice, built_in
from service.logs import logger
from service.store.definitions import StoredDefinition
from service.store.errors import NotFound
from service.store.session import Store
from service.usecases.current import Current
from service.usecases.errors import NotRemovable, NotThisName

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device, and what an operator has said of it (None: nothing)."""

    device: Device
    stored: StoredDefinition | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All devices of a moment, and the stored definitions by id."""

    devices: Devices = field(default_factory=built_in)
    stored: Mapping[str, StoredDefinition] = field(default_factory=dict)

    def find(self, name: str) -> ListedDevice:
        """Return the device of an id, alias or scheduler label. Raises NotFound."""
        try:
            return self._listed(self.devices.find(name))
        except UnknownDevice:
            raise NotFound("device", name) from None

    def all(self) -> list[ListedDevice]:
        """Return every device: the catalogue's in its order, then the operator's."""
        return [self._listed(each) for each in self.devices]

    def _listed(self, device: Device) -> ListedDevice:
        return ListedDevice(device, self.stored.get(device.id))


Precondition = Callable[[ListedDevice | None], None]
"""What a caller demands of the device that is there before it is changed; raises where it is not so."""


class CurrentDevices:
    """The devices of this process, changed at once by its own requests and soon by those of other processes."""

    def __init__(self, store: Store) -> None:
        self._current = Current(store, "device", _listing)

    @property
    def listing(self) -> Listing:
        """The devices of this moment, and what is stored of them."""
        return self._current.listing

    @property
    def now(self) -> Devices:
        """The devices of this moment; an answer is computed with one such set from its first look to its last."""
        return self.listing.devices

    def refresh(self) -> None:
        """Look at what is stored; without a database the devices stay as they were."""
        self._current.refresh()

    def put(self, device_id: str, definition: Definition, expected: Precondition) -> tuple[ListedDevice, bool]:
        """Store what is said of a device; return it, and whether there was no such device before.

        Raises InvalidDefinition, NotThisName when the id is another device's name, TooManyDefinitions, and what
        `expected` raises.
        """
        with self._current.changing() as (session, stored):
            before = _listing(stored)
            found = _of(before, device_id)
            expected(found)
            _refuse_other_names(before.devices, device_id)
            check_names(devices_with({**_sound(stored), device_id: definition}), device_id, definition)
            self._current.put(session, stored, device_id, document_of(definition))
        return self.listing.find(device_id), found is None

    def remove(self, device_id: str, expected: Precondition) -> None:
        """Forget what is said of a device: the catalogue's own is then as it was, an operator's is gone.

        Raises NotFound, NotRemovable, and what `expected` raises.
        """
        with self._current.changing() as (session, stored):
            found = _of(_listing(stored), device_id)
            expected(found)
            if found is not None and found.stored is None:
                raise NotRemovable(_why_not(found.device))
            self._current.delete(session, device_id)


def _listing(stored: Mapping[str, StoredDefinition]) -> Listing:
    return Listing(devices_with(_sound(stored)), MappingProxyType(dict(stored)))


def _sound(stored: Mapping[str, StoredDefinition]) -> dict[str, Definition]:
    """What is stored, without what a newer catalogue has made impossible, which is logged."""
    sound: dict[str, Definition] = {}
    for name, each in stored.items():
        try:
            definition = definition_of(each.definition)
            devices_with({name: definition})
        except (InvalidDefinition, ValidationError) as error:
            _log.error("a stored device is left out", device=name, error=str(error))
        else:
            sound[name] = definition
    return sound


def _of(listing: Listing, device_id: str) -> ListedDevice | None:
    return next((each for each in listing.all() if each.device.id == device_id), None)


def _refuse_other_names(devices_now: Devices, device_id: str) -> None:
    try:
        found = devices_now.find(device_id)
    except UnknownDevice as error:
        if error.shared:
            raise NotThisName(f"{device_id} is a name of {' and '.join(error.matches)}") from None
        return
    if found.id != device_id:
        raise NotThisName(f"{device_id} is another name of {found.id}; put the definition there, or take another id")
    if found.slice_of is not None:
        raise NotThisName(f"{device_id} is a slice of {found.slice_of}; change the slices there")


def _why_not(device: Device) -> str:
    if device.slice_of is not None:
        return f"{device.id} is a slice of {device.slice_of}; change the slices there"
    return f"{device.id} is a device of the catalogue, and nothing is stored over it: there is nothing to take back"
