#!/usr/bin/env python3
"""validate.py SCHEMA: what is wrong with the JSON on standard input, a line for each; nothing if it
keeps the schema."""

import json
import sys

from jsonschema import Draft7Validator

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft7Validator.check_schema(schema)
for error in Draft7Validator(schema).iter_errors(json.load(sys.stdin)):
    place = "/".join(str(part) for part in error.absolute_path)
    print(f"{place}: {error.message[:200]}")
