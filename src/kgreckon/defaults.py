"""What holds at every door where nobody says otherwise: the command line, Python, HTTP and the tools for agents."""

ANSWERS_SHOWN = 20
LEAST_PROBABILITY = 0.1  # inferred answers that are not more probable are left out
