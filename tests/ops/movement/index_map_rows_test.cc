// Rows of index maps that have ways of their own: few elements again and again,
// elements that are 2 or more apart, and rows from their end.
#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kUint8,
                               DataType::kFloat16, DataType::kInt64};

void Check(const std::string& op, const ir::AttributeMap& attributes,
           DataType type, const Ints& from, const Ints& to) {
  const auto node =
      MakeNode(op, attributes, {Desc(type, from)}, {Desc(type, to)});
  ASSERT_OK(node);
  std::mt19937 rng(29);
  EXPECT_OK(CheckKernels(*node, rng)) << op << " " << StrJoin(from, ", ");
}

TEST(IndexMapRows, FewElementsAgainAndAgain) {
  for (const DataType type : kTypes) {
    for (const int64_t few : {2, 3, 7, 15}) {
      for (const int64_t times : {127, 128, 1500}) {
        Check("tim.Tile", {{"multiples", Ints{times, 1}}}, type, {few, 3},
              {few * times, 3});
      }
    }
  }
}

TEST(IndexMapRows, ElementsThatAreApart) {
  for (const DataType type : kTypes) {
    for (const int64_t step : {2, 3, 5}) {
      for (const int64_t taken : {15, 16, 37, 64}) {
        const int64_t length = (taken - 1) * step + 1;
        Check("tim.Slice",
              {{"dims", int64_t{0}},
               {"start", Ints{1, 0}},
               {"length", Ints{length, 2}},
               {"step", Ints{step, 1}}},
              type, {length + 1, 2}, {taken, 2});
      }
    }
  }
}

TEST(IndexMapRows, FromTheirEnd) {
  for (const DataType type : kTypes) {
    for (const int64_t row : {15, 16, 37, 2000}) {
      Check("tim.Reverse", {{"axis", Ints{0}}}, type, {row, 3}, {row, 3});
    }
  }
}

}  // namespace
}  // namespace tim::testing
