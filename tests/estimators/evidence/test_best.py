"""Settings that are tried as long as each pays."""

from suffice.estimators.evidence.best import Best


def test_settings_are_tried_until_one_does_not_pay_and_each_begins_with_what_the_last_found():
    losses = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}
    begun: list[tuple[str, str]] = []

    def judged(setting: str, before: str) -> tuple[str, float]:
        begun.append((setting, before))
        return f"found with {setting}", losses[setting]

    best = Best("none", "nothing", 4.0).while_it_pays("abcd", judged)

    assert best == Best("b", "found with b", 2.0)
    assert begun == [("a", "nothing"), ("b", "found with a"), ("c", "found with b")]


def test_nothing_changes_where_no_setting_pays():
    before = Best(1, "found", 0.5)

    assert before.while_it_pays([2, 3], lambda _, found: (found, 0.5)) is before
