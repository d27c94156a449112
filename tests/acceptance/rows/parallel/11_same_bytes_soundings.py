# SPDX-License-Identifier: Apache-2.0
import pathlib

import mt1d
import parallel

WHAT = "layered soundings with chains on ranks against one process; 2, 3, 5, 7, 8 t; 2, 3, 4 m; 2 m with 2 threads; 3 m over TCP"
BAR = "0 files differ"


def measure(work):
    mt1d.need_app(work)
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        work.run([work.tessera(), "new", "inversion.mt1d", folder / "site"]).must_succeed("tessera new")
        case = folder / "case.toml"
        case.write_text('app = "inversion.mt1d"\n[data]\nfiles = "site/soundings"\n[posterior]\nmethod = "mcmc"\nsamples = 2000\n'
                        "burn_in = 200\nkeep_every = 10\n")
        wrong, text = parallel.same_files(work, folder, "soundings", case, [], parallel.every_way()[:10])
    return not wrong, "\n".join([text, *wrong])
