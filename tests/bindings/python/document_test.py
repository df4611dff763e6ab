"""docs/python.md says what its code does: each block is run, and prints what its comments say."""

import contextlib
import io
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs" / "examples"))

import test_encoder


def outcome_of(document):
    """What the comments of the blocks say, and what the blocks print."""
    said, printed, names = [], io.StringIO(), {}
    for block in re.findall(r"^```python\n(.*?)^```", document, re.M | re.S):
        said += re.findall(r"#> (.*)$", block, re.M)
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "docs/python.md", "exec"), names)
    return said, printed.getvalue().splitlines()


class Document(unittest.TestCase):
    def test_blocks_print_what_their_comments_say(self):
        said, printed = outcome_of((ROOT / "docs" / "python.md").read_text())
        self.assertGreater(len(said), 15)
        self.assertEqual(said, printed)

    def test_a_wrong_comment_is_noticed(self):
        said, printed = outcome_of("```python\nprint(1)  #> 2\n```\n")
        self.assertNotEqual(said, printed)

    def test_the_tests_of_the_example_pass(self):
        names = [name for name in dir(test_encoder) if name.startswith("test_")]
        self.assertGreater(len(names), 3)
        for name in names:
            with self.subTest(name):
                getattr(test_encoder, name)()


if __name__ == "__main__":
    unittest.main(verbosity=2)
