// Activations of recurrent layers: their names, parameters and operations.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/recurrent/recurrent.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;

struct ActivationRow {
  const char* name;
  bool has_alpha;
  bool has_beta;
  float alpha;  ///< NaN: it must be given.
  float beta;
};

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Rows by ActivationKind.
constexpr std::array<ActivationRow, 11> kRows = {{
    {"Relu", false, false, 0, 0},
    {"Tanh", false, false, 0, 0},
    {"Sigmoid", false, false, 0, 0},
    {"Affine", true, true, kNone, kNone},
    {"LeakyRelu", true, false, 0.01f, 0},
    {"ThresholdedRelu", true, false, 1, 0},
    {"ScaledTanh", true, true, kNone, kNone},
    {"HardSigmoid", true, true, 0.2f, 0.5f},
    {"Elu", true, false, 1, 0},
    {"Softsign", false, false, 0, 0},
    {"Softplus", false, false, 0, 0},
}};

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return AsciiLower(x) == AsciiLower(y);
  });
}

Result<ActivationKind> KindOf(const std::string& name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (EqualsIgnoringCase(kRows[i].name, name)) {
      return static_cast<ActivationKind>(i);
    }
  }
  return Unimplemented("attribute 'activations' has '", name, "'");
}

/// The next of `given`, or `otherwise` where there is none.
Result<float> Next(const std::vector<float>& given, size_t* at, float otherwise,
                   const char* attribute, const char* name) {
  const float value = *at < given.size() ? given[(*at)++] : otherwise;
  if (!std::isnan(value)) return value;
  return InvalidArgument("attribute '", attribute, "' has no number for ",
                         name);
}

}  // namespace

Result<std::vector<Activation>> ActivationsOf(
    const Node& node, const std::vector<ActivationKind>& defaults,
    int directions) {
  TIM_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                       node.Texts("activations"));
  TIM_ASSIGN_OR_RETURN(const std::vector<float> alphas,
                       node.FloatList("activation_alpha"));
  TIM_ASSIGN_OR_RETURN(const std::vector<float> betas,
                       node.FloatList("activation_beta"));
  const size_t count = defaults.size() * directions;
  if (!names.empty() && names.size() != count) {
    return InvalidArgument("attribute 'activations' has ", names.size(),
                           " names, expected ", count);
  }
  std::vector<Activation> made;
  size_t alpha = 0;
  size_t beta = 0;
  for (size_t i = 0; i < count; ++i) {
    Activation activation;
    activation.kind = defaults[i % defaults.size()];
    if (!names.empty()) {
      TIM_ASSIGN_OR_RETURN(activation.kind, KindOf(names[i]));
    }
    const ActivationRow& row = kRows[static_cast<size_t>(activation.kind)];
    if (row.has_alpha) {
      TIM_ASSIGN_OR_RETURN(
          activation.alpha,
          Next(alphas, &alpha, row.alpha, "activation_alpha", row.name));
    }
    if (row.has_beta) {
      TIM_ASSIGN_OR_RETURN(activation.beta, Next(betas, &beta, row.beta,
                                                 "activation_beta", row.name));
    }
    made.push_back(activation);
  }
  if (alpha != alphas.size() || beta != betas.size()) {
    const bool is_alpha = alpha != alphas.size();
    return InvalidArgument(
        "attribute '", is_alpha ? "activation_alpha" : "activation_beta",
        "' has ", is_alpha ? alphas.size() : betas.size(),
        " numbers; the activations take ", is_alpha ? alpha : beta);
  }
  return made;
}

Result<Value> Activated(Node& node, const Activation& activation,
                        const Value& x) {
  const float alpha = activation.alpha;
  const float beta = activation.beta;
  switch (activation.kind) {
    case ActivationKind::kRelu:
      return Pointwise<ops::Relu>(node, x, x.type);
    case ActivationKind::kTanh:
      return Pointwise<ops::Tanh>(node, x, x.type);
    case ActivationKind::kSigmoid:
      return Pointwise<ops::Sigmoid>(node, x, x.type);
    case ActivationKind::kAffine:
      return Pointwise<ops::Linear>(node, x, x.type, alpha, beta);
    case ActivationKind::kLeakyRelu:
      return Pointwise<ops::LeakyRelu>(node, x, x.type, alpha);
    case ActivationKind::kThresholdedRelu: {
      TIM_ASSIGN_OR_RETURN(
          Value passes, Broadcasting<ops::GreaterOrEqual>(
                            node, x, Scalar(node, alpha), vx::DataType::BOOL8));
      return node.builder->Add<ops::Select>({passes, x, Scalar(node, 0)},
                                            Wanted::Of(x.type, x.dims));
    }
    case ActivationKind::kScaledTanh: {
      TIM_ASSIGN_OR_RETURN(Value scaled,
                           Pointwise<ops::Linear>(node, x, x.type, beta, 0.0f));
      TIM_ASSIGN_OR_RETURN(scaled, Pointwise<ops::Tanh>(node, scaled, x.type));
      return Pointwise<ops::Linear>(node, scaled, x.type, alpha, 0.0f);
    }
    case ActivationKind::kHardSigmoid:
      return Pointwise<ops::HardSigmoid>(node, x, x.type, alpha, beta);
    case ActivationKind::kElu:
      return Pointwise<ops::Elu>(node, x, x.type, alpha);
    case ActivationKind::kSoftsign:
      return Pointwise<ops::SoftSign>(node, x, x.type);
    case ActivationKind::kSoftplus:
      return Pointwise<ops::SoftRelu>(node, x, x.type);
  }
  return TIM_INTERNAL("activation of no kind");
}

}  // namespace tim::models::onnx
