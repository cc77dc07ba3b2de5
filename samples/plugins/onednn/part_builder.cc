// Follows values from operator to operator, in the formats that their
// primitives choose.
#include "part_builder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "operators.h"

namespace tim {
namespace onednn {

using tim::plug::Error;
using tim::plug::Node;

Dims DimsOf(const TimTensorDesc& desc) {
  return Dims(std::reverse_iterator<const std::int64_t*>(desc.dims + desc.rank),
              std::reverse_iterator<const std::int64_t*>(desc.dims));
}

std::int64_t ElementsOf(const Dims& dims) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : dims) elements *= extent;
  return elements;
}

Desc Dense(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * dims[i];
  }
  return Desc(dims, dnnl::memory::data_type::f32, strides);
}

Desc AnyFormat(const Dims& dims) {
  return Desc(dims, dnnl::memory::data_type::f32,
              dnnl::memory::format_tag::any);
}

PartBuilder::PartBuilder(const dnnl::engine& engine, dnnl::stream& stream,
                         const tim::plug::Graph& graph)
    : engine_(engine), stream_(stream), graph_(graph) {}

std::unique_ptr<Part> PartBuilder::Build() {
  const auto inputs = graph_.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Desc dense = Dense(DimsOfValue(inputs[i]));
    const int index = AddSlot(Slot::Place::kInput, i, dense.get_size());
    slot(index).shared = true;
    values_[inputs[i]].form = {index, dense};
  }
  for (const std::int32_t value : graph_.outputs()) {
    values_[value].is_output = true;
  }
  CountUses();
  for (std::uint32_t i = 0; i < graph_.nodes(); ++i) {
    if (added_.count(static_cast<int>(i)) == 0) AddNode(static_cast<int>(i));
  }
  StoreOutputs();
  return std::unique_ptr<Part>(new Part(
      engine_, std::move(slots_), std::move(steps_), std::move(constants_)));
}

void PartBuilder::CountUses() {
  for (std::uint32_t i = 0; i < graph_.nodes(); ++i) {
    const Node node = graph_.node(i);
    for (std::uint32_t k = 0; k < node.inputs(); ++k) {
      const std::int32_t id = graph_.input_of(node, k);
      if (id < 0) continue;
      Value& value = values_[id];
      ++value.uses;
      ++value.readers;
      value.user = static_cast<int>(i);
    }
  }
}

void PartBuilder::AddNode(int index) {
  const Node node = graph_.node(static_cast<std::uint32_t>(index));
  const std::string reason = RefusalOf(node);
  if (!reason.empty()) {
    throw Error(TIM_UNIMPLEMENTED,
                node.name() + " (" + node.op() + "): " + reason);
  }
  taken_ = {index};
  try {
    FindOperator(node.op())->add(node, this);
  } catch (const dnnl::error& error) {
    throw Error(TIM_UNIMPLEMENTED,
                node.name() + " (" + node.op() + "): oneDNN: " + error.what());
  }
  for (const int taken : taken_) {
    added_.insert(taken);
    const Node one = graph_.node(static_cast<std::uint32_t>(taken));
    for (std::uint32_t k = 0; k < one.inputs(); ++k) {
      const std::int32_t id = graph_.input_of(one, k);
      if (id >= 0) --values_[id].uses;
    }
  }
}

// A dense result is written to the caller's memory at once, where only one
// output has it; others are copied there.
void PartBuilder::StoreOutputs() {
  const auto outputs = graph_.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Desc dense = Dense(DimsOfValue(outputs[i]));
    const Form made = Made(outputs[i]);
    Slot& from = slot(made.slot);
    if (from.place == Slot::Place::kWorkspace && !from.shared &&
        made.desc.get_size() == dense.get_size() && made.desc == dense) {
      from.place = Slot::Place::kOutput;
      from.index = i;
      from.shared = true;
      continue;
    }
    const int to = AddSlot(Slot::Place::kOutput, i, dense.get_size());
    const dnnl::reorder::primitive_desc reorder(engine_, made.desc, engine_,
                                                dense, NoEpilogue());
    Add(dnnl::reorder(reorder), reorder,
        {{DNNL_ARG_FROM, made.slot, made.desc}, {DNNL_ARG_TO, to, dense}});
  }
}

