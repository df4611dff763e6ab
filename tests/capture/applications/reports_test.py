#!/usr/bin/env python3
"""How the reports of runs are counted, and which runs there are: with reports that are written here."""

import contextlib
import io
import os
import stat
import sys
import tempfile
import unittest

import applications
import run
import tables
from reports import NO_REPORT, NOT_COMPARED, NOT_LEFT_OUT, UNKNOWN, Drop, DropCounts, Report, why_no_drop

BLOCK = """captured: {process} on llvmpipe
  {dispatches} dispatches, 60 transfers, {barriers} barriers, {submissions} submissions, 1 queue.
  graphics: 2 passes with 4 draws.
  approximate: 20 commands that may touch less than is written here.
{left_out}  1 of {submissions} submissions has something that was not understood.
possible RAW hazard: s5.b0.c4 (dispatch 242) reads m10[0:76800], which s5.b0.c3 (dispatch 241) writes.
7 redundant pieces of sync: each one's removal adds no finding. Removals interact: check again after each.
barriers: {kept} of {barriers} do: the other 3 can go together, and at least 6 must stay.
240 dispatches, 480 accesses, 53 barriers, 20 sync statements, 3 accesses of the host, 1 queue; {findings} findings.
agreement with Khronos Validation Layer 239: both {both}, only here {here}, only there {there}.
{reasons}"""

LEFT_OUT = "  barriers that were left out (n7): 1\n"


def block(both=0, here=0, there=0, left_out=True, reasons="", **fields):
    values = dict(process="ffmpeg", dispatches=10, barriers=10, submissions=20, kept=7, findings=5)
    values.update(fields)
    return BLOCK.format(both=both, here=here, there=there, left_out=LEFT_OUT if left_out else "",
                        reasons=reasons, **values)


def baseline(**fields):
    return Report(block(left_out=False, **fields))


class Reports(unittest.TestCase):
    def test_have_the_numbers_of_the_row(self):
        row = tables.application_row("x", baseline(both=4, here=1, there=3))
        self.assertEqual(row, "| x | 10 | 2 | 20 | 1 | 1 of 20 | 5 | 10 / 7 / 6 | 7 | 4 / 1 / 3 / 0 |\n")

    def test_add_up_all_processes(self):
        """Not those of the last one, nor the barriers of the first one."""
        text = block(both=4, findings=5, left_out=False) + block(
            process="mpv", both=1, here=2, findings=2, barriers=4, kept=4, left_out=False)
        row = tables.application_row("x", Report(text))
        self.assertEqual(row,
                         "| x | 20 | 4 | 40 | 2 | 2 of 40 | 7 | 14 / 11 / 12 | 14 | 5 / 2 / 0 / 0 |\n")

    def test_add_up_windows(self):
        window = ("window 1, submissions 1 to 5:\n"
                  "barriers: 2 of 5 do: the other 3 can go together, and fewer do not.\n"
                  "9 dispatches, 9 accesses, 5 barriers, 1 sync statement, 0 accesses of the host, "
                  "1 queue; 3 findings.\n"
                  "agreement with L 1: both 1, only here 2, only there 0.\n")
        text = ("captured: app on d\n" + window + window +
                "  90 dispatches, 1 transfer, 10 barriers, 8 submissions, 2 queues.\n"
                "2 windows, each judged by itself, from one place to the next at which the host had "
                "waited for all that was submitted: 6 findings in 2 of them (1, 2).\n"
                "1 piece of sync can go, each within its window: the windows added up.\n"
                "barriers: 4 of 10 do: the other 6 can go together, and fewer do not.\n")
        row = tables.application_row("x", Report(text))
        self.assertEqual(row, "| x | 90 | 0 | 8 | 2 | 0 of 8 | 6 | 10 / 4 / 4 | 1 | 2 / 4 / 0 / 0 |\n")

    def test_count_findings_between_the_same_two_commands_once(self):
        text = block(left_out=False, findings=768) + (
            "768 findings are between 24 pairs of commands, each told once.\n")
        self.assertIn("| 24 |", tables.application_row("x", Report(text)))

    def test_know_where_all_barriers_are_needed(self):
        report = Report("captured: a on d\nbarriers: 8; each is needed.\n")
        self.assertIn("| 8 / 8 / 8 |", tables.application_row("x", report))

    def test_are_none_without_a_block(self):
        self.assertFalse(Report("status 2\n").is_judged)

    def test_have_no_agreement_where_nobody_validated(self):
        text = block(left_out=False).replace("agreement with Khronos Validation Layer 239: both 0, "
                                             "only here 0, only there 0.\n", "")
        self.assertIn("| – |", tables.application_row("x", Report(text)))


