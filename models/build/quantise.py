"""Dynamic int8 of the matrix products with constant weights, one scale per output channel."""
from __future__ import annotations

from pathlib import Path


def quantise(source: Path, target: Path, keep_float: tuple[str, ...] = ()) -> None:
    """Write target; nodes whose name starts with one of keep_float stay in float."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    names = [n.name for n in onnx.load(str(source)).graph.node]
    kept = [n for n in names if any(n.startswith(k) for k in keep_float)] if keep_float else []
    quantize_dynamic(str(source), str(target), weight_type=QuantType.QInt8, per_channel=True,
                     op_types_to_quantize=["MatMul"], nodes_to_exclude=kept)
