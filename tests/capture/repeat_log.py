#!/usr/bin/env python3
"""repeat_log.py LOG MEGABYTES OUT: a long log of what an application did again and again.

The records of LOG, but for those about the process and its devices, are written until OUT has so many
megabytes. An object that is created again is a new one; what --exact numbers gets new numbers.
"""
import struct
import sys

HEADER_BYTES = 16
HEAD = struct.Struct("<II")
ONCE = {1, 2, 3}  # kProcess, kDevice, kQueue: capture/log/record_kind.h.
NUMBER = struct.Struct("<Q")
# Where kExactSlot, kExactSubmission and kExactAccesses have numbers that no other has.
NUMBERS = {97: [8], 98: [8], 99: [0, 8]}


def records_of(log):
    begin = HEADER_BYTES
    while begin + HEAD.size <= len(log):
        size_bytes, kind = HEAD.unpack_from(log, begin)
        if size_bytes == 0:
            return
        end = begin + HEAD.size + size_bytes - 1
        yield kind, log[begin:end]
        begin = end


def main(log_path, megabytes, out_path):
    with open(log_path, "rb") as file:
        log = file.read()
    records = list(records_of(log))
    once = b"".join(record for kind, record in records if kind in ONCE)
    again = bytearray()
    numbers = []
    for kind, record in records:
        if kind not in ONCE:
            numbers += [len(again) + HEAD.size + place for place in NUMBERS.get(kind, [])]
            again += record
    stride = 1 + max((NUMBER.unpack_from(again, place)[0] for place in numbers), default=0)
    with open(out_path, "wb") as out:
        out.write(log[:HEADER_BYTES] + once)
        for _ in range(int(megabytes) * 1_000_000 // len(again) + 1):
            out.write(again)
            for place in numbers:
                NUMBER.pack_into(again, place, NUMBER.unpack_from(again, place)[0] + stride)


if __name__ == "__main__":
    main(*sys.argv[1:])
