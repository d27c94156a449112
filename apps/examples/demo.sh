#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One short case of each science, and what it shows, read from the tables that it leaves.
#
#   apps/examples/demo.sh TESSERA FOLDER [--print]
#
# TESSERA is the program, FOLDER where cases and runs go; --print only says what would be run. A case that fails ends it with the
# last lines of the log and with the exit code of the case (docs/reference/exit-codes.md).
set -euo pipefail
export LC_ALL=C  # numbers have points, whatever the language
if [ $# -lt 2 ] || [ $# -gt 3 ] || [ "${3:---print}" != --print ]; then
  sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
program=$1 place=$2 print_only=no log=
if [ $# = 3 ]; then print_only=yes; fi
gallery=$(dirname "${BASH_SOURCE[0]}")

title() { printf '\n--- %s\n' "$*"; }
say() { printf '    %s\n' "$*"; }

# Runs the program, quietly; where it fails, so does all of this, with its exit code.
tessera() {  # ARGUMENT...
  local code=0
  say "$program $*"
  if [ $print_only = yes ]; then return 0; fi
  "$program" "$@" --quiet >/dev/null || code=$?
  if [ $code = 0 ]; then return 0; fi
  if [ -s "$log" ]; then
    echo "the last lines of $log:" >&2
    tail -n 15 "$log" | sed 's/^/    /' >&2
  fi
  echo "demo: exit code $code (docs/reference/exit-codes.md) of $program $*" >&2
  exit $code
}

run_case() {  # CASE RUN
  local log=$2/log.txt  # for tessera()
  if [ $print_only = no ]; then rm -f "$log"; fi  # an earlier run's would mislead
  tessera run "$1" --output "$2" --force
}

# The columns of a CSV table that are asked for, without the header; an error where one is missing.
columns() {  # FILE NAME...
  awk -F, -v names="${*:2}" '
    NR == 1 {
      n = split(names, name, " ")
      for (i = 1; i <= NF; ++i) for (k = 1; k <= n; ++k) if ($i == name[k]) at[k] = i
      for (k = 1; k <= n; ++k) if (!at[k]) { print FILENAME " has no column " name[k] > "/dev/stderr"; exit 1 }
      next
    }
    { for (k = 1; k <= n; ++k) printf "%s%s", $at[k], k < n ? "," : "\n" }' "$1"
}

# The first text of a key in the configuration with which RUN ran.
setting() {  # RUN KEY
  sed -n "/^$2 = /{s/^[^\"]*\"\([^\"]*\)\".*/\1/p;q}" "$1/resolved.toml"
}

# Where everything lies that a run left; pictures to begin with come as pairs of a name and what it shows.
whereabouts() {  # RUN CASE [NAME WHAT]...
  local run=$1 case=$2
  shift 2
  say "case:     $case"
  say "results:  $run"
  say "pictures: $(find "$run/plots" -name '*.png' | wc -l) in $run/plots; begin with"
  while [ $# -gt 0 ]; do
    if [ ! -s "$run/plots/$1.png" ]; then echo "demo: there is no $run/plots/$1.png" >&2; exit 1; fi
    say "  $run/plots/$1.png  $2"
    shift 2
  done
}

soundings() {
  local case=$place/soundings run=$place/soundings/RUN middle
  title "1 of 3: magnetotelluric soundings to layered earths (inversion.mt1d)"
  tessera new inversion.mt1d "$case" --force
  run_case "$case/mt1d.toml" "$run"
  if [ $print_only = yes ]; then return 0; fi
  columns "$run/soundings.csv" sounding rms | awk -F, '
    NR == 1 { least = most = $2 }
    { if ($2 < least) least = $2; if ($2 > most) most = $2 }
    END {
      printf "    %d soundings of a synthetic profile are fitted to an RMS misfit of ", NR
      printf "%.2f to %.2f (1: to within their errors).\n", least, most
    }'
  middle=$(columns "$run/soundings.csv" sounding | awk '{ name[NR] = $1 } END { print name[int((NR + 1) / 2)] }')
  {
    columns "$case/truth.csv" sounding top_m resistivity_ohm_m | sed 's/^/truth,/'
    columns "$run/soundings/${middle}_model.csv" top_m bottom_m resistivity_ohm_m q05_ohm_m q95_ohm_m | sed 's/^/model,/'
  } | awk -F, -v here="$middle" -v depth=1000 '
    $1 == "truth" && $2 == here && $3 <= depth { truth = $4 }
    $1 == "model" && $2 <= depth { found = $4; low = $5; high = $6 }
    END {
      printf "    %g km below %s lie %.1f ohm m (90 %% band: %.1f to %.1f); ", depth / 1000, here, found, low, high
      printf "the earth that made the data has %g there.\n", truth
    }'
  whereabouts "$run" "$case/mt1d.toml" section "resistivity below the profile" \
              "$middle" "one sounding: data, fit, model with its bands"
}

ring() {
  local case=$place/ring run=$place/ring/RUN
  title "2 of 3: a ring resonator and how its modes move with its radius (electromagnetics.fdtd)"
  tessera new electromagnetics.fdtd "$case" --force
  run_case "$case/ring.toml" "$run"
  if [ $print_only = yes ]; then return 0; fi
  columns "$run/tables/modes.csv" frequency quality frequency_by_ring.radius | awk -F, '
    NR == 1 { print "    These are its modes; the derivatives in its outer radius come from the same run:" }
    {
      printf "      f = %.2f THz (a wavelength of %.3f um), ", $1 / 1e12, 299792458 / $1 * 1e6
      printf "Q = %.0f, d f / d radius = %.1f GHz/nm\n", $2, $3 / 1e18
    }'
  whereabouts "$run" "$case/ring.toml" scene "the ring on its grid: one half, a mirror makes the other" \
              field_0002 "the field when the source has long been silent" modes "Q of each mode"
}

peptide() {
  local case=$gallery/molecular/alanine.toml run=$place/peptide/RUN heavy all kelvin bar
  title "3 of 3: a peptide in water (molecular.dynamics)"
  run_case "$case" "$run"
  if [ $print_only = yes ]; then return 0; fi
  heavy=$(grep -c '^ATOM' "$gallery/molecular/alanine.pdb")
  all=$(sed -n '2s/ //gp' "$run/4_npt/final.gro")
  kelvin=$(setting "$run" ref_t)
  bar=$(setting "$run" ref_p)
  say "The $heavy heavy atoms of alanine.pdb got hydrogens and water: $all atoms, heated in a bath of $kelvin and then under a" \
      "barostat of $bar."
  columns "$run/summary.csv" stage quantity average error | awk -F, '
    $1 == "npt" { average[$2] = $3; error[$2] = $4 }
    END {
      printf "    On average over that it has %.1f +- %.1f K ", average["temperature_k"], error["temperature_k"]
      printf "and %.0f +- %.0f kg/m^3; ", average["density_kg_m3"], error["density_kg_m3"]
      printf "its conserved energy drifts by %.0e +- %.0e kJ/mol/ps per atom.\n", average["drift"], error["drift"]
    }'
  whereabouts "$run" "$case" npt "temperature, density and energies under the barostat" heat "the same while it is heated"
}

started=$SECONDS
soundings
ring
peptide
if [ $print_only = yes ]; then exit 0; fi
title "all three ran and found what they expect, in $((SECONDS - started)) s"
say "look closer: $program info $place/ring/RUN; $program --help; README.md and docs/index.md"
say "ParaView opens $place/soundings/RUN/results.h5"
