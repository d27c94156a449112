#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare machine to a result in one command; say './bootstrap.sh --help'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh demo|test|bench [--print] [--jobs N]

  demo      install the packages, build the program, run one short case of each science (soundings, a ring
            resonator, a peptide in water), say what each shows and where its results and pictures are
  test      install the packages, build, pass the tests
  bench     install the packages and the programs that benchmarks compare with, build the benchmarks
  --print   only say what would be done
  --jobs N  compile and test N at a time (default: one per processor)

It may be run again at any time: what is done already is not done twice. Packages are installed on
Debian and Ubuntu when you are root or may use sudo; elsewhere it says what is missing.
TEXT
}

# ---- what to install -------------------------------------------------------------------------------
# One need per line; 'a|b' takes the first name this release has. No version is pinned.
required_packages="
  ca-certificates git cmake ninja-build ccache g++ pkg-config|pkgconf
  libeigen3-dev libopenblas-openmp-dev liblapacke-dev libfftw3-dev libhwy-dev librandom123-dev zlib1g-dev
  libhdf5-dev libfmt-dev libspdlog-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev
  libcairo2-dev libpng-dev libpugixml-dev fonts-dejavu-core libgtest-dev librapidcheck-dev libbenchmark-dev"
# The build goes on without these, and says so (docs/decisions/0004-parts.md).
optional_packages="libvtk9-dev libgdal-dev libocct-data-exchange-dev libopenmpi-dev openmpi-bin openssh-client libmetis-dev libpetsc-complex-dev libslepc-complex-dev gemmi-dev tao-pegtl-dev clang-format"
# What the benchmarks and acceptance rows compare with or work with; never needed by the suite itself.
peer_packages="libtorch-dev libadolc-dev python3-meep-openmpi python3-matplotlib mpb nec2c gromacs lammps metis clang libclang-rt-dev|libclang-rt-14-dev python3-openems debootstrap python3-venv strace libonnx-testdata libcgal-dev"

# ---- small helpers ---------------------------------------------------------------------------------
started=$SECONDS
step() { printf '\n==> [%d:%02d] %s\n' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$*" >&2; }
say() { printf '    %s\n' "$*" >&2; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }
show_or_run() {  # prints the command; runs it unless --print
  say "$*"
  if [ "$print_only" = no ]; then "$@"; fi
}

have_package() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The first of 'a|b|c' that is installed, else the first that apt knows, else nothing.
choose_package() {
  local name
  for name in ${1//|/ }; do if have_package "$name"; then echo "$name"; return; fi; done
  for name in ${1//|/ }; do
    if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then echo "$name"; return; fi
  done
}

missing_of() {  # of the needs given, those for which no alternative is installed
  local need name found
  for need in $1; do
    found=no
    for name in ${need//|/ }; do if have_package "$name"; then found=yes; fi; done
    if [ $found = no ]; then echo "$need"; fi
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@" 2>/dev/null || sudo "$@"; fi
}
can_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return 0
  [ -t 0 ] && [ "${CI:-}" != true ]  # somebody is there to type a password
}

apt_get() {  # three tries: mirrors do fail
  local try
  for try in 1 2 3; do
    if as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"; then
      return 0
    fi
    say "apt-get $1 failed (try $try of 3)"
    sleep $((try * 5))
  done
  return 1
}

describe_system() {
  system=unknown
  if [ -r /etc/os-release ]; then system=$(. /etc/os-release; echo "${ID:-unknown} ${VERSION_ID:-}"); fi
  case $system in
    "debian 12"* | "debian 13"* | "ubuntu 24.04"*) say "system: $system" ;;
    "ubuntu 22.04"*) say "system: $system (its cmake is older than 3.25: put a newer one first on PATH)" ;;
    *) say "system: $system (tried on Debian 12; made for Debian 12 and 13, Ubuntu 22.04 and 24.04)" ;;
  esac
}

# A folder entered by chroot may lack /proc, which some packages' set-up reads (Java's, that VTK's depends on).
ensure_proc() {
  if [ -e /proc/self ] || [ "$(id -u)" != 0 ]; then return 0; fi
  if mount -t proc proc /proc 2>/dev/null; then
    trap 'umount /proc 2>/dev/null || true' EXIT
  else
    say "there is no /proc here and it cannot be mounted: some packages may fail to set up"
  fi
}

