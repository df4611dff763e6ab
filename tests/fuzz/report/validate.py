#!/usr/bin/env python3
"""validate.py SCHEMA FILE...: what is wrong with the JSON of each file, a line for each fault, and
then a line "." for the file."""

import json
import sys

from jsonschema import Draft7Validator

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft7Validator.check_schema(schema)
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    for error in Draft7Validator(schema).iter_errors(log):
        place = "/".join(str(part) for part in error.absolute_path)
        print(f"{place}: {error.message[:200]}")
    print(".")
