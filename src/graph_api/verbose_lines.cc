// Words of verbose lines.
#include "graph_api/verbose_lines.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <variant>
#include <vector>

#include "graph_api/verbose.h"

namespace tim::graph::verbose {
namespace {

using Clock = std::chrono::steady_clock;

struct Name {
  int number;
  const char* text;
};

template <int count>
const char* Find(const Name (&names)[count], int number) {
  for (const Name& name : names) {
    if (name.number == number) return name.text;
  }
  return "unknown";
}

const char* NameOfLayout(const LogicalTensor& tensor) {
  static constexpr Name kNames[] = {{tim_graph_layout_type_undef, "undef"},
                                    {tim_graph_layout_type_any, "any"},
                                    {tim_graph_layout_type_strided, "strided"},
                                    {tim_graph_layout_type_opaque, "opaque"}};
  return Find(kNames, tensor.layout_type);
}

const char* NameOfProperty(const LogicalTensor& tensor) {
  static constexpr Name kNames[] = {
      {tim_graph_tensor_property_undef, "undef"},
      {tim_graph_tensor_property_variable, "variable"},
      {tim_graph_tensor_property_constant, "constant"},
      {tim_graph_tensor_property_host_scalar, "host_scalar"}};
  return Find(kNames, tensor.property);
}

void AddOnce(std::string text, std::vector<std::string>* list) {
  if (std::find(list->begin(), list->end(), text) == list->end()) {
    list->push_back(std::move(text));
  }
}

std::string MillisecondsSince(Clock::time_point begin) {
  constexpr int kDigits = 6;
  const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), time.count(),
                                 std::chars_format::fixed, kDigits);
  return {text, end.ptr};
}

std::string NamesOf(const std::vector<Op>& ops) {
  std::string names;
  for (const Op& op : ops) {
    std::string name = FieldOf(op.name);
    std::replace(name.begin(), name.end(), ';', '_');
    names += StrCat(names.empty() ? "" : ";", name);
  }
  return names;
}

std::string PortsOf(const CompiledPartition& compiled) {
  std::vector<std::string> ports;
  for (size_t i = 0; i < compiled.inputs().size(); ++i) {
    ports.push_back(PortText("in", i, compiled.inputs()[i]));
  }
  for (size_t i = 0; i < compiled.outputs().size(); ++i) {
    ports.push_back(PortText("out", i, compiled.outputs()[i]));
  }
  return StrJoin(ports, " ");
}

struct Fields {
  const char* what;
  size_t partition;
  const std::vector<Op>& ops;
  std::string kernels;
  std::string time;
};

void Print(const Fields& fields, const CompiledPartition& compiled) {
  const Engine& engine = *compiled.engine();
  PrintLine(StrCat(fields.what, ",", tim_graph_engine_kind2str(engine.kind()),
                   ",", fields.partition, ",", NamesOf(fields.ops), ",",
                   FormatsText(fields.ops), ",", PortsOf(compiled),
                   ",fpm:", tim_graph_fpmath_mode2str(compiled.fpmath_mode()),
                   ",scratchpad:", compiled.Scratchpad().dims[0], ",",
                   fields.kernels, ",", FieldOf(engine.device()->info().name),
                   ",", fields.time));
}

}  // namespace

std::string PortText(const char* what, size_t index,
                     const LogicalTensor& tensor) {
  const auto rank = static_cast<size_t>(std::max(tensor.ndims, 0));
  const Dims dims(tensor.dims, tensor.dims + rank);
  std::string layout;
  if (tensor.layout_type == tim_graph_layout_type_strided) {
    layout =
        StrJoin(Dims(tensor.layout.strides, tensor.layout.strides + rank), "s");
  } else if (tensor.layout_type == tim_graph_layout_type_opaque) {
    layout = StrCat(tensor.layout.layout_id);
  }
  return StrCat(what, index, "_", tim_graph_dt2str(tensor.data_type), ":",
                tensor.id, ":", NameOfLayout(tensor), ":",
                NameOfProperty(tensor), ":", StrJoin(dims, "x"), ":", layout);
}

std::string FormatsText(const std::vector<Op>& ops) {
  std::vector<std::string> formats;
  const auto add = [&](const Op& op, tim_graph_op_attr_t attribute,
                       const char* what) {
    if (op.Has(attribute)) {
      AddOnce(StrCat(what, ":", FieldOf(op.String(attribute))), &formats);
    }
  };
  for (const Op& op : ops) {
    add(op, tim_graph_op_attr_data_format, "data");
    add(op, tim_graph_op_attr_weights_format, "weights");
  }
  return StrJoin(formats, ";");
}

std::string KernelsText(const ir::Plan& plan) {
  std::vector<std::string> kernels;
  for (const ir::Step& step : plan.steps) {
    if (const auto* call = std::get_if<ir::HostCall>(&step.action)) {
      AddOnce(StrCat("host:", FieldOf(call->op)), &kernels);
    } else if (std::holds_alternative<ir::Copy>(step.action)) {
      AddOnce("copy", &kernels);
    } else if (!step.kernel.empty()) {
      AddOnce(FieldOf(step.kernel), &kernels);
    }
  }
  return kernels.empty() ? "none" : StrJoin(kernels, ";");
}

CompileLine::CompileLine() : wanted_(Wants(kVerboseCompile)) {
  if (wanted_) begin_ = Clock::now();
}

void CompileLine::End(bool hit, const CompileSource& source,
                      const CompiledPartition& compiled) const {
  if (!wanted_) return;
  std::string time = MillisecondsSince(begin_);
  const Runnable* const plan = compiled.known_plan();
  Print({.what = hit ? "compile:cache_hit" : "compile:cache_miss",
         .partition = source.id,
         .ops = *source.ops,
         .kernels = plan != nullptr       ? KernelsText(plan->plan())
                    : compiled.has_work() ? "chosen_for_constants"
                                          : "none",
         .time = std::move(time)},
        compiled);
}

ExecuteLine::ExecuteLine(Stream& stream)
    : stream_(Wants(kVerboseExecute) ? &stream : nullptr) {
  if (stream_ == nullptr) return;
  stream_->Settle();
  begin_ = Clock::now();
}

void ExecuteLine::End(const CompiledPartition& compiled,
                      const Runnable* plan) const {
  if (stream_ == nullptr || !stream_->Settle()) return;
  std::string time = MillisecondsSince(begin_);
  Print({.what = "exec",
         .partition = compiled.partition(),
         .ops = compiled.ops(),
         .kernels = plan != nullptr ? KernelsText(plan->plan()) : "none",
         .time = std::move(time)},
        compiled);
}

}  // namespace tim::graph::verbose
