"""Build pipeline of the speech encoder ("the ear"): texts -> speech -> features -> training -> ONNX."""
