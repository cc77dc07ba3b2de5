// Every property over every operator that the program has a description of.
#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/properties/properties.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

class Properties : public ::testing::TestWithParam<OperatorCases> {
 protected:
  Described described() const { return {GetParam(), ops::BuiltinOperators()}; }
  Status Check(Property property) const {
    return CheckNodes(described(), property, NodesOfThisRun());
  }
  Status CheckWithPrograms(Property property) const {
    return CheckNodes(described(), property, NodesWithPrograms());
  }
};

TEST_P(Properties, ShapesAgree) { EXPECT_OK(Check(ShapesAgree)); }
TEST_P(Properties, UnknownShapesAgree) { EXPECT_OK(Check(UnknownShapesAgree)); }
TEST_P(Properties, EvalWritesItsOutputs) {
  EXPECT_OK(Check(EvalWritesItsOutputs));
}
TEST_P(Properties, KernelsAgree) { EXPECT_OK(CheckWithPrograms(KernelsAgree)); }
TEST_P(Properties, InPlaceAgrees) {
  EXPECT_OK(CheckWithPrograms(InPlaceAgrees));
}
TEST_P(Properties, EstimatesAgree) { EXPECT_OK(Check(EstimatesAgree)); }
TEST_P(Properties, PermutedNodeAgrees) { EXPECT_OK(Check(PermutedNodeAgrees)); }
TEST_P(Properties, LayoutsAgree) { EXPECT_OK(Check(LayoutsAgree)); }
TEST_P(Properties, ViewsAgree) { EXPECT_OK(Check(ViewsAgree)); }
TEST_P(Properties, PiecesAgree) { EXPECT_OK(Check(PiecesAgree)); }
TEST_P(Properties, CopiesAgree) { EXPECT_OK(Check(CopiesAgree)); }
TEST_P(Properties, SurplusInputsAreDropped) {
  EXPECT_OK(Check(SurplusInputsAreDropped));
}
TEST_P(Properties, IllegalNodesAreRefused) {
  EXPECT_OK(IllegalNodesAreRefused(described()));
}
TEST_P(Properties, ShellsAgree) { EXPECT_OK(ShellsAgree(described())); }

// "tim.Add" as a test's name may have it.
std::string NameOf(const ::testing::TestParamInfo<OperatorCases>& info) {
  return info.param.op.substr(info.param.op.find('.') + 1);
}

INSTANTIATE_TEST_SUITE_P(Operators, Properties, ::testing::ValuesIn(AllCases()),
                         NameOf);

}  // namespace
}  // namespace tim::testing
