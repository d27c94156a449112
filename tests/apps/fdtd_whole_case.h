// SPDX-License-Identifier: Apache-2.0
// A case of electromagnetics.fdtd that gives every table and most keys.
#pragma once

namespace tessera::testing {

inline const char* const kWholeCase = R"(schema = 1
title = "A ring beside a waveguide"

[grid]
size = ["10 um", "8 um", "0 um"]
centre = ["1 um", "0 um", "0 um"]
cell = ["25 nm", "50 nm", "25 nm"]
x.refine = [{from = "0 um", to = "1 um", cell = "5 nm"}]
max_ratio = 1.2
background = "SiO2"
polarization = "Ez"
averaging = "volume"
conductors = "staircase"

[run]
precision = "f64"
courant = 0.9
stop = {decay_db = 60, time = "5 ps", check_every = "20 fs"}

[boundary]
x = "pml"
y_low = "pmc"
y_high = "pec"
pml = {cells = 12, order = 4, kappa_max = 11, sigma_factor = 1.5, alpha_factor = 0.5, index = 1.45}

[[material]]
name = "core"
index = 3.4

[[material]]
name = "crystal"
eps = [4, 4, 5]
sigma = "10 S/m"
mu = 1.5
sigma_m = ["0 ohm/m", "1 ohm/m", "0 ohm/m"]
chi2 = "2 pm/V"
chi3 = "1e-20 m^2/V^2"
[[material.poles]]
kind = "lorentz"
frequency = "500 nm"
damping = "1 THz"
delta_eps = 0.3
[[material.poles]]
kind = "drude"
frequency = "1 eV"
damping = "0.1 eV"
strength = 0.7
[[material.poles]]
kind = "debye"
frequency = "20 GHz"
delta_eps = 70
[[material.poles]]
kind = "critical_point"
frequency = "650 THz"
damping = "60 THz"
amplitude = 1.1
phase = "-45 deg"
[[material.poles]]
kind = "residue"
pole = ["-1e14 rad/s", "3e15 rad/s"]
residue = ["0 rad/s", "-2e15 rad/s"]

[[material]]
name = "gold"
library = "Au"

[[material]]
name = "measured"
index_file = "data/nk.csv"
fit = {tolerance = 0.01, most_poles = 6, conducting = true}

[[material]]
name = "board"
eps = 4.4
loss_tangent = 0.02
loss_frequency = "2.4 GHz"
loss_band = ["1 GHz", "10 GHz"]

[[structure]]
shape = "box"
material = "core"
size = ["inf", "400 nm", "inf"]
centre = ["0 um", "-1.5 um", "0 um"]

[[structure]]
shape = "cylinder"
name = "ring"
material = "core"
radius = "1 um"
inner_radius = "0.6 um"
height = "inf"
priority = 2
repeat = {count = [2, 1, 1], step = ["3 um", "0 um", "0 um"]}

[[structure]]
shape = "box"
name = "plate"
low = ["0 um", "0 um", "0 um"]
high = ["1 um", "1 um", "1 um"]

[[structure]]
shape = "prism"
name = "wedge"
corners = [["0 um", "0 um"], ["1 um", "0 um"], ["0 um", "1 um"]]
height = "220 nm"
base = "-110 nm"
sidewall = "10 deg"
axis = "z"

[[structure]]
shape = "difference"
parts = ["plate", "wedge"]
material = "Ag"
rotate = {angle = "30 deg"}

[[structure]]
shape = "cone"
material = "pec"
radius_low = "0 um"
radius_high = "1 um"
height = "2 um"
axis = "x"

[[structure]]
shape = "ellipsoid"
material = "gold"
semi_axes = ["1 um", "2 um", "3 um"]

[[structure]]
shape = "sphere"
material = "measured"
radius = "100 nm"

[[structure]]
shape = "half_space"
material = "board"
point = ["0 um", "-3 um", "0 um"]
outward = [0, 1, 0]

[[source]]
kind = "point"
name = "dipole"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
amplitude = 2.5
waveform = {kind = "gaussian", frequency = "1.55 um", bandwidth = "40 THz", delay = "60 fs"}

[[source]]
kind = "line"
component = "Hx"
position = ["0 um", "1 um", "0 um"]
size = ["2 um", "0 um", "0 um"]
[source.waveform]
kind = "ricker"
frequency = "200 THz"

[[source]]
kind = "plane_wave"
name = "sun"
direction = [1, 1, 0]
polarization = [0, 0, 1]
waveform = {frequency_min = "1.6 um", frequency_max = "1.5 um", phase = "0 deg"}

[[source]]
kind = "beam"
position = ["-2 um", "0 um", "0 um"]
size = ["0 um", "4 um", "0 um"]
direction = [1, 0, 0]
polarization = [0, 0, 1]
waist = "1 um"
focus = "2 um"
waveform = {kind = "continuous", frequency = "193 THz", ramp = "10 fs"}

[[source]]
kind = "plane"
component = "Ez"
position = ["-2 um", "0 um", "0 um"]
size = ["0 um", "4 um", "0 um"]
waveform = {kind = "derivative", width = "3 fs", order = 2}

[[monitor]]
kind = "probe"
name = "echo"
position = ["1 um", "1 um", "0 um"]
components = ["Ez", "Hx"]

[[monitor]]
kind = "flux"
name = "in"
position = ["-3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequency_min = "190 THz"
frequency_max = "200 THz"
frequency_points = 11

[[monitor]]
kind = "flux"
name = "out"
position = ["3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["1.55 um", "193 THz"]
relative_to = "base"
subtract = "straight.run"
reverse = true

[[monitor]]
kind = "dft"
name = "field"
size = ["4 um", "4 um", "0 um"]
frequencies = ["193 THz"]

[[monitor]]
kind = "far_field"
name = "pattern"
position = ["0 um", "0 um", "0 um"]
size = ["6 um", "6 um", "0 um"]
frequencies = ["193 THz"]
phi = ["0 deg", "90 deg"]
mirrors = [{axis = "y", position = "-3 um"}]

[[monitor]]
kind = "rcs"
name = "sigma"
position = ["0 um", "0 um", "0 um"]
size = ["6 um", "6 um", "0 um"]
frequencies = ["193 THz"]
source = "sun"

[[monitor]]
kind = "ldos"
name = "purcell"
frequencies = ["193 THz"]

[[monitor]]
kind = "orders"
name = "grating"
position = ["0 um", "2 um", "0 um"]
size = ["6 um", "0 um", "0 um"]
frequencies = ["193 THz"]
orders = [[-1, 0], [0, 0]]

[[monitor]]
kind = "resonances"
name = "modes"
position = ["1 um", "0 um", "0 um"]
components = ["Ez"]
frequency_min = "150 THz"
frequency_max = "250 THz"
min_quality = 20

[[monitor]]
kind = "energy"
name = "stored"
frequencies = ["193 THz"]

[[monitor]]
kind = "snapshot"
name = "film"
every = "10 fs"
start = "50 fs"
components = ["Ez"]

[[monitor]]
kind = "flux"
name = "base"
position = ["-3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["1.55 um", "193 THz"]

[output]
vtk = false

[[expect]]
monitor = "out"
frequency = "1.55 um"
value = 0.5036
tolerance = 0.01
)";

}  // namespace tessera::testing
