# SPDX-License-Identifier: Apache-2.0
"""What the acceptance rows share: places, programs, running them, reading numbers from them, peers.

A row is a file rows/<topic>/NN_name.py with

    WHAT = "what is measured"
    BAR = "the figure it must reach"
    SLOW = True                 # optional: only with --slow
    def measure(work):          # -> (holds: bool, text: str); raises NotMeasured or Failed
"""
import fcntl
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

NUMBER_LINE = re.compile(r"^([A-Za-z][\w.\[\]-]*) +([-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|nan|inf)) +(\S+)$")


class NotMeasured(Exception):
    """The row cannot be measured on this machine or with this build; the text says what is missing."""


class Failed(Exception):
    """The row was measured and does not hold."""


class Done:
    """A process that ended: code, out, err, seconds, peak_mib."""

    def __init__(self, code, out, err, seconds, peak_mib):
        self.code, self.out, self.err, self.seconds, self.peak_mib = code, out, err, seconds, peak_mib

    def must_succeed(self, what):
        if self.code != 0:
            tail = "\n".join((self.out + self.err).strip().splitlines()[-15:])
            raise Failed(f"{what} ended with {self.code}:\n{tail}")
        return self


class Work:
    def __init__(self, build=None):
        self.root = pathlib.Path(__file__).resolve().parents[2]
        self.build = pathlib.Path(build).resolve() if build else self.root / "build" / "bench"
        self.data = pathlib.Path(os.environ.get("TESSERA_TEST_DATA", self.root.parent / "shared" / "data"))
        self.peers = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tessera" / "peers"

    # ---- build ----
    def bring_up_to_date(self):
        place = self.build.relative_to(self.root)
        self.build.mkdir(parents=True, exist_ok=True)
        with open(self.build / ".being_built", "w") as lock:  # two at once would each build over what the other links
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting for another run, which brings {place} up to date ...", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            print(f"bringing {place} up to date ...", flush=True)
            done = self.run([self.root / "bootstrap.sh", "bench"], cwd=self.root)
        if done.code != 0:
            sys.exit("\n".join((done.out + done.err).splitlines()[-30:]))

    def program(self, name):
        path = self.build / "bin" / name
        if not path.exists():
            raise NotMeasured(f"there is no program '{name}' in {self.build.name}/bin")
        return str(path)

    def tessera(self):
        return self.program("tessera")

    def test_data(self, *parts):
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise NotMeasured(f"test data not found: {path} (set TESSERA_TEST_DATA)")
        return path

    # ---- running ----
    def run(self, command, timeout=3600, cwd=None, env=None, stdin=None):
        """Runs to the end, keeping output; peak memory is that of the largest process of the call."""
        with (tempfile.TemporaryFile("w+", errors="replace") as out,
              tempfile.TemporaryFile("w+", errors="replace") as err):
            begin = time.monotonic()
            process = subprocess.Popen([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})},
                                       stdout=out, stderr=err, stdin=stdin or subprocess.DEVNULL,
                                       start_new_session=True)
            peak, code = self._wait(process, begin + timeout)
            seconds = time.monotonic() - begin
            out.seek(0)
            err.seek(0)
            return Done(code, out.read(), err.read(), seconds, peak)

    @staticmethod
    def _wait(process, deadline):
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage.ru_maxrss / 1024, process.returncode
            if time.monotonic() > deadline:
                os.killpg(process.pid, 9)
                _, _, usage = os.wait4(process.pid, 0)
                process.returncode = -9
                return usage.ru_maxrss / 1024, 124
            time.sleep(0.005)

    def clean_clone(self, place):
        """What is committed, as somebody else would get it."""
        self.run(["git", "clone", "-q", "--no-hardlinks", self.root, place]).must_succeed("git clone")

    def temp(self):
        """A scratch folder, removed at the end of the 'with'."""
        return tempfile.TemporaryDirectory(prefix="tessera_acceptance_")

    def numbers(self, program, *args, timeout=3600, env=None):
        """Runs a benchmark; its stdout lines 'name value unit' as {name: value}. Other lines are commentary."""
        done = self.run([self.program(program), *args], timeout=timeout, env={"TESSERA_TEST_DATA": str(self.data), **(env or {})})
        return read_numbers(done.must_succeed(program).out)

    def figures(self, wanted):
        """A row of ((program, name, least value), ...): (holds, text). A name that ends in * takes the least of the
        figures that begin so. A figure that is not there does not hold."""
        printed, texts, held = {}, [], 0
        for program, name, least in wanted:
            try:
                if program not in printed:
                    printed[program] = self.numbers(program)
                matching = [n for n in printed[program] if name.endswith("*") and n.startswith(name[:-1])]
                value = min(need(printed[program], *(matching or [name])))
            except NotMeasured as reason:
                texts.append(f"{name}: not measured, {reason}")
                continue
            held += value >= least
            texts.append(f"{name}: {value:.3g} (at least {least:g})")
        if not any(printed.values()):
            raise NotMeasured("; ".join(texts))
        return held == len(wanted), "\n".join(texts)

    def gtest(self, program, pattern, timeout=3600, environment=None):
        """Runs the tests that match; {'passed': n, 'failed': [...], 'skipped': n, 'numbers': {name: text},
        'said': [lines]}. The numbers are what the tests noted by RecordProperty, the lines what they printed. No test matching is NotMeasured."""
        with self.temp() as folder:
            report = pathlib.Path(folder) / "report.json"
            ran = self.run([self.program(program), f"--gtest_filter={pattern}", f"--gtest_output=json:{report}"],
                     timeout=timeout, cwd=folder, env={"TESSERA_TEST_DATA": str(self.data), **(environment or {})})
            if not report.exists():
                raise Failed(f"{program} died before it wrote its report")
            suites = json.loads(report.read_text())["testsuites"]
        own = re.compile(r"\[[ =\-A-Z]+\]|Running main|Note: |$")
        said = [line for line in ran.out.splitlines() if not own.match(line)]
        result = {"passed": 0, "failed": [], "skipped": 0, "numbers": {}, "said": said[:8]}
        fixed = {"name", "file", "line", "status", "result", "timestamp", "time", "classname", "failures", "skipped",
                 "value_param", "type_param"}
        for suite in suites:
            for test in suite["testsuite"]:
                if test["result"] == "SKIPPED":
                    result["skipped"] += 1
                elif test.get("failures"):
                    failure = test["failures"][0]["failure"].replace(f"{self.root}/", "")
                    result["failed"].append(f"{suite['name']}.{test['name']}: {failure[:300]}")
                elif test["result"] == "COMPLETED":
                    result["passed"] += 1
                result["numbers"].update({k: v for k, v in test.items() if k not in fixed})
        if result["passed"] + len(result["failed"]) == 0:
            why = f"all {result['skipped']} skipped" if result["skipped"] else "no such test"
            raise NotMeasured(f"{program} {pattern}: {why}")
        return result

    def laws(self, laws, domain=""):
        """(holds, [lines]) of ((number, law, {program: tests}), ...): a law holds when each of its tests is there and passes."""
        all_hold, text = True, []
        for number, law, programs in laws:
            good, passed, named, failures = True, 0, [], []
            for program, tests in programs.items():
                result = self.gtest(program, tests)
                names = tests.split(":")
                good = good and not result["failed"] and not result["skipped"] and result["passed"] >= len(names)
                passed += result["passed"]
                named += names
                failures += result["failed"]
            all_hold = all_hold and good
            text.append(f"{domain}{number:2d} {'holds' if good else 'DOES NOT HOLD'}: {law}; {passed} tests: {', '.join(named)}")
            text += [f"   {failure}" for failure in failures]
        return all_hold, text

    def gtest_row(self, program, pattern, minimum=1, environment=None, may_skip=False):
        """A row that holds when the tests pass (and none is skipped, unless it may be): (holds, text)."""
        result = self.gtest(program, pattern, environment=environment)
        noted = "".join(f"; {k} = {v}" for k, v in sorted(result["numbers"].items()))
        text = f"{result['passed']} tests passed, {len(result['failed'])} failed, {result['skipped']} skipped{noted}"
        if not result["failed"]:
            text += "".join("\n" + line for line in result["said"])
        text += "".join("\n" + failure for failure in result["failed"])
        complete = may_skip or not result["skipped"]
        return not result["failed"] and complete and result["passed"] >= minimum, text

    def ctest_row(self, pattern, minimum=1):
        """A row that holds when the tests of ctest that match pass and none is skipped: (holds, text)."""
        done = self.run(["ctest", "--test-dir", self.build, "-R", pattern, "--output-on-failure"],
                        env={"TESSERA_TEST_DATA": str(self.data)})
        summary = re.search(r"(\d+) tests? failed out of (\d+)", done.out)
        if not summary:
            raise NotMeasured(f"no test matches {pattern}")
        failed, total = int(summary[1]), int(summary[2])
        skipped = len(re.findall(r"\*\*\*Skipped", done.out))
        text = f"{total - failed - skipped} tests passed, {failed} failed, {skipped} skipped"
        if failed:
            text += "\n" + "\n".join(done.out.splitlines()[-15:])
        return failed == 0 and skipped == 0 and total >= minimum, text

    # ---- runs that are killed ----
    def start(self, arguments, log, *options, cwd=None):
        """A run of tessera that goes on by itself; what it says goes to a file, as a pipe that nobody reads would stop it. Its threads let others
        work while they wait."""
        with open(log, "w") as err:
            return subprocess.Popen([self.tessera(), *map(str, arguments), *options], cwd=cwd, stdout=subprocess.DEVNULL, stderr=err,
                                    env={**os.environ, "OMP_WAIT_POLICY": "passive"})

    def run_to(self, arguments, log, seconds, *options):
        """Runs until so much processor time is spent, then kills: (killed, time spent)."""
        process = self.start(arguments, log, *options)
        spent = wait_for(process, seconds)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL, spent

    # ---- fuzzing ----
    def fuzz(self, name, seconds, seeds=()):
        """A harness of tests/fuzz for so much processor time from its kept corpus and more seeds: (no finding, text)."""
        with self.temp() as folder:
            corpus, log = pathlib.Path(folder) / "corpus", pathlib.Path(folder) / "log"
            corpus.mkdir()
            kept = self.root / "tests" / "fuzz" / "corpus"
            for number, seed in enumerate([p for place in (name, name.removesuffix("_fuzz")) for p in (kept / place).glob("*")] + list(seeds)):
                shutil.copy(seed, corpus / f"seed{number}")
            dictionary = self.root / "tests" / "fuzz" / f"{name}.dict"
            used, inputs, again = 0.0, 0, 0
            while used < seconds:  # the fuzzer counts wall seconds: it is started again until its processor time is used
                again += 1
                command = [self.root / "build" / "fuzz" / "bin" / name, corpus, f"-max_total_time={max(10, int(seconds - used))}",
                           "-timeout=600", "-rss_limit_mb=1024", "-print_final_stats=1", f"-seed={again}",
                           f"-artifact_prefix={folder}/", *([f"-dict={dictionary}"] if dictionary.exists() else [])]
                code, cpu = cpu_of(command, folder, log)
                said = log.read_text(errors="replace").splitlines()
                used += cpu
                inputs += sum(int(line.split()[-1]) for line in said if "number_of_executed_units" in line)
                if code != 0:
                    findings = self.root / "build" / "fuzz" / "findings"
                    findings.mkdir(exist_ok=True)
                    kept_at = [str(shutil.copy(p, findings)) for p in pathlib.Path(folder).glob("*-*")]
                    where = [line for line in said if re.match(r"\s+#\d+ .* in (tessera|LLVMFuzzer)", line)][:6]
                    return False, "\n".join([f"{name}: ended with {code} after {used / 60:.1f} CPU-min, input in {' '.join(kept_at)}", *where, *said[-8:]])
            return True, f"{name}: {inputs} inputs in {used / 60:.1f} CPU-min"

    def fuzz_row(self, readers, seconds, seeds_of=lambda name: ()):
        """Builds the harnesses and runs each for so much processor time: (holds, text)."""
        if not shutil.which("clang++"):
            raise NotMeasured("clang++ is not installed (Debian packages clang libclang-rt-dev)")
        for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz", "--target", *readers]):
            self.run(command, cwd=self.root).must_succeed("the fuzz build")
        with ThreadPoolExecutor(2) as two:
            results = list(two.map(lambda name: self.fuzz(name, seconds, seeds_of(name)), readers))
        return all(clean for clean, _ in results), "\n".join(words for _, words in results)

    # ---- peers ----
    def peer_python(self):
        """The Python that benchmarks run their peers with (tests/benchmarks/README.md)."""
        python = pathlib.Path(os.environ.get("TESSERA_PEERS", self.peers / "python")) / "bin" / "python"
        if not python.exists():
            raise NotMeasured(f"there is no {python}: './bootstrap.sh bench' makes it")
        return python

    def venv(self, name, *packages):
        """The Python of a virtual environment outside the project that holds the packages (made on first use)."""
        place = self.peers / name
        python = place / "bin" / "python"
        stamp = place / "installed"
        wanted = "\n".join(packages)
        if stamp.exists() and stamp.read_text() == wanted:
            return str(python)
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        for command in ([sys.executable, "-m", "venv", place], [python, "-m", "pip", "install", "-q", *packages]):
            done = self.run(command, timeout=1200)
            if done.code != 0:
                tail = "\n".join(done.err.strip().splitlines()[-3:])
                raise NotMeasured(f"the peer {', '.join(packages)} could not be installed: {tail}")
        stamp.write_text(wanted)
        return str(python)


