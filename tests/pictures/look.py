#!/usr/bin/env python3
"""Draws programs with `interlock show`, and the report of a campaign, and looks at them in headless
Chromium.

Usage: look.py INTERLOCK OUT

Writes OUT/NAME.html, .svg and .perfetto.json, OUT/NAME-{light,dark}[-unfolded|-svg].png, and
OUT/report.html with its pictures. Exit
status: 0 all pictures are as they should be, 1 one is not; each complaint is a line.

Chromium is spoken to by its DevTools protocol through a pipe (--remote-debugging-pipe: JSON with a
zero byte after each message, on file descriptors 3 and 4), so that Python alone is enough.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 1300, 900
SECONDS_MAX = 60

# What of the corpus is shown, by name. The number says how many dispatches.
CORPUS = {
    "3-donation": "bugs/mlx-3630.ilk",
    "5-vkd3d": "bugs/vkd3d-proton-47c9f8d.ilk",
    "4-clobber": "bugs/pytorch-189735.ilk",
    "4-graph": "queues/one-branch-joined.ilk",
    "2-queues": "queues/wait-on-the-other-queue.ilk",
    "24-reordered": "streams/ggml-vulkan-reorder-bad1.ilk",
    "24-clean": "streams/ggml-vulkan-reorder-ok1.ilk",
    "456-advice": "streams/ggml-llama24-metal.ilk",
    "456-nobarrier": "streams/ggml-llama24-nobarrier.ilk",
}

# A stream, cut after so many dispatches, without one of its barriers.
CUT = {
    "5-stream": ("streams/ggml-llama24-vulkan.ilk", 5, 2),
    "50-stream": ("streams/ggml-llama24-vulkan.ilk", 50, 20),
    "500-stream": ("streams/ggml-llama24kv-vulkan-reorder.ilk", 500, 300),
}

# Text that overlaps other text, or leaves the picture or the box below it.
OVERLAPS = """(() => {
  const complaints = [];
  for (const svg of document.querySelectorAll("svg.picture, svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const texts = [...svg.querySelectorAll("text")]
      .filter(text => text.checkVisibility() && text.textContent.trim() !== "")
      .map(text => ({text, box: text.getBoundingClientRect()}))
      .filter(({box}) => box.width > 0)
      .sort((a, b) => a.box.top - b.box.top);
    const words = text => (text.firstChild || {}).textContent;
    for (const {text, box} of texts) {
      if (box.right > frame.right + 1 || box.left < frame.left - 1) {
        complaints.push(`leaves the picture: ${words(text)}`);
      }
    }
    texts.forEach(({text, box}, i) => {
      for (let k = i + 1; k < texts.length && texts[k].box.top < box.bottom - 4; ++k) {
        const other = texts[k].box;
        const apart = other.left > box.right - 2 || other.right < box.left + 2 ||
                      other.top > box.bottom - 4;
        if (!apart) complaints.push(`overlap: ${words(text)} | ${words(texts[k].text)}`);
      }
    });
  }
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) {
    complaints.push(`the page is ${page.scrollWidth} wide in a window of ${page.clientWidth}`);
  }
  return complaints.slice(0, 8);
})()"""


class Browser:
    """One Chromium with one page."""

    def __init__(self, profile):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        # Descriptors 3 and 4 of the child, whatever they are here.
        command = (
            'exec 3<&%d 4>&%d; exec chromium --headless --no-sandbox --disable-gpu '
            '--disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe '
            '--user-data-dir="$0" about:blank' % (to_read, to_write))
        self._process = subprocess.Popen(
            ["bash", "-c", command, profile], pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._id = 0
        self._session = None
        self.complaints = []
        self._loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def _receive(self):
        while b"\0" not in self._rest:
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium has ended.")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        method = message.get("method")
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + json.dumps(message["params"]["exceptionDetails"])[:300])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append("console: " + json.dumps(message["params"]["args"])[:300])
        elif method == "Log.entryAdded":
            self.complaints.append("log: " + message["params"]["entry"]["text"])
        return message

    def call(self, method, **params):
        self._id += 1
        message = {"id": self._id, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != self._id:
                continue
            if "error" in answer:
                raise RuntimeError(method + ": " + answer["error"]["message"])
            return answer["result"]

    def open(self, path, colours):
        self.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": colours}])
        self._loaded = False
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._receive()

    def value_of(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def photograph(self, path, height_max):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        height = min(size["height"], height_max)
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))

    def end(self):
        self.call("Browser.close")
        self._process.wait(SECONDS_MAX)


def cut_stream(path, dispatch_count, barrier):
    """The text up to so many dispatches, without barrier number `barrier` and evidence."""
    lines, dispatches, barriers = [], 0, 0
    for line in path.read_text().splitlines():
        words = line.split()
        if "dispatch" in words[:2]:
            dispatches += 1
            if dispatches > dispatch_count:
                continue
        elif words[:1] == ["barrier"]:
            barriers += 1
            if barriers == barrier or dispatches > dispatch_count:
                continue
        elif words[:1] and words[0] in ("expect", "witness"):
            continue
        lines.append(line)
    return "\n".join(lines) + "\n"


def draw(interlock, out):
    """Draws all programs; returns their names."""
    programs = {}
    for name, path in CORPUS.items():
        programs[name] = ROOT / "corpus" / path
    for name, (path, dispatches, barrier) in CUT.items():
        programs[name] = out / (name + ".ilk")
        programs[name].write_text(cut_stream(ROOT / "corpus" / path, dispatches, barrier))
    for name, path in programs.items():
        for ending in ("html", "svg", "perfetto.json"):
            subprocess.run([interlock, "show", path, "-o", out / (name + "." + ending)], check=True)
    return list(programs)


def look_at_page(browser, out, name, colours, complain):
    browser.open(out / (name + ".html"), colours)
    for complaint in browser.value_of(OVERLAPS):
        complain(complaint)
    browser.photograph(out / f"{name}-{colours}.png", 4000)
    fold_count = browser.value_of(
        'document.querySelector("svg.picture").querySelectorAll("[data-opens]").length')
    if fold_count == 0:
        return
    shown = "document.querySelectorAll('svg.picture')[0].querySelectorAll('g.row:not([display])').length"
    before = browser.value_of(shown)
    browser.value_of('document.querySelector("[data-opens]").dispatchEvent(new MouseEvent("click"))')
    after_one = browser.value_of(shown)
    browser.photograph(out / f"{name}-{colours}-one.png", 4000)
    browser.value_of('document.querySelector("[data-opens]").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}))')
    if browser.value_of(shown) != before:
        complain("Enter does not shut what a click has opened")
    browser.value_of('document.querySelector("button").click()')
    after = browser.value_of(shown)
    hidden = browser.value_of(
        "document.querySelectorAll('svg.picture')[0].querySelectorAll('g.row[display]').length")
    if not before < after_one <= after or hidden != 0:
        complain(f"folds do not open: {before}, {after_one}, {after} rows shown, {hidden} hidden")
    for complaint in browser.value_of(OVERLAPS):
        complain("unfolded: " + complaint)
    browser.photograph(out / f"{name}-{colours}-unfolded.png", 3000)
    browser.value_of('document.querySelector("button").click()')
    if browser.value_of(shown) != before:
        complain("what was unfolded does not fold again")


def report_campaign(interlock, out):
    """Writes the report of a short campaign that finds something of each kind."""
    folder = out / "campaign"
    for encoder in ("mlx-2024", "none"):
        subprocess.run([interlock, "fuzz", "-q", "--encoder=" + encoder, "--runs=300", "--out", folder],
                       stdout=subprocess.DEVNULL)
    subprocess.run([interlock, "report", folder, "-o", out / "report.html"], check=True)


def look_at_report(browser, out, colours, complain):
    browser.open(out / "report.html", colours)
    for complaint in browser.value_of(OVERLAPS):
        complain(complaint)
    shown = browser.value_of(
        "[...document.querySelectorAll('.shown svg')].map(svg => svg.getBoundingClientRect().height)")
    if len(shown) < 2 or min(shown) < 100:
        complain(f"the report has no picture, or a flat one: {shown}")
    browser.photograph(out / f"report-{colours}.png", 6000)


def main():
    interlock, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    names = draw(interlock, out)
    report_campaign(interlock, out)
    complaints = []
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        for name in names:
            for colours in ("light", "dark"):
                def complain(text):
                    complaints.append(f"{name}, {colours}: {text}")
                look_at_page(browser, out, name, colours, complain)
                browser.open(out / (name + ".svg"), colours)
                for complaint in browser.value_of(OVERLAPS):
                    complain("svg: " + complaint)
                browser.photograph(out / f"{name}-{colours}-svg.png", 4000)
                for complaint in browser.complaints:
                    complain(complaint)
                browser.complaints.clear()
        for colours in ("light", "dark"):
            look_at_report(browser, out, colours, lambda text: complaints.append(f"report, {colours}: {text}"))
            complaints += browser.complaints
            browser.complaints.clear()
        browser.end()
    for complaint in complaints:
        print(complaint)
    print(f"{len(names)} programs, {len(list(out.glob('*.png')))} pictures in {out}; "
          f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
