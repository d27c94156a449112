// SPDX-License-Identifier: Apache-2.0
//
// What `stage_forces` (stage.h) is made of, for those that compute a part of it elsewhere.
#pragma once
#include "tessera/molecular/stage.h"

namespace tessera::molecular::stages {

/// The system whose forces are computed by one evaluator: without position restraints that follow
/// the box.
System force_system(const Stage& stage, const StageStart& at, const Box& box);
/// A part of the forces of that system, and of the restraints that it is without, which are fast.
ForceFunction with_moving_restraints(const Stage& stage, const StageStart& at, const Box& box,
                                     ForceOptions::Part part, ForceFunction base);

}  // namespace tessera::molecular::stages
