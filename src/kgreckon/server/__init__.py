"""The server: the JSON interface, the SPARQL endpoint and the page, for one run or graph."""

from kgreckon.server.application import application
from kgreckon.server.gate import Gate
from kgreckon.server.limits import Limits
from kgreckon.server.running import open_service, serve
from kgreckon.server.service import Service

__all__ = ["Gate", "Limits", "Service", "application", "open_service", "serve"]