Dims PartBuilder::DimsOfValue(std::int32_t value) const {
  return DimsOf(*graph_.value(value));
}

int PartBuilder::AddSlot(Slot::Place place, std::size_t index,
                         std::size_t bytes) {
  Slot made;
  made.place = place;
  made.index = index;
  made.bytes = bytes;
  slots_.push_back(made);
  return static_cast<int>(slots_.size()) - 1;
}

int PartBuilder::NewSlot(const Desc& desc) {
  return AddSlot(Slot::Place::kWorkspace, 0, desc.get_size());
}

Form PartBuilder::ConstantForm(std::int32_t value) {
  const TimBytes bytes = graph_.constant(value);
  const Desc dense = Dense(DimsOfValue(value));
  if (bytes.data == nullptr || bytes.bytes != dense.get_size()) {
    throw Error(TIM_INVALID_ARGUMENT, "value " + std::to_string(value) +
                                          " is neither made nor constant");
  }
  constants_.emplace_back(dense.get_size());
  std::memcpy(constants_.back().data(), bytes.data, dense.get_size());
  const int index =
      AddSlot(Slot::Place::kConstant, constants_.size() - 1, dense.get_size());
  slot(index).shared = true;
  return {index, dense};
}

Form PartBuilder::Made(std::int32_t value) {
  Form& form = values_[value].form;
  if (form.slot < 0) form = ConstantForm(value);
  return form;
}

Form PartBuilder::Converted(const Form& from, const Desc& wanted) {
  if (from.desc == wanted) return from;
  const dnnl::reorder::primitive_desc described(engine_, from.desc, engine_,
                                                wanted, NoEpilogue());
  const Slot& source = slot(from.slot);
  if (source.place == Slot::Place::kConstant) {
    Bytes made(wanted.get_size());
    Bytes scratch(described.scratchpad_desc().get_size());
    const dnnl::memory memory(from.desc, engine_,
                              constants_[source.index].data());
    const dnnl::memory result(wanted, engine_, made.data());
    const dnnl::memory room(described.scratchpad_desc(), engine_,
                            scratch.data());
    dnnl::reorder(described).execute(stream_, {{DNNL_ARG_FROM, memory},
                                               {DNNL_ARG_TO, result},
                                               {DNNL_ARG_SCRATCHPAD, room}});
    stream_.wait();
    constants_.push_back(std::move(made));
    const int index = AddSlot(Slot::Place::kConstant, constants_.size() - 1,
                              wanted.get_size());
    slot(index).shared = true;
    return {index, wanted};
  }
  const int to = NewSlot(wanted);
  Add(dnnl::reorder(described), described,
      {{DNNL_ARG_FROM, from.slot, from.desc}, {DNNL_ARG_TO, to, wanted}});
  return {to, wanted};
}

Form PartBuilder::In(std::int32_t value, const Desc& wanted) {
  return Converted(Made(value), wanted);
}

Form PartBuilder::In(std::int32_t value, const Desc& view, const Desc& wanted) {
  const Form dense = In(value, Dense(DimsOfValue(value)));
  return Converted({dense.slot, view}, wanted);
}

dnnl::primitive_attr PartBuilder::NoEpilogue() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// The only node that reads the value; -1: there is none.
int PartBuilder::Follower(std::int32_t value) const {
  const auto found = values_.find(value);
  if (found == values_.end() || found->second.is_output ||
      found->second.readers != 1 || added_.count(found->second.user) != 0) {
    return -1;
  }
  return found->second.user;
}

