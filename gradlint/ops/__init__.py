"""Operations: what each function and operator over tensors is, whatever its library and its spelling.

`table.py` holds one row per operation, `lookup.py` finds the row of a symbol. `flow/` asks here, and compares rows,
never names. What a row says is measured: `tests/test_ops.py` runs every spelling under TensorFlow.
"""
