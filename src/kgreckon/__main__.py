"""`python -m kgreckon` is the command line."""

from kgreckon.cli import main

main()
