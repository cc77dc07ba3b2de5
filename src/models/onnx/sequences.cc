// Sequences and optionals of ONNX whose elements are known one by one when the
// model is read.
#include <algorithm>
#include <utility>

#include "models/onnx/importer.h"

namespace tim::models::onnx {
namespace {

constexpr size_t kMostElements = 4096;

using Sequence = std::vector<Value>;

Known KnownSequence(Sequence sequence) {
  Known known;
  known.sequence = std::make_shared<const Sequence>(std::move(sequence));
  return known;
}

Result<const Sequence*> SequenceOf(const Call& call) {
  if (call.operands.empty() || call.operands[0].sequence == nullptr) {
    return InvalidArgument("operand 0 is no sequence");
  }
  return call.operands[0].sequence.get();
}

// A constant operand of one element; `otherwise` where it is absent.
Result<int64_t> IntegerOf(const Call& call, size_t operand, int64_t otherwise) {
  if (operand >= call.operands.size()) return otherwise;
  const Value& value = call.operands[operand].value;
  if (value.IsAbsent()) return otherwise;
  if (value.constant == nullptr) {
    return Unimplemented("operand ", operand, " must be known when the model ",
                         "is loaded, but follows from inputs");
  }
  TIM_ASSIGN_OR_RETURN(const auto values, Integers(*value.constant));
  if (values.size() != 1) {
    return InvalidArgument("operand ", operand, " has ", values.size(),
                           " elements, expected 1");
  }
  return values[0];
}

int64_t AttributeOf(const Call& call, const char* name, int64_t otherwise) {
  for (const AttributeMessage& attribute : call.message.attributes) {
    if (attribute.name == name) return attribute.i;
  }
  return otherwise;
}

// `index` from [-size, size) as [0, size).
Result<size_t> PlaceOf(int64_t index, size_t size) {
  const auto count = static_cast<int64_t>(size);
  if (index < -count || index >= count) {
    return InvalidArgument("place ", index, " is outside of a sequence of ",
                           count, " tensors");
  }
  return static_cast<size_t>(index < 0 ? index + count : index);
}

bool IsTensor(const Known& known) {
  return known.sequence == nullptr && !known.value.IsAbsent();
}

}  // namespace

Importer::Special Importer::FindSequence(std::string_view op) {
  static constexpr std::pair<std::string_view, Special> kSpecials[] = {
      {"SequenceEmpty", &Importer::MakeSequence},
      {"SequenceConstruct", &Importer::MakeSequence},
      {"SequenceInsert", &Importer::ChangeSequence},
      {"SequenceErase", &Importer::ChangeSequence},
      {"SequenceAt", &Importer::ReadSequence},
      {"SequenceLength", &Importer::ReadSequence},
      {"ConcatFromSequence", &Importer::JoinSequence},
      {"SplitToSequence", &Importer::SplitSequence},
      {"Optional", &Importer::RunOptional},
      {"OptionalGetElement", &Importer::RunOptional},
      {"OptionalHasElement", &Importer::RunOptional},
  };
  for (const auto& [name, special] : kSpecials) {
    if (name == op) return special;
  }
  return nullptr;
}

Result<Importer::Results> Importer::MakeSequence(const Call& call) {
  Sequence sequence;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (!IsTensor(call.operands[i])) {
      return InvalidArgument("operand ", i, " is no tensor");
    }
    sequence.push_back(call.operands[i].value);
  }
  return Results{KnownSequence(std::move(sequence))};
}

Result<Importer::Results> Importer::ChangeSequence(const Call& call) {
  TIM_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceOf(call));
  Sequence changed = *sequence;
  node_count_ += static_cast<int64_t>(changed.size() / 8);
  if (call.message.op == "SequenceErase") {
    TIM_ASSIGN_OR_RETURN(const int64_t index, IntegerOf(call, 1, -1));
    TIM_ASSIGN_OR_RETURN(const size_t place, PlaceOf(index, changed.size()));
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(place));
    return Results{KnownSequence(std::move(changed))};
  }
  if (call.operands.size() < 2 || !IsTensor(call.operands[1])) {
    return InvalidArgument("operand 1 is no tensor");
  }
  if (changed.size() >= kMostElements) {
    return Unimplemented("sequences of more than ", kMostElements,
                         " tensors are not taken");
  }
  const auto size = static_cast<int64_t>(changed.size());
  TIM_ASSIGN_OR_RETURN(const int64_t index, IntegerOf(call, 2, size));
  size_t place = changed.size();
  if (index != size) {
    TIM_ASSIGN_OR_RETURN(place, PlaceOf(index, changed.size()));
  }
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(place),
                 call.operands[1].value);
  return Results{KnownSequence(std::move(changed))};
}

