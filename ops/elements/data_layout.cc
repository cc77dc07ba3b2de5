#include "ops/elements/data_layout.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tim::ops {
namespace {

constexpr const char* kNames[] = {
    "ANY", "WHCN",  "CWHN",  "IcWHOc",  "OcIcWH", "IcOcWH", "WHIcOc",
    "WCN", "WIcOc", "WHDCN", "WHDIcOc", "CWHDN",  "OcIcWHD"};

// A layout of operands of one rank, and the default of that rank.
struct Layout {
  DataLayout layout;
  DataLayout usual;
  ir::Permutation axes;
};

std::vector<Layout> DataLayouts() {
  return {{DataLayout::kCwhn, DataLayout::kWhcn, {1, 2, 0}},
          {DataLayout::kCwhn, DataLayout::kWhcn, {1, 2, 0, 3}},
          {DataLayout::kCwhdn, DataLayout::kWhdcn, {1, 2, 3, 0, 4}}};
}

std::vector<Layout> KernelLayouts() {
  return {{DataLayout::kIcWhOc, DataLayout::kWhIcOc, {1, 2, 0, 3}},
          {DataLayout::kOcIcWh, DataLayout::kWhIcOc, {2, 3, 1, 0}},
          {DataLayout::kIcOcWh, DataLayout::kWhIcOc, {2, 3, 0, 1}},
          {DataLayout::kOcIcWhd, DataLayout::kWhdIcOc, {2, 3, 4, 1, 0}}};
}

Result<ir::Permutation> Take(std::span<const Layout> layouts,
                             const ir::TensorDesc& operand,
                             const std::string& name,
                             ir::AttributeMap* attributes) {
  const auto layout = static_cast<DataLayout>(attributes->Int(name));
  bool is_known = false;
  for (const Layout& row : layouts) {
    if (row.layout != layout) continue;
    is_known = true;
    if (static_cast<int>(row.axes.size()) != operand.shape.rank()) continue;
    attributes->Set(name, static_cast<int64_t>(row.usual));
    return row.axes;
  }
  if (!is_known) return ir::Permutation();
  return InvalidArgument("attribute '", name, "' is ", attributes->Int(name),
                         ", a layout of another rank than its operand ",
                         operand.shape.ToString());
}

}  // namespace

ir::AttributeSpec DataLayoutSpec(std::string name, DataLayout usual) {
  ir::AttributeSpec spec{.name = std::move(name),
                         .type = ir::AttributeType::kInt,
                         .default_value = static_cast<int64_t>(usual)};
  for (const char* layout : kNames) {
    spec.values.emplace_back(layout, std::ssize(spec.values));
  }
  return spec;
}

std::vector<std::string> IdleLayouts(const ir::NodeView& view) {
  std::vector<std::string> doubts;
  for (const std::string name : {"layout", "input_layout", "kernel_layout"}) {
    const ir::Attribute* attribute = view.node.attributes.Find(name);
    if (attribute == nullptr) continue;
    const auto value = std::get<int64_t>(*attribute);
    const auto names = [&](const Layout& row) {
      return value == static_cast<int64_t>(row.layout);
    };
    const std::vector<Layout> data = DataLayouts(), kernels = KernelLayouts();
    if (std::none_of(data.begin(), data.end(), names) &&
        std::none_of(kernels.begin(), kernels.end(), names)) {
      continue;
    }
    doubts.push_back(StrCat(
        "attribute '", name, "' is ", kNames[value],
        ", which has no effect on ", view.node.schema->name,
        ", nor in tim::transform::LayoutInference(): W is the first axis, and "
        "channels follow the spatial axes; add a Transpose"));
  }
  return doubts;
}

Result<ir::Permutation> TakeDataLayout(const ir::TensorDesc& operand,
                                       const std::string& name,
                                       ir::AttributeMap* attributes) {
  return Take(DataLayouts(), operand, name, attributes);
}

Result<ir::Permutation> TakeKernelLayout(const ir::TensorDesc& operand,
                                         const std::string& name,
                                         ir::AttributeMap* attributes) {
  return Take(KernelLayouts(), operand, name, attributes);
}

ir::LayoutRule DataLayoutRule(std::string name) {
  return [name = std::move(name)](
             const ir::NodeView& view) -> Result<ir::PermutedNode> {
    ir::PermutedNode out = ir::UnpermutedNode(view);
    TIM_ASSIGN_OR_RETURN(
        out.inputs[0], TakeDataLayout(*view.inputs[0], name, &out.attributes));
    out.outputs[0] = out.inputs[0];
    return out;
  };
}

void SwapWidthAndHeight(const std::vector<std::string>& names,
                        ir::AttributeMap* attributes) {
  for (const std::string& name : names) {
    if (attributes->Find(name) == nullptr) continue;
    const std::vector<int64_t> old = attributes->Ints(name);
    if (old.size() == 2) {
      attributes->Set(name, std::vector<int64_t>{old[1], old[0]});
    } else if (old.size() == 4) {
      attributes->Set(name,
                      std::vector<int64_t>{old[2], old[3], old[0], old[1]});
    }
  }
}

}  // namespace tim::ops