class Drops(unittest.TestCase):
    def test_count_only_what_was_left_out_and_compared(self):
        self.assertEqual(why_no_drop(Report(block())), "")
        self.assertEqual(why_no_drop(Report(block(left_out=False))), NOT_LEFT_OUT)
        never = block(left_out=False) + ("No verdict: barrier 7 was to be left out, and the last "
                                         "one was 6.\n")
        self.assertEqual(why_no_drop(Report(never)), NOT_LEFT_OUT)
        dry = block().replace("agreement with Khronos", "x")
        self.assertEqual(why_no_drop(Report(dry)), NOT_COMPARED)
        self.assertEqual(why_no_drop(Report("status none: it took too long\n")), NO_REPORT)

    def test_are_found_in_any_process(self):
        self.assertEqual(why_no_drop(Report(block(left_out=False) + block(process="mpv"))), "")

    def test_say_where_a_comparison_lacks_something(self):
        """On either side; and where the run itself has no verdict."""
        for text in ("  The pairs of the program are too many to look at: a reason may be missed.\n",
                     "  What is found here is cut: see above.\n",
                     "  3 more of its messages were not compared.\n",
                     "No verdict: hazards may hide in what was not understood: vkCmdX.\n",
                     "What was not understood may hide more, or order what is found: vkCmdX.\n"):
            self.assertTrue(Drop(Report(block(reasons=text)), baseline()).is_cut, text)
        self.assertFalse(Drop(Report(block()), baseline()).is_cut)

    def noticed(self, report, of_baseline):
        drop = Drop(report, of_baseline)
        return drop.is_noticed_here, drop.is_noticed_there

    def test_are_not_noticed_by_what_the_application_has_by_itself(self):
        self.assertEqual(self.noticed(Report(block(both=5, there=17)), baseline(both=5, there=17)),
                         (False, False))

    def test_are_noticed_by_what_is_added(self):
        by_itself = baseline(both=5, here=2, there=17)
        self.assertEqual(self.noticed(Report(block(both=6, here=2, there=17)), by_itself),
                         (True, True))
        self.assertEqual(self.noticed(Report(block(both=5, here=3, there=17)), by_itself),
                         (True, False))
        self.assertEqual(self.noticed(Report(block(both=5, here=2, there=18)), by_itself),
                         (False, True))
        # A run may differ from the next one in what has nothing to do with the barrier.
        self.assertEqual(self.noticed(Report(block(both=6, here=2, there=16)), by_itself),
                         (True, True))

    def test_have_reasons_only_for_what_is_added(self):
        known = "  only there, 17: it follows no timeline semaphore.\n"
        unknown = f"  only here, 1: {UNKNOWN}.\n    RAW at s1.b0.c2, after s1.b0.c1\n"
        by_itself = baseline(there=17, here=1, reasons=known + unknown)
        same = Drop(Report(block(there=17, here=1, reasons=known + unknown)), by_itself)
        self.assertEqual((same.reasons, same.is_unknown), (set(), False))
        more = Drop(Report(block(there=18, here=2, reasons=known.replace("17", "18") +
                                 unknown.replace("only here, 1", "only here, 2"))), by_itself)
        self.assertEqual(more.reasons, {("there", "it follows no timeline semaphore"),
                                        ("here", UNKNOWN)})
        self.assertTrue(more.is_unknown)

    def test_have_a_row_for_each_application(self):
        counts = DropCounts()
        counts.add(Drop(Report(block(both=1)), baseline()))
        counts.add(Drop(Report(block(here=1, reasons="  only here, 1: it looks at less.\n")),
                        baseline()))
        counts.add(Drop(Report(block(there=1, reasons=f"  only there, 1: {UNKNOWN}.\n")), baseline()))
        cut = "  What is found here is cut: see above.\n"
        counts.add(Drop(Report(block(reasons=cut)), baseline()))
        counts.add_other(NO_REPORT)
        counts.add_other(NO_REPORT)
        counts.add_other(NOT_LEFT_OUT)
        table = tables.DropsTable()
        table.add("x", counts)
        table.add_without("y", "not installed (z)")
        self.assertEqual(
            table.text()[len(tables.DROPS_HEAD):],
            "| x | 7 | 4 | 1 | 1 | 1 | 1 | 1 | 1 | a 1, b 1 |\n"
            "| y | not installed (z) | | | | | | | | |\n"
            "| **all** | 7 | 4 | 1 | 1 | 1 | 1 | 1 | 1 | |\n"
            "\n- a: only Interlock names it; Interlock is right: it looks at less."
            f"\n- b: only validation names it; open: {UNKNOWN}."
            f"\n- 1 tried, and not compared: {NOT_LEFT_OUT}."
            f"\n- 2 tried, and not compared: {NO_REPORT}.\n")


