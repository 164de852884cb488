"""A model that was saved and loaded exports as it did before."""

import suffice


def test_a_loaded_model_gives_the_same_query_and_graph(case, tmp_path):
    case.model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert loaded.to_sql("rows", missing="null") == case.model.to_sql("rows", missing="null")
    assert loaded.to_onnx(missing="null") == case.model.to_onnx(missing="null")
