// One node of an ONNX model while it becomes operations.
#ifndef TIM_MODELS_ONNX_NODE_H_
#define TIM_MODELS_ONNX_NODE_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"

namespace tim::models::onnx {

/// An attribute of a node; subgraphs stay with the importer.
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>, HostArray>;

/// A node, its operands and where its operations go.  Functions that take an
/// operator read it, add operations by builder() and set all outputs that the
/// node has; a failure names the attribute or operand and why.
class Node {
 public:
  std::string name;
  std::string op;      ///< "Conv"
  std::string domain;  ///< Empty for ai.onnx.
  int opset = 0;       ///< Version of `domain` that the model uses.
  std::map<std::string, Attribute> attributes;
  std::vector<Value> inputs;
  std::vector<Value> outputs;  ///< Set by the operator's function.
  /// Whether output i has a name, that is, somebody may read it.
  std::vector<bool> wanted_outputs;
  GraphBuilder* builder = nullptr;
  std::vector<std::string>* warnings = nullptr;

  bool Has(size_t input) const {
    return input < inputs.size() && !inputs[input].IsAbsent();
  }
  bool Wants(size_t output) const {
    return output < wanted_outputs.size() && wanted_outputs[output];
  }
  bool HasAttribute(const std::string& attribute) const {
    return attributes.count(attribute) != 0;
  }
  /// The attribute, or `otherwise` where the node has none; fails where its
  /// type is another one.
  Result<int64_t> Int(const std::string& attribute, int64_t otherwise) const;
  Result<float> Float(const std::string& attribute, float otherwise) const;
  Result<std::string> Text(const std::string& attribute,
                           const std::string& otherwise) const;
  Result<std::vector<int64_t>> Ints(
      const std::string& attribute,
      const std::vector<int64_t>& otherwise = {}) const;
  Result<std::vector<float>> FloatList(
      const std::string& attribute,
      const std::vector<float>& otherwise = {}) const;
  Result<std::vector<std::string>> Texts(const std::string& attribute) const;

  /// Operand `input`, which the operator needs at import: its integers or
  /// floats.  Fails, saying so, where it is absent or is not known yet.
  Result<std::vector<int64_t>> ConstantInts(size_t input) const;
  Result<std::vector<float>> ConstantFloats(size_t input) const;
  /// Attribute up to the opset before `since`, operand `input` from then on;
  /// `otherwise` where there is neither.
  Result<std::vector<int64_t>> IntsSince(
      int since, size_t input, const std::string& attribute,
      const std::vector<int64_t>& otherwise) const;
  /// The attribute `attribute` as an axis of a tensor of `rank`.
  Result<int> Axis(const std::string& attribute, int64_t otherwise,
                   int rank) const;

  /// Sets output `index` to `made`, or returns its failure.
  Status SetOutput(size_t index, Result<Value> made);
};

/// Turns a node into operations.
using NodeFunction = Status (*)(Node& node);

/// Operators by name, filled by the functions of operator_families.h.
class OperatorTable {
 public:
  /// \param domain empty for ai.onnx.  \param first opset from which on
  ///     `function` reads the operator right; earlier ones are refused.
  void Add(const std::string& domain, const std::string& op, int first,
           NodeFunction function);
  struct Entry {
    int first = 1;
    NodeFunction function = nullptr;
  };
  /// Null where there is none.
  const Entry* Find(const std::string& domain, const std::string& op) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;  ///< By "domain.op".
};

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_NODE_H_
