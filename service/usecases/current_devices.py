"""The devices as of now: the catalogue, with what an operator has stored over it."""

import threading
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
from service.catalog.devices import Device, Devices, UnknownDevice, built_in, load_devices
from service.logs import logger
from service.store import devices
from service.store.devices import StoredDevice
from service.store.errors import NotFound, StoreError
from service.store.session import ReadSession, Store, WriteSession
from service.usecases.errors import NotRemovable, NotThisName

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device, and what an operator has said of it (None: nothing)."""

    device: Device
    stored: StoredDevice | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All devices of a moment, and the stored definitions by id."""

    devices: Devices = field(default_factory=built_in)
    stored: Mapping[str, StoredDevice] = field(default_factory=dict)

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
        self._store = store
        self._turn = threading.Lock()
        self.listing = Listing()
        self.refresh()

    @property
    def now(self) -> Devices:
        """The devices of this moment; an answer is computed with one such set from its first look to its last."""
        return self.listing.devices

    def refresh(self) -> None:
        """Look at what is stored; without a database the devices stay as they were."""
        with self._turn:
            try:
                with self._store.read() as session:
                    self._take(_readable(session))
            except StoreError as error:
                _log.warning("devices could not be read", error=str(error))

    def put(self, device_id: str, definition: Definition, expected: Precondition) -> tuple[ListedDevice, bool]:
        """Store what is said of a device; return it, and whether nothing was said of it before.

        Raises InvalidDefinition, NotThisName when the id is another device's name, and what `expected` raises.
        """
        with self._turn, self._store.write() as session:
            stored = _locked(session)
            before = _listing(stored)
            expected(_of(before, device_id))
            _refuse_other_names(before.devices, device_id)
            others = {name: definition_of(each.definition) for name, each in stored.items() if name != device_id}
            changed = devices_with({**others, device_id: definition})
            check_names(changed, device_id, definition)
            devices.put(session, device_id, document_of(definition))
        self.refresh()
        return self.listing.find(device_id), device_id not in stored and device_id not in load_devices()

    def remove(self, device_id: str, expected: Precondition) -> None:
        """Forget what is said of a device: the catalogue's own is then as it was, an operator's is gone.

        Raises NotFound, NotRemovable, and what `expected` raises.
        """
        with self._turn, self._store.write() as session:
            before = _listing(_locked(session))
            found = _of(before, device_id)
            expected(found)
            if found is not None and found.stored is None:
                raise NotRemovable(_why_not(found.device))
            devices.delete(session, device_id)
        self.refresh()

    def _take(self, stored: Mapping[str, StoredDevice]) -> None:
        if stored != self.listing.stored:
            self.listing = _listing(stored)


def _locked(session: WriteSession) -> dict[str, StoredDevice]:
    devices.lock(session)
    return _readable(session)


def _readable(session: ReadSession | WriteSession) -> dict[str, StoredDevice]:
    return {each.id: each for each in devices.list_all(session)}


def _listing(stored: Mapping[str, StoredDevice]) -> Listing:
    """The devices with what is stored over them; what a newer catalogue has made impossible is left out and logged."""
    sound: dict[str, Definition] = {}
    for name, each in stored.items():
        try:
            definition = definition_of(each.definition)
            devices_with({name: definition})
        except (InvalidDefinition, ValidationError) as error:
            _log.error("a stored device is left out", device=name, error=str(error))
        else:
            sound[name] = definition
    return Listing(devices_with(sound), MappingProxyType(dict(stored)))


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
