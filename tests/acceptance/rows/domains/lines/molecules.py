# SPDX-License-Identifier: Apache-2.0
"""Molecules in motion: forces over stages, baths, barostats, frames, files of other programs, words."""

LAWS = (
    (2, "restraints of a topology go on with the box from stage to stage", {"apps_tests": "MdStages.RestraintsOfTheTopologyGoOnWithTheBox"}),
    (3, "Langevin's friction is each group's own", {"molecular_tests": "Langevin.GroupsHaveTheirOwnFriction"}),
    (4, "a ramp ends at each group's own temperature", {"apps_tests": "MdGroups.RampsOfGroupsEndAtTheirOwnTemperatures"}),
    (5, "the pressure is the virial of what moves with the box", {"molecular_tests": "Barostats.AtomsThatStayTakeNoPartInThePressure"}),
    (6, "frames without times count, files that begin anew are told, overlaps are counted",
     {"apps_tests": "MolecularAnalysis.FramesWithoutTimesAllCount:MolecularAnalysis.AFileThatBeginsAnewIsRefusedOrAppended:MolecularAnalysis.FramesThatComeAgainAreCounted"}),
    (7, "the molecules of a complex are one body", {"molecular_tests": "Complex.IsOneBodyWhateverImagesTheFileHas:Complex.MovesNothingThatNeedsNoMove", "apps_tests": "MolecularAnalysis.ADimerThatCrossesAFaceIsRigid"}),
    (8, "only chemical bonds become rigid", {"molecular_tests": "Top.HarmonicRestraintsNeverBecomeRigid"}),
    (9, "a switch says where it begins", {"apps_tests": "MdWords.SwitchesSayWhereTheyBegin"}),
    (10, "a barostat without a bath asks for a temperature", {"apps_tests": "MdWords.BarostatsAskForATemperature"}),
    (11, "a restart of one or two atoms knows its box", {"molecular_tests": "AmberRestart.OfOneOrTwoAtomsKnowsItsBox"}),
    (12, "Andersen's collisions, and nothing else, are heat; full steps have Maxwell's velocities", {"molecular_tests": "Andersen.VelocitiesOfFullStepsAreMaxwells:Andersen.LeapFrogBooksCollisionsAlone"}),
    (13, "one atom is drawn at its temperature", {"molecular_tests": "Integrator.OneAtomIsDrawnAtItsTemperature"}),
    (14, "import keeps boxes, cut-offs and times", {"apps_tests": "Mdp.NoPeriodicityAndNoCutOffs:Mdp.RunsBeginAtTheirTime:Mdp.WhatCannotBeHadIsRefusedWithTheWayOut"}),
    (15, "what does nothing is told", {"apps_tests": "MdWords.WhatDoesNothingIsTold"}),
    (16, "messages stand at the key at fault, in words of the case", {"apps_tests": "MdWords.MessagesStandAtTheKeyAtFault"}),
    (17, "a box below two cut-offs asks for shorter ones", {"apps_tests": "MdWords.ABoxThatShrinksBelowTwoCutOffsAsksForShorterOnes"}),
    (18, "an estimate counts trajectories", {"apps_tests": "MdWords.TheEstimateCountsTrajectories"}),
    (19, "systems without a topology go on in another case",
     {"apps_tests": "MdStages.SystemsWithoutATopologyGoOnInAnotherCase", "molecular_tests": "AmberTopologyText.EnergiesAreThoseOfTheSystem:AmberTopologyText.WhatHasNoPlaceInItIsRefused:Constrained.WatersOfFourSitesAreWaters"}),
    (20, "the pressure tensor is written in any ensemble", {"apps_tests": "MdWords.ThePressureTensorIsWrittenInAnyEnsemble"}),
)
