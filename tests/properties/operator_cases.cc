#include "tests/properties/operator_cases.h"

#include <algorithm>
#include <ostream>

namespace tim::testing {
namespace {

std::vector<void (*)(CaseList&)>& Registrations() {
  static auto* const registrations = new std::vector<void (*)(CaseList&)>();
  return *registrations;
}

}  // namespace

void PrintTo(const OperatorCases& cases, std::ostream* out) {
  *out << cases.op;
}

CaseRegistration::CaseRegistration(void (*add)(CaseList&)) {
  Registrations().push_back(add);
}

const std::vector<OperatorCases>& AllCases() {
  static const auto* const all = [] {
    CaseList list;
    for (const auto add : Registrations()) add(list);
    auto* sorted = new std::vector<OperatorCases>(list.all());
    std::sort(sorted->begin(), sorted->end(),
              [](const OperatorCases& a, const OperatorCases& b) {
                return a.op < b.op;
              });
    return sorted;
  }();
  return *all;
}

std::function<double(const NodeCase&)> FlopsPerElement(double per_element) {
  return [per_element](const NodeCase& node) {
    return per_element *
           static_cast<double>(*node.outputs[0].shape.NumElements());
  };
}

Tolerance ToleranceOf(const ir::TensorDesc& desc, Tolerance tolerance) {
  if (tolerance.absolute == 0 && tolerance.relative == 0) return tolerance;
  if (desc.type == ir::DataType::kFloat16) {
    tolerance.absolute += 0x1p-24;
    tolerance.relative += 0x1p-10;
  } else if (desc.type == ir::DataType::kBFloat16) {
    tolerance.relative += 0x1p-7;
  }
  return tolerance;
}

}  // namespace tim::testing
