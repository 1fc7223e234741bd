#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
schema.py SCHEMA FILE...: a line for each member of the JSON files that the schema does not have, or has with another
type, and for each that it requires and that is missing. Only what man/ispot-report.schema.json uses is known of JSON
Schema. Members beyond the schema's are an error here, for it is to have them all; readers may meet newer ones.
"""
import json
import sys


def kind(value):
    if value is None:
        return "null"
    for type_, name in ((bool, "boolean"), ((int, float), "number"), (str, "string"), (list, "array")):
        if isinstance(value, type_):
            return name
    return "object"


def look(value, schema, path, found):
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if kind(value) not in allowed:
        found.add("%s is of type %s" % (path, kind(value)))
    elif isinstance(value, list):
        for one in value:
            if "items" in schema:
                look(one, schema["items"], path + "[]", found)
    elif isinstance(value, dict):
        members, others = schema.get("properties", {}), schema.get("additionalProperties")
        found.update("%s has no %s" % (path, name) for name in schema.get("required", []) if name not in value)
        for name, one in value.items():
            if name in members or others:
                look(one, members.get(name, others), "%s.%s" % (path, name), found)
            else:
                found.add("%s.%s is not in the schema" % (path, name))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    found = set()
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            look(json.load(file), schema, "report", found)
    print("\n".join(sorted(found)), end="\n" if found else "")


main()
