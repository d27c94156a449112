# SPDX-License-Identifier: Apache-2.0
"""What the engine once got wrong, law by law: the tests that failed then."""

WHAT = "laws of values, derivatives and memory that did not hold once, each by the tests that failed then"
BAR = "all hold"

# number, law, tests (of autodiff_tests, or by program)
LAWS = (
    (1, "values that begin at one point move apart (jets, Laplacian, biharmonic)",
     "SamePoint.OperandsThatBeginTogetherMoveApart:SamePoint.EveryOperationOfSeveralOperandsAgainstNestedDerivatives"),
    (2, "a linear map is linear in its arguments alone; what a rule replaces and what nobody uses is not differentiated; rules give the types of their values",
     "SamePoint.ALinearMapIsLinearInItsArgumentsAlone:CustomRules.*"),
    (3, "branches and loops under vmap give each element what it has alone",
     "GuardedBatch.*:Cond.WhatABranchDoesWithCapturedValuesIsTheBranchs:While.WhatNoStepChangesIsComputedOnceAndOnlyForASteppingLoop"),
    (4, "jit: a plan, and the tree of its result, belong to the whole structure of the arguments",
     "Jit.TheResultHasTheShapeOfThisCall:Jit.TreesOfOneNumberOfTensorsAreTold:Jit.StaticMembersArePartOfThePlan:Jit.TangentsAndCotangentsHaveAsManyTensors"),
    (5, "a while is transposed in what its condition does not read",
     "While.TransposedInWhatItsConditionDoesNotRead:While.TransposedOverABatchWhoseElementsGoDifferentWays"),
    (6, "a size of 2^63 elements or bytes is refused, one of nothing is held", "Sizes.OfTwoTo63AndMoreAreRefused:Sizes.AreCheckedWhereOnlyTypesAreKnown:Sizes.OfNothingAreHeld:"
     "Window.SizesBeyondAllElementsAreThoseOfTheFormula:Loops.OfTwoTo63StepsAndMoreAreRefused:Axes.NamedTwiceOrOutsideAreRefused:Undefined.TensorsAreRefusedByName"),
    (7, "functions of stacks of matrices are those of each matrix", "Inverse.OfAStackIsTheStackOfInverses:Stacks.OfMatricesAreTreatedOneByOne"),
    (8, "an integer literal keeps its bits or is refused",
     "Literals.KeepTheirBitsOrAreRefusedByEveryIntegerType:Literals.AreNotDoubles:Literals.AsExponents:Arange.IsHeldByItsType"),
    (9, "NaN stays, and takes the derivative of the choice it won",
     "NaN.StaysInBothArguments:NaN.StaysInComplexFunctions:NaN.ThatAReductionChoosesTakesItsDerivative:NaN.ThatTwoArgumentsChooseTakesItsDerivative:"
     "NaN.ThatAScatterChoosesTakesItsDerivative:Segment.ProductsKeepApartWhatIsNotFiniteInAnother"),
    (10, "derivatives at equal eigenvalues and singular values, and of lengths at 0, are right or NaN",
     "EqualEigenvalues.DerivativesAreRightOrNaN:EqualEigenvalues.WhatIsNamedInTheLawsIsNaN:EqualEigenvalues.VectorsOfSingleEigenvaluesKeepTheirDerivatives:"
     "EqualEigenvalues.ZeroOnRequestIsRightForWhatDoesNotTurnInsideOfTheSpace:EqualEigenvalues.JordanBlocksHaveNoVectorsToDifferentiate:"
     "EqualEigenvalues.SingularValuesOfLowRank:LengthsAtZero.FirstDerivativesAreZeroAndSecondOnesNaN"),
    (11, "powers have all their derivatives at 0",
     "PowerAtZero.AllDerivativesInXOfIntegerExponents:PowerAtZero.JetsThatRunThroughZero:"
     "PowerAtZero.SlopesOfBothAtZeroAreZeroAndWhatDivergesIsNotANumberOfOurs"),
    (12, "the determinant has all its derivatives at matrices of any rank; one singular matrix concerns no other",
     "Determinant.DerivativesOfMatricesOfAnyRankAreThoseOfTheExpansion:Determinant.GradientIsTheCofactorMatrix:"
     "Determinant.OneSingularMatrixOfABatchConcernsNoOther:Determinant.TransposesAreAdjoints"),
    (13, "arrays without elements are as in NumPy, under every transform",
     "Empty.ProductsAreSumsOfNothing:Empty.ProductsOfEveryType:Empty.ReductionsGiveTheirIdentity:Empty.FactorisationsAndSolvesHaveNothingToDo"),
    (14, "a running sum is as good as the sum; einsum takes an ellipsis", "Cumsum.OfTenMillionTermsIsAsGoodAsTheirSum:Linalg.EinsumOfTheAxesBetweenDots"),
    (15, "one variable limits all vectors, and no bit goes by their width",
     {"autodiff_tests": "VectorBits.AllOperationsGiveTheSameBitsAtBothWidths", "electromagnetics_tests": "YeeWidths.StepsGiveTheSameBitsAtBothWidths",
      "molecular_tests": "VectorWidths.ForcesAreTheSameBitsAtBothWidths", "apps_tests": "Command.VectorsAreHeldByTheEnvironment"}),
    (16, "rows, columns and members of products and transforms have the bits that they have alone; a planned call allocates for its leaves alone",
     "OrderedProducts.RowsAndColumnsHaveTheBitsThatTheyHaveAlone:OrderedProducts.AMemberOfAStackHasTheBitsThatItHasAlone:"
     "OrderedTransforms.ALineHasTheBitsThatItHasAlone:Allocations.OfAPlannedCallDoNotGrowWithItsSteps:Allocations.OfAPlannedGradientAreTheListsOfItsHandles"),
)


def measure(work):
    holds, text = work.laws([(n, law, tests if isinstance(tests, dict) else {"autodiff_tests": tests}) for n, law, tests in LAWS])
    return holds, "\n".join(text)
