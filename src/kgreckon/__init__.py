"""kgreckon reckons over incomplete knowledge graphs: it computes, and it infers."""

__version__ = "0.1.0"
