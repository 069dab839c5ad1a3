"""The driver `execution_matrix`: every cell of the Execution rule."""