install_packages() {
  step "packages"
  describe_system
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: the packages are yours to install. On Debian they are called:"
    say "$(echo $required_packages)"
    say "and, where wanted: $(echo $optional_packages)"
    return 0
  fi
  local required optional
  required=$(missing_of "$required_packages")
  optional=$(missing_of "$optional_packages")
  if [ -z "$required$optional" ]; then say "all there"; return 0; fi
  if ! can_be_root; then
    if [ -n "$required" ]; then
      say "missing, and neither root nor sudo to install them: $(echo $required)"
      if [ "$print_only" = no ]; then
        die "as root: apt-get install --no-install-recommends$(for need in $required; do echo -n " ${need%%|*}"; done)"
      fi
    fi
    if [ -n "$optional" ]; then say "not installed, built without: $(echo $optional)"; fi
    return 0
  fi
  say "to install: $(echo $required $optional)"
  if [ "$print_only" = yes ]; then return 0; fi
  ensure_proc
  apt_get update >/dev/null || die "apt-get update failed: is the network there?"
  apt_install $required || die "apt-get install failed; see the messages above"
  apt_install $optional || say "some of these could not be installed: $(echo $optional); going on without"
}

apt_install() {  # installs the needs given; fails when one has no package here or apt fails
  local need name wanted=() all_known=0
  for need in "$@"; do
    name=$(choose_package "$need")
    if [ -n "$name" ]; then wanted+=("$name"); else say "this release has no package for '$need'"; all_known=1; fi
  done
  if [ ${#wanted[@]} -gt 0 ]; then
    apt_get install --no-install-recommends "${wanted[@]}" | package_progress || return 1
  fi
  return $all_known
}

package_progress() {  # apt's thousand lines as a count, and whatever went wrong
  local line n=0
  while IFS= read -r line; do
    case $line in
      "Need to get "* | *" newly installed"* | E:* | W:* | Err:* | dpkg:*error*) say "$line" ;;
      "Setting up "*) n=$((n + 1)); if [ $((n % 50)) = 0 ]; then say "$n packages set up"; fi ;;
    esac
  done
  say "$n packages set up"
}

check_tools() {
  local tool version
  if [ "$print_only" = yes ]; then return 0; fi
  for tool in cmake ninja g++; do
    command -v $tool >/dev/null || die "$tool is missing"
  done
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -1)" != 3.25 ]; then
    die "cmake $version is too old: 3.25 or newer is needed (a newer one comes with 'pip install cmake')"
  fi
}

# Python libraries that benchmarks (tests/benchmarks/peers) and oracles (tests/oracles) run beside ours, in a virtual environment
# outside the project. expecttest is what torch's database of operations asks for.
python_peers="numpy jax torch expecttest openmm"
peer_environment="${TESSERA_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tessera/peers/python}"

install_python_peers() {
  step "python peers: $python_peers (in $peer_environment)"
  if "$peer_environment/bin/python" -c 'import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))' \
      $python_peers 2>/dev/null; then say "all there"; return 0; fi
  if { show_or_run python3 -m venv "$peer_environment" &&
       show_or_run "$peer_environment/bin/python" -m pip install -q $python_peers; } >&2; then
    return 0
  fi
  say "they could not be installed: what compares with them will not be measured"
}

build() {  # build PRESET TARGET [configure arguments]
  local preset=$1 target=$2; shift 2
  step "configure (build/$preset)"
  show_or_run cmake --preset "$preset" "$@"
  step "build with $jobs jobs"
  show_or_run cmake --build --preset "$preset" --target "$target" --parallel "$jobs"
}

run_demo() {  # three cases, by a script that can be run alone as well
  local print=
  if [ "$print_only" = yes ]; then print=--print; fi
  step "the demonstration: one short case of each science"
  apps/examples/demo.sh build/release/bin/tessera build/demo $print >&2
  if [ "$print_only" = no ]; then step "done"; fi
}

run_tests() {
  step "tests"
  show_or_run ctest --preset release --parallel "$jobs"
}

# ---- main ------------------------------------------------------------------------------------------
verb= print_only=no jobs=$(nproc 2>/dev/null || echo 2)
while [ $# -gt 0 ]; do
  case $1 in
    demo | test | bench) if [ -n "$verb" ]; then usage >&2; exit 2; fi; verb=$1 ;;
    --print) print_only=yes ;;
    --jobs) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--jobs needs a count"; jobs=$2; shift ;;
    --jobs=*) [[ ${1#*=} =~ ^[1-9][0-9]*$ ]] || die "--jobs needs a count"; jobs=${1#*=} ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$verb" ]; then usage >&2; exit 2; fi

if [ "$verb" = bench ]; then optional_packages="$optional_packages $peer_packages"; fi
install_packages
check_tools
case $verb in
  demo) build release tessera -DTESSERA_BUILD_TESTS=OFF; run_demo ;;
  test) build release all -DTESSERA_BUILD_TESTS=ON; run_tests ;;
  bench) install_python_peers; build bench all ;;
esac
