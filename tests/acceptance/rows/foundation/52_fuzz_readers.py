# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import rowkit

WHAT = "readers (TOML, EDI, XML, J, Z, checkpoint) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("toml_fuzz", "edi_fuzz", "emtfxml_fuzz", "jformat_fuzz", "zmm_fuzz", "checkpoint_fuzz")
SEEDS = {"edi_fuzz": ("*.edi",), "emtfxml_fuzz": ("*.xml",), "jformat_fuzz": ("*.j",), "zmm_fuzz": ("*.zmm", "*.zrr", "*.zss")}


def cpu_of(command, folder, log):
    """(exit code, processor seconds) of a command, whatever else the machine does."""
    with open(log, "w") as out:
        process = subprocess.Popen([str(c) for c in command], cwd=folder, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def fuzz(work, name, seconds):
    with work.temp() as folder:
        corpus, log = pathlib.Path(folder) / "corpus", pathlib.Path(folder) / "log"
        corpus.mkdir()
        kept = work.root / "tests" / "fuzz" / "corpus"
        seeds = [p for place in (name, name.removesuffix("_fuzz")) for p in (kept / place).glob("*")]
        for pattern in SEEDS.get(name, ()):
            seeds += sorted((work.data / "mt").rglob(pattern))[:40]
        for number, seed in enumerate(seeds):
            shutil.copy(seed, corpus / f"seed{number}")
        dictionary = work.root / "tests" / "fuzz" / f"{name}.dict"
        used, inputs, again = 0.0, 0, 0
        while used < seconds:  # the fuzzer counts wall seconds: it is started again until its processor time is used
            again += 1
            command = [work.root / "build" / "fuzz" / "bin" / name, corpus, f"-max_total_time={max(10, int(seconds - used))}",
                       "-timeout=600", "-rss_limit_mb=1024", "-print_final_stats=1", f"-seed={again}",
                       f"-artifact_prefix={folder}/", *([f"-dict={dictionary}"] if dictionary.exists() else [])]
            code, cpu = cpu_of(command, folder, log)
            said = log.read_text(errors="replace").splitlines()
            used += cpu
            inputs += sum(int(line.split()[-1]) for line in said if "number_of_executed_units" in line)
            if code != 0:
                return False, f"{name}: ended with {code} after {used / 60:.1f} CPU-min:\n" + "\n".join(said[-12:])
        return True, f"{name}: {inputs} inputs in {used / 60:.1f} CPU-min"


def measure(work):
    if not shutil.which("clang++"):
        raise rowkit.NotMeasured("clang++ is not installed (Debian packages clang libclang-rt-dev)")
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz"]):
        work.run(command, cwd=work.root).must_succeed("the fuzz build")
    there = [n for n in READERS if (work.root / "build" / "fuzz" / "bin" / n).exists()]
    with ThreadPoolExecutor(2) as two:
        results = list(two.map(lambda name: fuzz(work, name, 600), there))
    missing = [n for n in READERS if n not in there]
    text = "\n".join(words for _, words in results) + (f"\nno harness: {', '.join(missing)}" if missing else "")
    return all(clean for clean, _ in results) and not missing, text
