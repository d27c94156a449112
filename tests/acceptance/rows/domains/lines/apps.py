# SPDX-License-Identifier: Apache-2.0
"""What all apps share."""

LAWS = (
    (1, "resume runs what was run: an edited case is refused, in every app with checkpoints",
     {"apps_tests": "Md.AnEditedCaseIsNotGoneOnWith:Fdtd.AnEditedCaseIsNotGoneOnWith:InverseScattering.AnEditedCaseIsNotGoneOnWith:"
                    "Mt1d.AnEditedCaseIsNotGoneOnWithButItsPicturesMayChange:Command.AChangeThatAKillCutShortIsNotLost",
      "data_tests": "Checkpoint.ResumeChecksAppConfigurationAndInputs"}),
    (1, "a run with a longer end, of a finished one too, is a run of that length, bit for bit",
     {"apps_tests": "Md.ALongerEndIsARunOfThatLength:Md.AHeatingStageHasOneEnd:Fdtd.ALongerRunIsARunOfThatLength:"
                    "InverseScattering.ALongerDescentIsADescentOfThatLength"}),
    (3, "what lies where nothing can be is refused at its key, and a case moved by whole cells is the same", {"apps_tests": "FdtdPositions.*"}),
)