bool PartBuilder::TakeActivation(int index, Epilogue* epilogue,
                                 dnnl::post_ops* operations) {
  const Node node = graph_.node(static_cast<std::uint32_t>(index));
  const Operator* const op = FindOperator(node.op());
  if (op == nullptr || op->activation == nullptr || !RefusalOf(node).empty()) {
    return false;
  }
  for (const Activation& one : op->activation(node)) {
    operations->append_eltwise(1.0f, one.algorithm, one.alpha, one.beta);
  }
  epilogue->result = graph_.output_of(node, 0);
  taken_.push_back(index);
  return true;
}

// A sum of the result and another tensor of its extents, which is there.
bool PartBuilder::TakeAddition(int index, Epilogue* epilogue,
                               dnnl::post_ops* operations) {
  const Node node = graph_.node(static_cast<std::uint32_t>(index));
  if (node.op() != "tim.Add" || !RefusalOf(node).empty()) return false;
  const std::int32_t a = graph_.input_of(node, 0);
  const std::int32_t b = graph_.input_of(node, 1);
  const std::int32_t other = a == epilogue->result ? b : a;
  const Dims dims = DimsOfValue(epilogue->result);
  const bool is_there =
      values_[other].form.slot >= 0 || graph_.constant(other).data != nullptr;
  if (!is_there || DimsOfValue(other) != dims ||
      DimsOfValue(graph_.output_of(node, 0)) != dims) {
    return false;
  }
  operations->append_sum();
  epilogue->addend = other;
  epilogue->result = graph_.output_of(node, 0);
  taken_.push_back(index);
  return true;
}

// Primitives of all kinds of processors do a sum and then an activation.
Epilogue PartBuilder::TakeEpilogue(const Node& node) {
  Epilogue epilogue;
  dnnl::post_ops operations;
  epilogue.result = graph_.output_of(node, 0);
  int next = Follower(epilogue.result);
  if (next >= 0 && TakeAddition(next, &epilogue, &operations)) {
    next = Follower(epilogue.result);
  }
  if (next >= 0) TakeActivation(next, &epilogue, &operations);
  epilogue.attributes = NoEpilogue();
  epilogue.attributes.set_post_ops(operations);
  return epilogue;
}

int PartBuilder::SlotInPlace(std::int32_t value, const Form& form) {
  const Value& found = values_[value];
  const Slot& own = slot(form.slot);
  const bool is_free = !found.is_output && found.uses == 1 && !own.shared &&
                       own.place == Slot::Place::kWorkspace;
  return is_free ? form.slot : NewSlot(form.desc);
}

int PartBuilder::SlotFor(const Epilogue& epilogue, const Desc& desc) {
  if (epilogue.addend < 0) return NewSlot(desc);
  const Form made = Made(epilogue.addend);
  // A dense tensor may have other extents here.
  const bool same =
      made.desc == desc || (made.desc == Dense(DimsOfValue(epilogue.addend)) &&
                            desc == Dense(desc.dims()));
  if (same && SlotInPlace(epilogue.addend, made) == made.slot) {
    return made.slot;
  }
  const Desc view = same ? desc : made.desc;
  const int to = NewSlot(desc);
  const dnnl::reorder::primitive_desc copy(engine_, view, engine_, desc,
                                           NoEpilogue());
  Add(dnnl::reorder(copy), copy,
      {{DNNL_ARG_FROM, made.slot, view}, {DNNL_ARG_TO, to, desc}});
  return to;
}

void PartBuilder::Add(const dnnl::primitive& primitive,
                      const dnnl::primitive_desc_base& described,
                      std::vector<Operand> operands) {
  const Desc scratch = described.scratchpad_desc();
  if (scratch.get_size() > 0) {
    operands.push_back({DNNL_ARG_SCRATCHPAD, NewSlot(scratch), scratch});
  }
  steps_.push_back({primitive, std::move(operands)});
}

void PartBuilder::Define(std::int32_t value, const Form& form) {
  values_[value].form = form;
}

void PartBuilder::DefineView(std::int32_t value, const Form& form) {
  slot(form.slot).shared = true;
  values_[value].form = form;
}

}  // namespace onednn
}  // namespace tim
