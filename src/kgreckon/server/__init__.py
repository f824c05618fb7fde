"""The server: the JSON interface, the SPARQL endpoint and the page, for one run or graph."""

from kgreckon.server.application import application
from kgreckon.server.gate import Gate
from kgreckon.server.limits import Limits
from kgreckon.server.monitor import AccessLog
from kgreckon.server.service import Service
from kgreckon.server.serving import open_service, serve
from kgreckon.server.tokens import read_token

__all__ = ["AccessLog", "Gate", "Limits", "Service", "application", "open_service", "read_token", "serve"]
