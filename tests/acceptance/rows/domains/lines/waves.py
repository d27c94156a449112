# SPDX-License-Identifier: Apache-2.0
"""Waves in time: transforms, cells, conductors, mirrors, media, doubts, growth."""

LAWS = (
    (0, "transforms do not fold: the flux of empty space is the same through every plane, and how often fields are looked at does not show",
     {"electromagnetics_tests": "SampledSpectrum.*", "apps_tests": "FdtdTransforms.FluxOfEmptySpaceIsTheSameThroughEveryPlane:FdtdTransforms.HowOftenTheyLookDoesNotShow"}),
    (1, "one cell between joined faces holds what two do, with its phase; between other faces it is refused", {"apps_tests": "FdtdOneCell.*"}),
    (2, "metal conducts wherever it lies and however thin it is", {"electromagnetics_tests": "ThinMetal.*"}),
    (3, "a symmetry counts the whole, a wall gives the open half", {"apps_tests": "FdtdExterior.AQuarterOfASphereScattersAsTheWhole:FdtdExterior.AWallGivesTheOpenHalfAndASymmetryTheWhole:"
                                                                                  "FdtdExterior.AMirrorThatIsNamedCountsOnce:FdtdExterior.HalfADomainMeasuresTheWhole:FdtdExterior.WhatIsNoSymmetryIsRefused"}),
    (4, "what lies outside of a monitor disperses", {"apps_tests": "FdtdExterior.ADispersiveMediumCarriesWavesAtItsOwnIndex:FdtdExterior.OrdersInADispersiveMediumAddUpToTheFlux:"
                                                                   "FdtdExterior.WavesDoNotGoFarInALossyOrAnisotropicMedium"}),
    (5, "the energy of a medium is what it stores, and two halves of a box add up to the whole", {"electromagnetics_tests": "MediumEnergy.*", "apps_tests": "FdtdEnergy.*"}),
    (6, "only a run that is alike is subtracted, and a run minus itself is nothing", {"apps_tests": "FdtdReferences.ARunMinusItselfIsNothing:FdtdReferences.OnlyARunThatIsAlikeIsSubtracted"}),
    (7, "ratios take the same frequencies, in any order of monitors; an expectation is about the band of its monitor",
     {"apps_tests": "FdtdReferences.RatiosTakeTheSameFrequenciesInAnyOrder:FdtdReferences.AnExpectationIsAboutTheBandOfItsMonitor"}),
    (8, "harmonics do not fold onto the fundamental", {"apps_tests": "FdtdTransforms.HarmonicsDoNotFoldOntoTheFundamental"}),
    (9, "what is hardly meant is said", {"apps_tests": "Fdtd.WhatIsHardlyMeantIsSaid"}),
    (10, "a wave of components that are not computed is refused", {"apps_tests": "Fdtd.WavesOfComponentsThatAreNotComputedAreRefused"}),
    (11, "what memory cannot hold is refused before any is taken", {"apps_tests": "Fdtd.WhatMemoryCannotHoldIsRefusedBeforeAnyIsTaken"}),
    (12, "what cannot run is refused before memory is taken", {"apps_tests": "Fdtd.WhatCannotRunIsRefusedBeforeMemoryIsTaken"}),
    (15, "an absorber stands a metal film and reflects little; a film through a pml is doubted",
     {"apps_tests": "FdtdGrowth.AnAbsorberStandsAMetalFilm:FdtdGrowth.AnAbsorberReflectsLittle:FdtdGrowth.AMetalFilmThroughAPmlIsDoubtedAndThroughAnAbsorberNot"}),
    (16, "a reversed box counts what comes in", {"apps_tests": "FdtdTransforms.AReversedBoxCountsWhatComesIn"}),
    (17, "growth is seen below the peak too", {"electromagnetics_tests": "StoredEnergy.*", "apps_tests": "FdtdGrowth.BelowThePeakIsSeenToo"}),
    (18, "a mode counts once, however many components have it", {"apps_tests": "Fdtd.AModeCountsOnceWhateverItsComponents"}),
    (19, "averaged cells of a metal are doubted where they absorb; without averages a sphere absorbs as by its series", {"apps_tests": "FdtdMetal.*"}),
)