Result<Importer::Results> Importer::ReadSequence(const Call& call) {
  TIM_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceOf(call));
  if (call.message.op == "SequenceLength") {
    return Results{Known{builder_->ConstantOf<int64_t>(
        {static_cast<int64_t>(sequence->size())}, {})}};
  }
  TIM_ASSIGN_OR_RETURN(const int64_t index, IntegerOf(call, 1, 0));
  TIM_ASSIGN_OR_RETURN(const size_t place, PlaceOf(index, sequence->size()));
  return Results{Known{(*sequence)[place]}};
}

Result<Importer::Results> Importer::JoinSequence(const Call& call) {
  TIM_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceOf(call));
  if (sequence->empty()) return Unimplemented("the sequence is empty");
  const int64_t axis = AttributeOf(call, "axis", 0);
  if (AttributeOf(call, "new_axis", 0) != 0) {
    TIM_ASSIGN_OR_RETURN(Value stack, Stack(*sequence, axis));
    return Results{Known{std::move(stack)}};
  }
  if (sequence->size() == 1) return Results{Known{sequence->front()}};
  TIM_ASSIGN_OR_RETURN(Value joined,
                       Make("Concat", *sequence, {{"axis", axis}}));
  return Results{Known{std::move(joined)}};
}

Result<Importer::Results> Importer::SplitSequence(const Call& call) {
  if (call.operands.empty() || !IsTensor(call.operands[0])) {
    return InvalidArgument("operand 0 is no tensor");
  }
  const Value& value = call.operands[0].value;
  TIM_ASSIGN_OR_RETURN(
      const int axis, PositiveAxis(AttributeOf(call, "axis", 0), value.rank()));
  const int64_t extent = value.dims[static_cast<size_t>(axis)];
  const bool is_split =
      call.operands.size() > 1 && !call.operands[1].value.IsAbsent();
  std::vector<int64_t> sizes;
  if (is_split && call.operands[1].value.rank() == 1) {
    if (call.operands[1].value.constant == nullptr) {
      return Unimplemented("operand 1 must be known when the model is loaded");
    }
    TIM_ASSIGN_OR_RETURN(sizes, Integers(*call.operands[1].value.constant));
  } else {
    TIM_ASSIGN_OR_RETURN(const int64_t size, IntegerOf(call, 1, 1));
    if (size < 1 || extent / size > static_cast<int64_t>(kMostElements)) {
      return Unimplemented("parts of ", size, " of ", extent, " are not taken");
    }
    for (int64_t at = 0; at < extent; at += size) {
      sizes.push_back(std::min(size, extent - at));
    }
  }
  const bool keeps = is_split || AttributeOf(call, "keepdims", 1) != 0;
  Sequence sequence;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    if (size < 1 || size > extent - at) {
      return InvalidArgument("operand 1 does not divide ", extent);
    }
    const auto one = [this](int64_t number) {
      return builder_->ConstantOf<int64_t>({number}, {1});
    };
    TIM_ASSIGN_OR_RETURN(
        Value part,
        Make("Slice", {value, one(at), one(at + size), one(axis)}, {}));
    if (!keeps) {
      Dims dims = part.dims;
      dims.erase(dims.begin() + axis);
      TIM_ASSIGN_OR_RETURN(part, builder_->Reshape(part, dims));
    }
    sequence.push_back(std::move(part));
    at += size;
  }
  return Results{KnownSequence(std::move(sequence))};
}

Result<Importer::Results> Importer::RunOptional(const Call& call) {
  const bool has_element =
      !call.operands.empty() && (call.operands[0].sequence != nullptr ||
                                 !call.operands[0].value.IsAbsent());
  if (call.message.op == "OptionalHasElement") {
    auto flag = std::make_shared<const uint8_t>(has_element ? 1 : 0);
    return Results{Known{builder_->Constant(
        HostArray{vx::DataType::BOOL8, {}, 1, std::move(flag)})}};
  }
  if (has_element) return Results{call.operands[0]};
  if (call.message.op == "Optional") return Results{Known()};
  return InvalidArgument("operand 0 has no element");
}

}  // namespace tim::models::onnx
