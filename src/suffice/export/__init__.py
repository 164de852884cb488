"""Export: a fitted model as one SQL query or one ONNX graph."""
