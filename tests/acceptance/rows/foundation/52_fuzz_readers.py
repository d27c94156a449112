# SPDX-License-Identifier: Apache-2.0
import pathlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import rowkit

WHAT = "readers (TOML, EDI, XML, J, Z, checkpoint) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("toml_fuzz", "edi_fuzz", "emtfxml_fuzz", "jformat_fuzz", "zmm_fuzz", "checkpoint_fuzz")
SEEDS = {"edi_fuzz": ("*.edi",), "emtfxml_fuzz": ("*.xml",), "jformat_fuzz": ("*.j",), "zmm_fuzz": ("*.zmm", "*.zrr", "*.zss")}


def fuzz(work, name, seconds):
    with work.temp() as folder:
        corpus = pathlib.Path(folder) / "corpus"
        corpus.mkdir()
        kept = work.root / "tests" / "fuzz" / "corpus"
        seeds = [p for place in (name, name.removesuffix("_fuzz")) for p in (kept / place).glob("*")]
        for pattern in SEEDS.get(name, ()):
            seeds += sorted((work.data / "mt").rglob(pattern))[:40]
        for number, seed in enumerate(seeds):
            shutil.copy(seed, corpus / f"seed{number}")
        dictionary = work.root / "tests" / "fuzz" / f"{name}.dict"
        command = [work.root / "build" / "fuzz" / "bin" / name, corpus, f"-max_total_time={seconds}", "-timeout=10",
                   "-rss_limit_mb=1024", "-print_final_stats=1", "-seed=1", f"-artifact_prefix={folder}/"]
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
        done = work.run(command, timeout=seconds + 300, cwd=folder)
        runs = [line.split()[-1] for line in done.err.splitlines() if "number_of_executed_units" in line]
        words = f"{name}: {runs[0] if runs else '?'} inputs in {seconds / 60:.0f} CPU-min"
        if done.code != 0:
            words += f", ended with {done.code}:\n" + "\n".join(done.err.splitlines()[-12:])
        return done.code == 0, words


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
