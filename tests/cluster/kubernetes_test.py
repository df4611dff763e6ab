#!/usr/bin/env python3
"""The Kubernetes Job of fuzz/cluster, without a cluster: kubernetes_test.py INTERLOCK FOLDER.

Each index's container is started as a pod would start it, with its folder in place of the mounted
volume; one is told to end, as an evicted pod is, and started again. The merged parts are to be one
campaign's files. What the manifest says is held to the fields of batch/v1 Job that it depends on.
"""
import filecmp
import os
import pathlib
import signal
import subprocess
import sys
import time

import yaml

PARTS = 3
OPTIONS = ["--encoder=none", "--runs=20000"]


def read_manifest():
    path = pathlib.Path(__file__).resolve().parents[2] / "fuzz/cluster/kubernetes_campaign.yaml"
    job = yaml.safe_load(path.read_text())
    assert job["apiVersion"] == "batch/v1" and job["kind"] == "Job", job
    spec = job["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    (parts,) = [e["value"] for e in container["env"] if e["name"] == "PARTS"]
    assert spec["completionMode"] == "Indexed", "JOB_COMPLETION_INDEX is set for indexed jobs only"
    assert str(spec["completions"]) == parts, "each part needs an index, and each index a part"
    assert pod["restartPolicy"] == "OnFailure", "a killed part is to go on"
    mounted = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    assert set(mounted) == {v["name"] for v in pod["volumes"]}, "each volume is mounted"
    assert mounted["campaign"] == "/campaign"
    return container


def start(container, interlock, folder, index):
    command = [text.replace("/campaign/", str(folder) + "/") for text in container["command"]]
    environment = dict(os.environ, JOB_COMPLETION_INDEX=str(index), PARTS=str(PARTS))
    environment["PATH"] = str(interlock.parent) + ":" + environment["PATH"]
    return subprocess.Popen(command + OPTIONS, env=environment)


def files_of(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def main():
    interlock, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir(parents=True)
    container = read_manifest()

    evicted = start(container, interlock, folder, 0)
    journal = folder / "part1/campaign.journal"
    for _ in range(600):
        if journal.exists() and journal.stat().st_size > 0:
            break
        time.sleep(0.1)
    evicted.send_signal(signal.SIGTERM)
    status = evicted.wait(timeout=60)
    assert status in (0, 130), f"an evicted part ends with {status}"
    print(f"kubernetes_test: the evicted part ended with {status}")

    for index in range(PARTS):
        status = start(container, interlock, folder, index).wait(timeout=600)
        assert status == 0, f"part {index + 1} ends with {status}"
    parts = [str(folder / f"part{i + 1}") for i in range(PARTS)]
    merged = subprocess.run([interlock, "merge", *parts, f"--out={folder}/all"])
    assert merged.returncode == 1, "there are findings"
    whole = subprocess.run([interlock, "fuzz", *OPTIONS, f"--out={folder}/whole"])
    assert whole.returncode == 1, "there are findings"

    names = files_of(folder / "whole")
    assert names == files_of(folder / "all"), "other files"
    _, wrong, missing = filecmp.cmpfiles(folder / "whole", folder / "all", names, shallow=False)
    assert not wrong and not missing, f"these files differ: {wrong + missing}"
    print(f"kubernetes_test: {PARTS} parts have the files of one campaign, byte for byte.")


main()
