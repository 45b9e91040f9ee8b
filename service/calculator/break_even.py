"""How unevenly tokens may be routed before the fullest rank runs out of memory (memory_model.md, section 3.3)."""

from copy import copy

from service.calculator.layout import Layout
from service.calculator.ledgers import Ledgers
from service.calculator.model import Model, Moe
from service.calculator.routing import PERMILLE, reachable_imbalance


def break_even_imbalance(model: Model, layout: Layout, usable_bytes: int, ledgers: Ledgers) -> float | None:
    """The rows of the fullest rank, in shares of a balanced one, at which the peak stage just fills the usable bytes.

    None where routing cannot fill the memory (no experts, one rank, padded to a capacity, or room for the worst that
    routing can do), and where balanced routing overfills it.
    """
    experts = [kind.mlp for kind in model.kinds if isinstance(kind.mlp, Moe)]
    most = max((int(reachable_imbalance(each, layout)) for each in experts), default=PERMILLE)
    if most <= PERMILLE or layout.routing.padded or not usable_bytes:
        return None
    return _search(most, _Room(ledgers, usable_bytes))


class _Room:
    """How much memory is left on the fullest of some pipeline ranks, by the share of rows in thousandths."""

    def __init__(self, ledgers: Ledgers, usable_bytes: int) -> None:
        self._ledgers, self._usable_bytes = copy(ledgers), usable_bytes
        self._ranks = ledgers.worst_ranks()

    def at(self, share: int) -> int:
        """Bytes that are left, negative where they do not suffice; then only ranks short of them are asked on.

        The peak never falls as rows are added, so a rank with room at one share has it at every lesser one.
        """
        self._ledgers.route(share)
        left = {rank: self._usable_bytes - int(self._ledgers.of(rank).peak) for rank in self._ranks}
        least = min(left.values())
        if least < 0:
            self._ranks = [rank for rank, each in left.items() if each < 0]
        return least


def _search(most: int, room: _Room) -> float | None:
    """The largest share that leaves room, by interpolation.

    The peak is nearly linear in the rows, with bends where another moment takes over. A side that stays while the other
    moves twice weighs half as much (the Illinois method), so that a bend does not slow the search down.
    """
    low, high = PERMILLE, most
    short = -room.at(high)
    if short <= 0:
        return None
    left = room.at(low)
    if left < 0:
        return None
    moved_low = None
    while high - low > 1:
        share = low + min(max((high - low) * left // (left + short), 1), high - low - 1)
        found = room.at(share)
        fits = found >= 0
        if fits:
            low, left = share, found
            short = short // 2 if moved_low else short
        else:
            high, short = share, -found
            left = left // 2 if moved_low is False else left
        moved_low = fits
    return low / PERMILLE
