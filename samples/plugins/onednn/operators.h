// Operators that oneDNN computes: which nodes it takes, and the primitives
// that they become.
#ifndef TIM_SAMPLES_PLUGINS_ONEDNN_OPERATORS_H_
#define TIM_SAMPLES_PLUGINS_ONEDNN_OPERATORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "part_builder.h"

namespace tim {
namespace onednn {

/// A function of single elements.
struct Activation {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

struct Operator {
  const char* name;
  /// The first inputs that are read, which are float32; 0: all.
  std::uint32_t inputs;
  /// The reason why it does not take a node; empty: it does.  Null: it takes
  /// all whose operands are float32.
  std::string (*refusal)(const tim::plug::Node&);
  void (*add)(const tim::plug::Node&, PartBuilder*);
  /// The functions, one behind the other, of operators that are nothing else;
  /// null: it is something else.
  std::vector<Activation> (*activation)(const tim::plug::Node&);
};

/// Operators by what they have in common.
std::vector<Operator> Products();     // products.cc
std::vector<Operator> Elementwise();  // elementwise.cc
std::vector<Operator> Windows();      // pooling.cc
std::vector<Operator> Movements();    // movement.cc

/// Null: there is none of the name.
const Operator* FindOperator(const std::string& name);

/// The reason why a node is not taken, in words for users; empty: it is.
std::string RefusalOf(const tim::plug::Node& node);

/// `axis`, which counts from the fastest dimension, from the end where it is
/// negative, among dims of `rank` that begin with the slowest; -1: outside.
int AxisOf(std::int64_t axis, std::int32_t rank);

/// Windows along one axis.
struct Window {
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t output = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t front = 0;  ///< Padding before the first element.
  std::int64_t back = 0;   ///< Padding as the attributes say.

  std::int64_t Span() const { return (kernel - 1) * dilation + 1; }
  /// Padding behind the last element, up to where the last window ends.
  std::int64_t End() const;
  /// oneDNN finds as many windows as the output has.
  bool Fits() const;
};

/// Padding along W (axis 0) or H (axis 1), of the attributes `padding` and
/// `pad`.
void SetPadding(const tim::plug::Node& node, int axis, Window* window);

}  // namespace onednn
}  // namespace tim

#endif  // TIM_SAMPLES_PLUGINS_ONEDNN_OPERATORS_H_
