"""What a test of a recorded stream, and of an encoder, looks like in Python: `pytest test_encoder.py`."""

import interlock

FORWARD = """\
interlock 1
memory activations 8192
memory weights 4096
norm: dispatch RMS_NORM reads activations[0:4096] writes activations[4096:8192]
mul: dispatch MUL_MAT reads weights activations[4096:8192] writes activations[0:4096]
"""


def test_the_stream_lacks_one_barrier():
    report = interlock.check(FORWARD)
    assert [finding.kind for finding in report.findings] == ["RAW", "WAR"], report
    assert report.findings[0].second.label == "mul"


def test_the_encoder_places_it():
    report = interlock.check(interlock.encode(FORWARD, "interlock"))
    assert not report.findings, report
    assert report.barriers == report.fewest_barriers == 1


def test_the_encoder_orders_every_hazard_of_random_programs():
    assert interlock.find("interlock", run_count=300) is None


def test_an_encoder_that_forgets_is_caught():
    failure = interlock.find("mlx-2024", run_count=2000)
    assert failure is not None
    assert len(failure) <= 4, failure