# Plays `interlock capture` on applications of three and five barriers; the second one executes the
# barriers 0, 2, 4, 6 and 8 and skips one more than it says: without barrier 4 it leaves out none.
STAND_IN = r"""#!/usr/bin/env python3
import sys
words = sys.argv[1:]
name = words[-1]
numbers = {"one": [0, 1, 2], "two": [0, 2, 4, 6, 8], "dry": [0, 1]}[name]
dropped = [int(word[15:]) for word in words if word.startswith("--drop-barrier=")]
if "-o" in words:
    with open(words[words.index("-o") + 1], "w") as program:
        program.writelines(f"s1.b0.c{n}.n{n}: barrier copy -> copy\n" for n in numbers)
print("captured: x on d")
if dropped and (name, dropped[0]) != ("two", 4):
    print(f"  barriers that were left out (n{dropped[0]}): 1")
if "--syncval" in words:
    print(f"agreement with L 1: both {1 if dropped else 0}, only here 0, only there 0.")
with open(sys.argv[0] + ".calls", "a") as calls:
    calls.write(" ".join(words) + "\n")
"""


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.interlock = os.path.join(self.folder, "interlock")
        with open(self.interlock, "w", encoding="utf-8") as program:
            program.write(STAND_IN)
        os.chmod(self.interlock, stat.S_IRWXU)
        self.list = os.path.join(self.folder, "list.txt")
        with open(self.list, "w", encoding="utf-8") as applications_list:
            applications_list.write("# name package words\none p true one\none-two p true two\n"
                                    "dry p --dry true dry\ngone p /no/such/program gone\n")

    def tables_of(self, name, *options):
        folder = os.path.join(self.folder, name)
        sys.argv = ["run.py", self.interlock, folder, "--list", self.list, *options]
        errors = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(errors):
            run.main()
        return out.getvalue(), errors.getvalue()

    def calls(self):
        with open(self.interlock + ".calls", encoding="utf-8") as calls:
            return calls.read().splitlines()

    def test_go_on_until_as_many_are_compared_as_were_asked_for(self):
        text, errors = self.tables_of("a", "--drop=5")
        self.assertIn("| one | 3 | 3 | 3 | 0 | 0 | 0 | 0 | 0 | |\n| one-two | 2 | 2 | 2 |", text)
        self.assertIn("| dry | – (`--dry`: nothing to validate) |", text)
        self.assertIn("| gone | not installed (p) |", text)
        self.assertNotIn("only 5", errors)
        text, errors = self.tables_of("a", "--drop=7")
        self.assertIn("| **all** | 8 | 7 | 7 |", text)
        # The run without barrier 4 of the second one is told apart.
        self.assertIn("| one-two | 5 | 4 | 4 |", text)
        self.assertIn(f"\n- 1 tried, and not compared: {NOT_LEFT_OUT}.\n", text)
        self.assertEqual(errors.count("one-two.drop4"), 1)

    def test_say_where_there_are_fewer(self):
        text, errors = self.tables_of("b", "--drop=9")
        self.assertIn("| **all** | 8 | 7 | 7 |", text)
        self.assertIn("only 7 runs could be compared", errors)

    def test_leave_out_no_barrier_of_a_dry_run(self):
        self.tables_of("c", "--drop=9")
        self.assertEqual([call for call in self.calls() if "--dry" in call and "--drop" in call], [])

    def test_are_not_done_again(self):
        self.tables_of("d", "--drop=4")
        count = len(self.calls())
        self.tables_of("d", "--drop=4")
        self.assertEqual(len(self.calls()), count)
        self.tables_of("d", "--drop=5")
        self.assertEqual(len(self.calls()), count + 1)

    def test_are_the_same_side_by_side(self):
        alone = self.tables_of("e", "--drop=6")[0]
        beside = self.tables_of("f", "--drop=6", "--jobs=3")[0]
        self.assertEqual(alone, beside)
        self.assertEqual({name for name in os.listdir(os.path.join(self.folder, "e"))},
                         {name for name in os.listdir(os.path.join(self.folder, "f"))})


class Lists(unittest.TestCase):
    def test_say_which_versions_ran(self):
        with tempfile.TemporaryDirectory() as shared:
            modules = os.path.join(shared, "npm", "node_modules", "p")
            os.makedirs(modules)
            with open(os.path.join(modules, "package.json"), "w", encoding="utf-8") as package:
                package.write('{"version": "1.2"}')
            every = [applications.Application("x p js x.mjs", shared),
                     applications.Application("y no-such-package y", shared)]
            text = applications.versions(every, shared)
        self.assertRegex(text, r"^What ran: (.*, )?p 1\.2(, .*)?\.\n\n$")
        self.assertNotIn("no-such-package", text)

    def test_have_each_application_once(self):
        every = applications.read_list(os.path.join(run.HERE, "list.txt"), "/nowhere")
        self.assertEqual(len({each.name for each in every}), len(every))
        self.assertEqual(len(every), 20)
        self.assertEqual([each.name for each in every if each.is_dry], ["llama-cpp"])


if __name__ == "__main__":
    unittest.main()
