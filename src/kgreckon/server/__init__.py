"""The server: the JSON interface, the SPARQL endpoint and the page, for one run or graph."""

from kgreckon.server.application import application
from kgreckon.server.gate import Gate
from kgreckon.server.limits import Limits
from kgreckon.server.service import Service
from kgreckon.server.serving import open_service, serve

__all__ = ["Gate", "Limits", "Service", "application", "open_service", "serve"]