def load_row(work, topic, name):
    """The module of a row, for rows that are made of others."""
    [path] = (work.root / "tests" / "acceptance" / "rows" / topic).glob(f"[0-9][0-9]_{name}.py")
    spec = importlib.util.spec_from_file_location(f"{topic}_{name}", path)
    row = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(row)
    return row


def cpu_seconds(process):
    """User and system time of a process so far, from /proc."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(process, seconds):
    """Until the process has computed for so long: moments uniform in its work, however busy the machine is. What it took."""
    spent = 0.0
    while process.poll() is None and spent < seconds:
        spent = cpu_seconds(process)
        time.sleep(0.002)
    return spent


def cpu_of(command, folder, log):
    """(exit code, processor seconds) of a command, whatever else the machine does."""
    with open(log, "w") as out:
        process = subprocess.Popen([str(c) for c in command], cwd=folder, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def read_numbers(text):
    """Lines 'name value unit' as {name: value}."""
    matches = (NUMBER_LINE.match(line.strip()) for line in text.splitlines())
    return {m[1]: float(m[2]) for m in matches if m}


def processor():
    """What a figure in seconds was measured on: name, family and model (clouds leave the generation out of the name), and the vectors
    that TESSERA_VECTOR_BITS holds ours to."""
    with open("/proc/cpuinfo") as text:
        said = dict(line.split(":", 1) for line in text.read().split("\n\n")[0].splitlines() if ":" in line)
    said = {key.strip(): value.strip() for key, value in said.items()}
    width = "512" if "avx512vl" in said.get("flags", "") else "256"
    return (f"on {said.get('model name', 'an unknown processor')}, family {said.get('cpu family', '?')}, model {said.get('model', '?')}, "
            f"vectors of {os.environ.get('TESSERA_VECTOR_BITS') or width} bits")


def need(numbers, *names):
    """The values of these names, in order; NotMeasured when the program did not print one."""
    missing = [n for n in names if n not in numbers]
    if missing:
        raise NotMeasured(f"not printed by the benchmark: {', '.join(missing)}")
    return [numbers[n] for n in names]
