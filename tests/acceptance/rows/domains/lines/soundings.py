# SPDX-License-Identifier: Apache-2.0
"""Magnetotelluric soundings: readers, inversion, pictures."""

LAWS = (
    (1, "a strike turns what the files hold, a rotation corrects what they call north", {"apps_tests": "Mt1d.StrikeTurnsAndRotationCorrects"}),
    (2, "the depth of investigation is that of the earth, not of a bounded variable", {"inversion_tests": "SoundingInversion.BoundsFarAwayLeaveTheDepthOfInvestigation", "apps_tests": "Mt1d.BoundsFarAwayLeaveTheDepthsOfInvestigation"}),
    (3, "an estimate counts threads as a run does", {"apps_tests": "Mt1d.AnEstimateCountsThreadsAsARunDoes"}),
    (4, "NaN in EMTF XML is missing, a Fortran exponent in EDI is read, a wild station does not stretch the colours",
     {"inversion_tests": "MissingValues.NaNInEmtfXmlIsMissingAndCountedWithItsLine:MissingValues.AnEdiNumberMayHaveAFortranExponent:"
                         "StitchedSection.AWildStationDoesNotStretchTheColours"}),
    (5, "what counts as missing is missing, by the table of docs/reference/mt-files.md",
     {"inversion_tests": "MissingValues.*:BadSounding.VariancesMissingZeroNegativeEmpty:BadSounding.EmptyValues"}),
    (6, "few layers are at most those of the smooth model that they are cut out of", {"apps_tests": "Mt1d.FewLayersAreAtMostThoseOfTheSmoothModel"}),
    (7, "a depth beyond the end that is chosen from the data is refused, not a fault", {"apps_tests": "Mt1d.ADepthBeyondTheOtherEndIsRefused"}),
)
