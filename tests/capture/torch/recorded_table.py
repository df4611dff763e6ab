"""Prints what the recorder makes of each script: recorded_table.py [FOLDER]; with a folder, the files
are kept there."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded_program import RecordedProgram
from recording import figures, interlock, kHere

kScripts = ("transformer_step.py", "norms_step.py", "nested_step.py")
kHead = ("script", "dispatches", "accesses", "frees", "barriers", "fewest", "bytes", "planned bytes",
         "planned barriers")


def row_of(script, folder):
    """Records a script and returns its row; every program of it must be without findings."""
    path = folder / f"torch-{script[: -len('_step.py')]}.ilk"
    command = [sys.executable, "-W", "ignore", "-m", "interlock.torch", "-o", str(path)]
    subprocess.run([*command, str(kHere / script)], check=True, capture_output=True)
    status, recorded = interlock("check", str(path))
    assert status == 0, recorded
    status, planned = interlock("encode", str(path), "--planner=liveness", "--encoder=interlock")
    assert status == 0, planned
    status, checked = interlock("check", "-", text=planned)
    assert status == 0, checked
    before, after = RecordedProgram(path.read_text("ascii")), RecordedProgram(planned)
    frees = sum(statement.kind == "free" for statement in before.statements)
    sizes = [sum(program.memories.values()) for program in (before, after)]
    dispatches, accesses, barriers, fewest = figures(recorded)
    return (script, dispatches, accesses, frees, barriers, fewest, *sizes, figures(checked)[2])


def main():
    with tempfile.TemporaryDirectory() as scratch:
        rows = [row_of(script, Path(scratch)) for script in kScripts]
        if len(sys.argv) > 1:
            for path in sorted(Path(scratch).iterdir()):
                shutil.copy(path, sys.argv[1])
    print("| " + " | ".join(kHead) + " |")
    print("|" + "---|" * len(kHead))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


if __name__ == "__main__":
    main()
