// Makes a Part of a graph: one operator after the other adds its primitives.
#ifndef TIM_SAMPLES_PLUGINS_ONEDNN_PART_BUILDER_H_
#define TIM_SAMPLES_PLUGINS_ONEDNN_PART_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "part.h"

namespace tim {
namespace onednn {

/// The extents of a tensor as oneDNN counts them, the slowest first.
Dims DimsOf(const TimTensorDesc& desc);
std::int64_t ElementsOf(const Dims& dims);
/// float32, each dimension without gaps in the next slower one.
Desc Dense(const Dims& dims);
/// float32 in a format that the primitive chooses.
Desc AnyFormat(const Dims& dims);

/// A tensor in memory.
struct Form {
  int slot = -1;
  Desc desc;
};

/// Operators that follow a primitive and become part of it.
struct Epilogue {
  dnnl::primitive_attr attributes;
  std::int32_t result = -1;  ///< The value behind all of it.
  std::int32_t addend = -1;  ///< The value that is added; -1: none is.
};

class PartBuilder {
 public:
  PartBuilder(const dnnl::engine& engine, dnnl::stream& stream,
              const tim::plug::Graph& graph);

  /// Throws where some operator cannot be done, with its name and the reason.
  std::unique_ptr<Part> Build();

  // Functions of the operators.
  const dnnl::engine& engine() const { return engine_; }
  const tim::plug::Graph& graph() const { return graph_; }
  Dims DimsOfValue(std::int32_t value) const;

  /// The value as it was made.
  Form Made(std::int32_t value);
  /// The value in this format; steps that convert it are added, and constants
  /// are converted now.
  Form In(std::int32_t value, const Desc& wanted);
  /// The same where the value's dense elements are those of a tensor of other
  /// extents, which `view` describes.
  Form In(std::int32_t value, const Desc& view, const Desc& wanted);

  /// Operators that follow `node`, activations and an addition, as far as its
  /// primitive can do them: they are not added again.
  Epilogue TakeEpilogue(const tim::plug::Node& node);
  /// Attributes of a primitive that nothing follows.
  static dnnl::primitive_attr NoEpilogue();

  /// Memory for what the primitive writes: that of the addend, which is then in
  /// this format, where there is one.
  int SlotFor(const Epilogue& epilogue, const Desc& desc);
  int NewSlot(const Desc& desc);
  /// The value's own memory where a step may write its result there.
  int SlotInPlace(std::int32_t value, const Form& form);
  void Add(const dnnl::primitive& primitive,
           const dnnl::primitive_desc_base& described,
           std::vector<Operand> operands);
  /// The value is what a step wrote.
  void Define(std::int32_t value, const Form& form);
  /// The value is another one with other extents.
  void DefineView(std::int32_t value, const Form& form);

 private:
  struct Value {
    bool is_output = false;
    int uses = 0;     // by operators that are not added yet
    int user = -1;    // the node that uses it, where it is one
    int readers = 0;  // nodes that use it, in all
    Form form;
  };

  void CountUses();
  void AddNode(int index);
  void StoreOutputs();
  Form ConstantForm(std::int32_t value);
  Form Converted(const Form& from, const Desc& wanted);
  Slot& slot(int index) { return slots_[static_cast<std::size_t>(index)]; }
  int AddSlot(Slot::Place place, std::size_t index, std::size_t bytes);
  int Follower(std::int32_t value) const;
  bool TakeActivation(int index, Epilogue* epilogue,
                      dnnl::post_ops* operations);
  bool TakeAddition(int index, Epilogue* epilogue, dnnl::post_ops* operations);

  const dnnl::engine& engine_;
  dnnl::stream& stream_;
  const tim::plug::Graph& graph_;
  std::map<std::int32_t, Value> values_;
  std::set<int> added_;     // nodes
  std::vector<int> taken_;  // nodes of the epilogue of the one being added
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<Bytes> constants_;
};

}  // namespace onednn
}  // namespace tim

#endif  // TIM_SAMPLES_PLUGINS_ONEDNN_PART_BUILDER_H_
