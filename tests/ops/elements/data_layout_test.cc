// Layout arguments: the axes that their names say.
#include "ops/elements/data_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "tests/support/data/test_tensor.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"
#include "tim/vx/types.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::Permutation;
using vx::DataLayout;

struct Named {
  DataLayout layout;
  std::string name;
};

const std::vector<Named> kAll = {
    {DataLayout::ANY, "ANY"},         {DataLayout::WHCN, "WHCN"},
    {DataLayout::CWHN, "CWHN"},       {DataLayout::IcWHOc, "IcWHOc"},
    {DataLayout::OcIcWH, "OcIcWH"},   {DataLayout::IcOcWH, "IcOcWH"},
    {DataLayout::WHIcOc, "WHIcOc"},   {DataLayout::WCN, "WCN"},
    {DataLayout::WIcOc, "WIcOc"},     {DataLayout::WHDCN, "WHDCN"},
    {DataLayout::WHDIcOc, "WHDIcOc"}, {DataLayout::CWHDN, "CWHDN"},
    {DataLayout::OcIcWHD, "OcIcWHD"},
};

// "IcWHOc" has the axes Ic, W, H and Oc.
std::vector<std::string> AxesOf(const std::string& name) {
  std::vector<std::string> out;
  for (const char letter : name) {
    if (std::islower(letter)) {
      out.back() += letter;
    } else {
      out.emplace_back(1, letter);
    }
  }
  return out;
}

// Where the axes of `to` are in `from`.
Permutation Between(const std::string& from, const std::string& to) {
  const auto axes = AxesOf(from);
  Permutation out;
  for (const std::string& axis : AxesOf(to)) {
    out.push_back(static_cast<int>(std::find(axes.begin(), axes.end(), axis) -
                                   axes.begin()));
  }
  return out;
}

using Take = Result<Permutation> (*)(const ir::TensorDesc&, const std::string&,
                                     ir::AttributeMap*);

// Operands of the rank of `usual`; layouts that are none of `honoured` change
// nothing.
void ExpectAxes(Take take, const std::vector<std::string>& honoured,
                const Named& usual) {
  const size_t rank = AxesOf(usual.name).size();
  const auto operand = Desc(DataType::kFloat32, std::vector<int64_t>(rank, 2));
  for (const auto& [layout, name] : kAll) {
    SCOPED_TRACE(name);
    ir::AttributeMap attributes = {{"layout", static_cast<int64_t>(layout)}};
    const auto axes = take(operand, "layout", &attributes);
    const bool counts =
        std::find(honoured.begin(), honoured.end(), name) != honoured.end();
    if (counts && AxesOf(name).size() != rank) {
      EXPECT_ERROR(axes, "attribute 'layout' is");
      continue;
    }
    ASSERT_OK(axes);
    EXPECT_EQ(*axes, counts ? Between(name, usual.name) : Permutation());
    EXPECT_EQ(attributes.Int("layout"),
              static_cast<int64_t>(counts ? usual.layout : layout));
  }
}

TEST(DataLayout, InputsHaveTheAxesOfTheName) {
  const std::vector<std::string> honoured = {"CWHN", "CWHDN"};
  ExpectAxes(ops::TakeDataLayout, honoured, {DataLayout::WHCN, "WHCN"});
  ExpectAxes(ops::TakeDataLayout, honoured, {DataLayout::WHDCN, "WHDCN"});
  ir::AttributeMap attributes = {{"layout", int64_t{2}}};
  const auto axes = ops::TakeDataLayout(Desc(DataType::kFloat32, {2, 4, 3}),
                                        "layout", &attributes);
  ASSERT_OK(axes);
  EXPECT_EQ(*axes, Between("CWH", "WHC"));
}

TEST(DataLayout, WeightsHaveTheAxesOfTheName) {
  const std::vector<std::string> honoured = {"IcWHOc", "OcIcWH", "IcOcWH",
                                             "OcIcWHD"};
  ExpectAxes(ops::TakeKernelLayout, honoured, {DataLayout::WHIcOc, "WHIcOc"});
  ExpectAxes(ops::TakeKernelLayout, honoured, {DataLayout::WHDIcOc, "WHDIcOc"});
}

TEST(DataLayout, Conv2dTakesImagesAndWeightsOfOtherLayouts) {
  const auto layout = [](DataLayout value) {
    return static_cast<int64_t>(value);
  };
  const auto f32 = Desc(DataType::kFloat32, {5, 5, 5, 5});
  const auto node =
      MakeNode("tim.Conv2d",
               {{"input_layout", layout(DataLayout::CWHN)},
                {"kernel_layout", layout(DataLayout::OcIcWH)}},
               {f32, f32, Desc(DataType::kFloat32, {5})}, {ir::TensorDesc()});
  ASSERT_OK(node);
  const ir::TensorDesc* inputs[] = {&node->input(0), &node->input(1),
                                    &node->input(2)};
  const ir::TensorDesc* outputs[] = {&node->output()};
  const auto answer =
      ir::NodeInDefaultLayout({node->graph.node(node->node), inputs, outputs});
  ASSERT_OK(answer);
  EXPECT_EQ(answer->inputs,
            (std::vector<Permutation>{{1, 2, 0, 3}, {2, 3, 1, 0}, {}}));
  EXPECT_EQ(answer->outputs, (std::vector<Permutation>{{1, 2, 0, 3}}));
  EXPECT_EQ(answer->attributes.Int("input_layout"), layout(DataLayout::WHCN));
  EXPECT_EQ(answer->attributes.Int("kernel_layout"),
            layout(DataLayout::WHIcOc));
}

TEST(DataLayout, Pool2dTakesImagesOfAnotherLayout) {
  const auto node =
      MakeNode("tim.Pool2d",
               {{"type", int64_t{0}},
                {"mode", "global"},
                {"input_size", std::vector<int64_t>{4, 4}},
                {"layout", static_cast<int64_t>(DataLayout::CWHN)}},
               {Desc(DataType::kFloat32, {4, 4, 4})}, {ir::TensorDesc()});
  ASSERT_OK(node);
  const ir::TensorDesc* inputs[] = {&node->input(0)};
  const ir::TensorDesc* outputs[] = {&node->output()};
  const auto answer =
      ir::NodeInDefaultLayout({node->graph.node(node->node), inputs, outputs});
  ASSERT_OK(answer);
  EXPECT_EQ(answer->inputs, (std::vector<Permutation>{{1, 2, 0}}));
  EXPECT_EQ(answer->outputs, answer->inputs);
}

}  // namespace
}  // namespace tim::testing
