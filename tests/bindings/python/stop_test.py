"""A call ends soon: after ^C, and when its time is over."""

import signal
import subprocess
import sys
import time
import unittest

import interlock

# Longer than any test may take, if nobody ends it.
ENDLESS = "interlock.find('interlock', run_count=10**12)"
# On a machine that is busy; alone it takes a few milliseconds.
SOON_SECONDS = 20


class Calls(unittest.TestCase):
    def test_end_after_an_interrupt(self):
        script = f"import interlock\ninterlock.version()\nprint('begun', flush=True)\n{ENDLESS}"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "begun\n")
            time.sleep(0.3)  # It may be in the call by then; the end is the same before it.
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=SOON_SECONDS)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_end_when_their_time_is_over(self):
        start = time.monotonic()
        with self.assertRaises(interlock.Stopped):
            interlock.find("interlock", run_count=10**12, seconds=0.1)
        self.assertLess(time.monotonic() - start, SOON_SECONDS)

    def test_that_end_in_time_are_not_stopped(self):
        self.assertTrue(interlock.check("interlock 1\n", seconds=60).is_as_expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
