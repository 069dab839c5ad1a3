"""The faulty nodes, one module for each topic. A function that alters a freshly built node, its docstring the fault."""
