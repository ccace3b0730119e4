"""The graph and its engine: nodes, edges, modes, hooks, the backward pass. Knows no operator."""
