# SPDX-License-Identifier: Apache-2.0
"""The keys of an app as its own schema gives them: `tessera schema APP`."""
import json
import subprocess


class Key:
    def __init__(self, name, node, in_list):
        self.name, self.node, self.in_list = name, node, in_list

    @property
    def choices(self):
        """The levels that the schema itself gives; None where it gives none."""
        node = self.node
        if node.get("type") == "array":
            return None
        if "enum" in node:
            return list(node["enum"])
        return [False, True] if node.get("type") == "boolean" else None

    @property
    def default(self):
        return self.node.get("default")


def keys_of(tessera, app):
    """({name: Key} of all keys that hold a value, "monitor.kind" for one of a list of tables; {(name of a key that says of which kind
    its table is, kind): (keys that it does not take, keys that it needs)})"""
    done = subprocess.run([tessera, "schema", app], capture_output=True, text=True, check=True)
    out, kinds = {}, {}

    def walk(node, path, in_list):
        for rule in node.get("allOf", []):
            (key, said), = rule["if"]["properties"].items()
            full = f"{path}.{key}" if path else key
            then = rule["then"]
            inside = lambda names: [f"{path}.{name}" if path else name for name in names]  # noqa: E731
            kinds[full, said["const"]] = (inside(k for k, v in then.get("properties", {}).items() if v is False), inside(then.get("required", [])))
        for name, below in node.get("properties", {}).items():
            full = f"{path}.{name}" if path else name
            if isinstance(below, bool):
                continue
            if "properties" in below:
                walk(below, full, in_list)
            elif below.get("type") == "array" and "properties" in below.get("items", {}):
                walk(below["items"], full, True)
            else:
                out[full] = Key(full, below, in_list)

    walk(json.loads(done.stdout), "", False)
    return {name: key for name, key in out.items() if name not in ("app", "units", "include")}, kinds
