# SPDX-License-Identifier: Apache-2.0
"""compare_modem_list.py survey.dat survey.csv: the largest difference between what mtpy-v2 reads of a ModEM list and the table of data
that it was written from, relative to each impedance's modulus (tipper: as it is). Prints numbers compared and that difference."""
import csv
import math
import sys

import numpy as np
from mtpy.modeling.modem import Data

OHM_PER_FIELD_UNIT = 4e-4 * math.pi
COLUMNS = {"zxx": "z_xx", "zxy": "z_xy", "zyx": "z_yx", "zyy": "z_yy", "tx": "t_zx", "ty": "t_zy"}

frame = Data().read_data_file(sys.argv[1]).dataframe
read = {}
for _, row in frame.iterrows():
    for ours, theirs in COLUMNS.items():
        value = complex(row[theirs])
        if not np.isnan(value) and value != 0:
            read[row["station"], f"{row['period']:.9e}", ours] = value

parts = {}
with open(sys.argv[2], newline="") as table:
    for row in csv.DictReader(table):
        element, part = row["kind"].rsplit("_", 1)
        key = row["station"], f"{float(row['period_s']):.9e}", element
        parts.setdefault(key, {})[part] = float(row["value"])

worst, compared = 0.0, 0
for key, value in parts.items():
    ours = complex(value["re"], value["im"])
    if key[2].startswith("z"):
        ours /= OHM_PER_FIELD_UNIT
    if key[2] == "zyx":
        ours = -ours  # the table has -Zyx
    scale = abs(ours) if key[2].startswith("z") else 1.0
    worst = max(worst, abs(read[key] - ours) / scale)
    compared += 1
print(f"{compared} numbers, {len({k[0] for k in parts})} stations, largest difference {worst:.3e}")
