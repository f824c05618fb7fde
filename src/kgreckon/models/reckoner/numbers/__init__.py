"""Numbers: what an entity's missing number is likely to be, and which facts say so."""
