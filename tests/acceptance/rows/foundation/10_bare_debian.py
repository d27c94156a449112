# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shutil

import rowkit

WHAT = "bare Debian 12 (a debootstrap folder): ./bootstrap.sh demo"
BAR = "works, under 10 minutes including packages; it shows soundings, a ring and a peptide, each by figures and pictures"
PICTURES = ["section", "scene", "field_0002", "modes", "npt"]
SLOW = True


def mirror(work):
    """The machine's own mirror of Debian 12, from its apt configuration."""
    done = work.run(["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"])
    for line in done.out.splitlines():
        codename, _, uri = line.partition(" ")
        if codename == "bookworm":
            return uri
    raise rowkit.NotMeasured("apt on this machine knows no mirror of Debian 12")


def measure(work):
    if os.geteuid() != 0:
        raise rowkit.NotMeasured("needs root for debootstrap and chroot")
    if not shutil.which("debootstrap"):
        raise rowkit.NotMeasured("debootstrap is not installed (Debian package debootstrap)")
    with work.temp() as folder:
        bare = pathlib.Path(folder) / "debian"
        work.run(["debootstrap", "--variant=minbase", "bookworm", bare, mirror(work)]).must_succeed("debootstrap")
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", bare / "etc" / name)
        work.clean_clone(bare / "tessera")
        environment = ["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        done = work.run(["chroot", bare, *environment, "/tessera/bootstrap.sh", "demo"])
        work.run(["umount", bare / "proc"])  # only where bootstrap was killed before it did so
        done.must_succeed("bootstrap.sh demo")
        said = done.out + done.err
        pictures = re.findall(r"^\s+(\S+\.png)\b", said, re.M)
        empty = [p for p in pictures if (bare / "tessera" / p).stat().st_size < 5000]
        names = [pathlib.Path(p).stem for p in pictures]
    lacking = [n for n in PICTURES if n not in names]
    figures = re.findall(r"RMS misfit of [\d. to]+\d|Q = \d+|d radius = \S+ \S+|\d+ \+- \d+ kg/m\^3", said)
    steps = "; ".join(f"{at} {what}" for at, what in re.findall(r"^==> \[([\d:]+)\] (.{0,40})", done.err, re.M))
    text = (f"{done.seconds / 60:.1f} min ({steps}); {', '.join(figures)}; {len(names)} pictures"
            f"{'; without ' + ' '.join(lacking) if lacking else ''}{'; too small: ' + str(empty) if empty else ''}")
    return done.seconds < 600 and len(figures) >= 4 and not lacking and not empty, text
