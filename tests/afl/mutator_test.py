#!/usr/bin/env python3
"""The library that AFL++ loads, called as afl-fuzz calls it: mutator_test.py MUTATOR."""
import ctypes
import random
import sys
import unittest

BYTES_MAX = 8192


class Mutator:
    def __init__(self, seed):
        self.library = ctypes.CDLL(LIBRARY)
        self.library.afl_custom_init.restype = ctypes.c_void_p
        self.library.afl_custom_fuzz.restype = ctypes.c_size_t
        self.state = ctypes.c_void_p(self.library.afl_custom_init(None, ctypes.c_uint(seed)))

    def fuzz(self, text, other=None, bytes_max=BYTES_MAX):
        given = ctypes.create_string_buffer(text, max(len(text), 1))
        added = None if other is None else ctypes.create_string_buffer(other, max(len(other), 1))
        mutant = ctypes.POINTER(ctypes.c_uint8)()
        size = self.library.afl_custom_fuzz(
            self.state, given, ctypes.c_size_t(len(text)), ctypes.byref(mutant), added,
            ctypes.c_size_t(0 if other is None else len(other)), ctypes.c_size_t(bytes_max))
        return bytes(mutant[:size])

    def close(self):
        self.library.afl_custom_deinit(self.state)


def mutants(seed, count=200):
    """Each of the one before, with the one before that to cross over."""
    mutator = Mutator(seed)
    texts = [b"interlock 1\n", b"interlock 1\n"]
    for _ in range(count):
        texts.append(mutator.fuzz(texts[-1], texts[-2]))
    mutator.close()
    return texts[2:]


class MutatorTest(unittest.TestCase):
    def test_mutants_are_texts_of_programs(self):
        texts = mutants(1)
        for text in texts:
            self.assertTrue(text.startswith(b"interlock 1\n"), text)
            self.assertLessEqual(len(text), BYTES_MAX)
        self.assertGreater(sum(b"\ndispatch " in text or b": dispatch " in text for text in texts), 100)
        self.assertGreater(sum(b"queue" in text for text in texts), 20)

    def test_a_seed_gives_the_same_mutants_and_another_seed_others(self):
        self.assertEqual(mutants(1), mutants(1))
        self.assertNotEqual(mutants(1), mutants(2))

    def test_what_has_no_room_stays_as_it_was(self):
        mutator = Mutator(1)
        for _ in range(20):
            self.assertEqual(mutator.fuzz(b"interlock 1\n", bytes_max=4), b"interlock 1\n")
        mutator.close()

    def test_any_bytes_are_taken(self):
        mutator = Mutator(1)
        source = random.Random(1)
        for size in [0, 1, 2, 100, 5000, 1 << 20]:
            mutant = mutator.fuzz(source.randbytes(size), source.randbytes(50))
            self.assertTrue(mutant.startswith(b"interlock 1\n"), mutant[:100])
        mutator.close()


if __name__ == "__main__":
    LIBRARY = sys.argv.pop()
    unittest.main()
