"""A small builder of ONNX graphs: the encoder, the bridge and the text encoder are written with it.

Writing the graph by hand keeps it free of an exporter's changing rewrites, and lets the
quantiser be told by name which products stay in float.
"""
from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Graph:
    """Nodes and constants of one graph; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.consts: dict[str, onnx.TensorProto] = {}
        self.count = 0

    def const(self, value: np.ndarray, name: str | None = None) -> str:
        """A constant tensor (kept once per given name)."""
        if name is None:
            self.count += 1
            name = f"const_{self.count}"
        if name not in self.consts:
            self.consts[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def ints(self, *values: int) -> str:
        """A constant int64 vector."""
        return self.const(np.array(values, "i8"), "i_" + "_".join(str(v).replace("-", "m") for v in values))

    def int0(self, value: int) -> str:
        """A constant int64 scalar."""
        return self.const(np.array(value, "i8"), "s_" + str(value).replace("-", "m"))

    def num(self, value: float) -> str:
        """A constant float scalar."""
        return self.const(np.array(value, "f4"), f"f_{value!r}")

    def op(self, kind: str, *inputs: str, outputs: int = 1, name: str = "", **attrs):
        """Append a node; returns its output name (or names)."""
        self.count += 1
        outs = [f"{kind}_{self.count}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), outs, name=name or f"n{self.count}_{kind}", **attrs))
        return outs[0] if outputs == 1 else outs

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray | None, name: str) -> str:
        """x [..., i] times weight [o, i] transposed, plus bias [o]."""
        y = self.op("MatMul", x, self.const(weight.T.astype("f4"), name + ".weight"), name=name)
        return y if bias is None else self.op("Add", y, self.const(bias.astype("f4"), name + ".bias"))

    def norm(self, x: str, gamma: np.ndarray, beta: np.ndarray, eps: float, name: str) -> str:
        """Layer normalisation over the last axis."""
        return self.op("LayerNormalization", x, self.const(gamma.astype("f4"), name + ".gamma"),
                       self.const(beta.astype("f4"), name + ".beta"), axis=-1, epsilon=eps)

    def heads(self, x: str, heads: int, width: int, perm: tuple[int, ...]) -> str:
        """[b, t, heads*width] -> [b, heads, t, width], or the key order given by perm."""
        return self.op("Transpose", self.op("Reshape", x, self.ints(0, 0, heads, width)), perm=list(perm))

    def attend(self, q: str, k: str, v: str, heads: int, width: int, bias: str | None = None) -> str:
        """Scaled dot-product attention (Vaswani et al. 2017); bias is added to the scores."""
        scores = self.op("MatMul", self.heads(q, heads, width, (0, 2, 1, 3)), self.heads(k, heads, width, (0, 2, 3, 1)))
        scores = self.op("Mul", scores, self.num(width ** -0.5))
        if bias is not None:
            scores = self.op("Add", scores, bias)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), self.heads(v, heads, width, (0, 2, 1, 3)))
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.ints(0, 0, heads * width))

    def alias(self, x: str, name: str) -> str:
        """Give a tensor its public name."""
        self.nodes.append(helper.make_node("Identity", [x], [name], name="out_" + name))
        return name

    def save(self, path, inputs: list, outputs: list) -> None:
        """Check and write; inputs and outputs are (name, elem type, shape) triples."""
        infos = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "ear", *infos, list(self.consts.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
