"""Fitted models in files: mercer's own, and ONNX."""
