"""The applications of list.txt: a name, what it is installed with, options, and the words of a command."""

import json
import os
import shutil
import subprocess

PICTURES = 6  # That FFmpeg filters.


class Application:
    def __init__(self, line, shared):
        """`line`: of list.txt; `shared`: the folder that prepare.sh has filled."""
        self.name, self.package, *words = line.split()
        self.options = []
        while words[0].startswith("--"):
            self.options.append(words.pop(0))
        self.command = command_of(words, shared)
        self._shared = shared

    @property
    def is_dry(self):
        return "--dry" in self.options

    @property
    def needs_screen(self):
        """Two that look for a free screen at once may find the same one."""
        return self.command[0] == "xvfb-run"

    def is_installed(self):
        if shutil.which(self.command[0]) is None:
            return False
        modules = os.path.join(self._shared, "npm", "node_modules", self.package)
        return self.command[0] != "node" or os.path.isdir(modules)


def versions(every, shared):
    """A sentence on what is installed of the applications, the driver and the validation layers."""
    names = sorted({each.package for each in every} |
                   {"libplacebo208", "mesa-vulkan-drivers", "vulkan-validationlayers"})
    known = []
    for name in names:
        modules = os.path.join(shared, "npm", "node_modules", name, "package.json")
        if os.path.exists(modules):
            with open(modules, encoding="utf-8") as package:
                known.append(f"{name} {json.load(package)['version']}")
        else:
            version = output_of("dpkg-query", "-W", "-f=${Version}", name)
            if version:
                known.append(f"{name} {version}")
    node = output_of("node", "--version")
    if node:
        known.append(f"Node.js {node}")
    return f"What ran: {', '.join(known)}.\n\n" if known else ""


def output_of(*words):
    """Empty where there is no such program, or it fails."""
    try:
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def command_of(words, shared):
    """The words of a command, in full: see list.txt for the short ones."""
    head = "ffmpeg -v error -init_hw_device vulkan=v:0 -filter_hw_device v".split()
    tail = ["-frames:v", str(PICTURES), "-f", "null", "-"]
    source = "-f lavfi -i testsrc=size=64x64".split()
    up, down = "format=yuv420p,hwupload", "hwdownload,format=yuv420p"
    if words[0] == "ff":
        return head + source + ["-vf", f"{up},{words[1]},{down}"] + tail
    if words[0] == "ff2":
        graph = f"[0:v]{up}[a];[1:v]{up}[b];[a][b]{words[1]},{down}"
        return head + source + source + ["-filter_complex", graph] + tail
    if words[0] == "js":
        return ["node", os.path.join(shared, "npm", words[1])]
    if words[0] == "vkfft":
        return [os.path.join(shared, "vkfft", "vkfft_step"), words[1]]
    return words


def read_list(path, shared):
    with open(path, encoding="utf-8") as lines:
        return [Application(line, shared) for line in lines if line.strip() and line[0] != "#"]
