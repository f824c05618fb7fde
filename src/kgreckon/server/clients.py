"""Who a client is: the address that a connection comes from, or the one that a trusted proxy names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from kgreckon.errors import UserError


@dataclass(frozen=True)
class Proxies:
    """The addresses of proxies that are trusted to say for which client they ask; usually none."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @staticmethod
    def of(texts: Iterable[str]) -> Proxies:
        """Those with these addresses or networks."""
        return Proxies(tuple(map(_network, texts)))

    def trust(self, address: str) -> bool:
        """Whether there is a proxy at an address."""
        client = _parsed(address) if self.networks else None
        return client is not None and any(client in network for network in self.networks)

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """The address of the client: that of the peer or, if it is a proxy, the one that X-Forwarded-For names.

        Every proxy appends the address that it was asked from. Only what a trusted proxy appended is believed.
        """
        client, named = peer, ",".join(forwarded).split(",")
        while named and self.trust(client):
            before = _parsed(_without_port(named.pop().strip()))
            if before is None:
                break
            client = str(before)
        return client


@lru_cache(maxsize=4096)
def share_of(address: str) -> str:
    """What counts as one client: an IPv4 address, or the /64 that one subscriber has in IPv6."""
    client = _parsed(address)
    if isinstance(client, IPv6Address):
        return str(IPv6Network((int(client) >> 64 << 64, 64)))
    return address if client is None else str(client)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise UserError(f"a trusted proxy is an address or a network such as 10.0.0.0/8: {error}") from None


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed


def _without_port(text: str) -> str:
    """`1.2.3.4` of `1.2.3.4:80`, and `::1` of `[::1]:80`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
