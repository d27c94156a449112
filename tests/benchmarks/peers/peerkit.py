# SPDX-License-Identifier: Apache-2.0
"""The other side of tests/benchmarks/peers.h: a peer script defines make(library, arrays) -> {name: function}, and calls
serve(make). Started as 'python SCRIPT LIBRARY FOLDER THREADS', it loads the *.npy files of FOLDER as f64 arrays
by name and then answers, one line each:

    warm NAME          runs it twice, then once more with its peak memory   -> bytes over those before the first run
    run NAME REPEATS                                                        -> seconds a run
    try NAME           runs it twice                                        -> "ok", or why it cannot
    save NAME          writes the arrays of the last result, NAME.0.npy ...  -> how many

The functions return a list of arrays and must be done when they return. Exit code 3: the library is not installed."""
import ctypes
import gc
import os
import pathlib
import sys
import time


def status_bytes(field):
    with open("/proc/self/status") as text:
        return next(int(line.split()[1]) * 1024 for line in text if line.startswith(field + ":"))


def reset_peak():
    """What was freed goes back to the system first, so that it counts neither as held nor as peak."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")  # proc(5): resets VmHWM


def limit_threads(library, threads):
    """JAX on a CPU takes as many threads as there are processors it may run on."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        if library == "jax":
            import jax
            jax.config.update("jax_enable_x64", True)
            jax.config.update("jax_platforms", "cpu")
            return jax.__version__
        if library.startswith("simpeg"):
            import simpeg
            return simpeg.__version__
        import torch
        torch.set_num_threads(threads)
        return torch.__version__
    except ImportError:
        sys.exit(3)


def serve(make):
    library, folder, threads = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    version = limit_threads(library, threads)
    import numpy
    functions = make(library, {path.stem: numpy.load(path) for path in folder.glob("*.npy")})
    results = {}
    print(f"{library} {version}", flush=True)
    for line in sys.stdin:
        command, name, *rest = line.split()
        if command == "warm":
            results.pop(name, None)
            reset_peak()
            before = status_bytes("VmRSS")
            for _ in range(2):
                functions[name]()
            reset_peak()
            results[name] = functions[name]()
            print(status_bytes("VmHWM") - before, flush=True)
        elif command == "try":
            try:
                for _ in range(2):
                    functions[name]()
                print("ok", flush=True)
            except Exception as e:
                print(f"{type(e).__name__}: {e}".split("\n")[0][:150], flush=True)
        elif command == "run":
            repeats = int(rest[0])
            begin = time.perf_counter()
            for _ in range(repeats):
                results[name] = functions[name]()
            print((time.perf_counter() - begin) / repeats, flush=True)
        elif command == "save":
            for k, array in enumerate(results[name]):
                numpy.save(folder / f"{name}.{k}.npy", numpy.asarray(array.detach() if library == "torch" else array))
            print(len(results[name]), flush=True)
