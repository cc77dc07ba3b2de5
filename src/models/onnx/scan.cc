// Scan of ONNX, whose trips are an extent of its operands.
#include <algorithm>
#include <utility>

#include "models/onnx/importer.h"

namespace tim::models::onnx {
namespace {

// Attributes of a Scan.
struct ScanForm {
  size_t states = 0;  ///< Operands that are carried from trip to trip.
  size_t scans = 0;   ///< Operands of which a trip reads a part.
  std::vector<int64_t> input_axes;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> input_directions;
  std::vector<int64_t> output_directions;
};

// A list with an element for each of `count`, or zeros.
Result<std::vector<int64_t>> ListOf(const Call& call, const char* name,
                                    size_t count) {
  for (const AttributeMessage& attribute : call.message.attributes) {
    if (attribute.name != name) continue;
    if (attribute.ints.size() == count) return attribute.ints;
    return InvalidArgument("attribute '", name, "' has ", attribute.ints.size(),
                           " elements, expected ", count);
  }
  return std::vector<int64_t>(count, 0);
}

Result<ScanForm> FormOf(const Call& call, const GraphMessage& body) {
  ScanForm form;
  const auto opset = call.scope->opsets->find(std::string_view());
  if (opset != call.scope->opsets->end() && opset->second < 9) {
    return Unimplemented("its form before opset 9 is not taken");
  }
  for (const AttributeMessage& attribute : call.message.attributes) {
    if (attribute.name != "num_scan_inputs") continue;
    form.scans = static_cast<size_t>(std::max<int64_t>(attribute.i, 0));
  }
  if (form.scans == 0 || form.scans > call.operands.size()) {
    return InvalidArgument("attribute 'num_scan_inputs' does not fit its ",
                           call.operands.size(), " operands");
  }
  form.states = call.operands.size() - form.scans;
  if (body.outputs.size() < form.states ||
      call.message.outputs.size() > body.outputs.size()) {
    return InvalidArgument("its body has ", body.outputs.size(),
                           " outputs, which do not fit the node");
  }
  const size_t outputs = body.outputs.size() - form.states;
  TIM_ASSIGN_OR_RETURN(form.input_axes,
                       ListOf(call, "scan_input_axes", form.scans));
  TIM_ASSIGN_OR_RETURN(form.input_directions,
                       ListOf(call, "scan_input_directions", form.scans));
  TIM_ASSIGN_OR_RETURN(form.output_axes,
                       ListOf(call, "scan_output_axes", outputs));
  TIM_ASSIGN_OR_RETURN(form.output_directions,
                       ListOf(call, "scan_output_directions", outputs));
  return form;
}

}  // namespace

Result<Value> Importer::PartOf(const Value& value, int64_t axis,
                               int64_t index) {
  TIM_ASSIGN_OR_RETURN(const int at, PositiveAxis(axis, value.rank()));
  const auto one = [this](int64_t number) {
    return builder_->ConstantOf<int64_t>({number}, {1});
  };
  TIM_ASSIGN_OR_RETURN(
      const Value part,
      Make("Slice", {value, one(index), one(index + 1), one(at)}, {}));
  Dims dims = value.dims;
  dims.erase(dims.begin() + at);
  return builder_->Reshape(part, dims);
}

Result<Importer::Results> Importer::RunScan(const Call& call) {
  TIM_ASSIGN_OR_RETURN(const GraphMessage* body, BodyOf(call, "body"));
  TIM_ASSIGN_OR_RETURN(ScanForm form, FormOf(call, *body));
  int64_t trips = -1;
  for (size_t i = 0; i < form.scans; ++i) {
    const Value& scanned = call.operands[form.states + i].value;
    if (scanned.IsAbsent()) {
      return InvalidArgument("operand ", form.states + i, " is no tensor");
    }
    TIM_ASSIGN_OR_RETURN(const int axis,
                         PositiveAxis(form.input_axes[i], scanned.rank()));
    const int64_t extent = scanned.dims[static_cast<size_t>(axis)];
    if (trips >= 0 && trips != extent) {
      return InvalidArgument("operand ", form.states + i, " has ", extent,
                             " parts, another one has ", trips);
    }
    trips = extent;
  }
  if (trips > options_.most_trips || trips < 1) {
    return Unimplemented("it has ", trips, " trips; 1 to ", options_.most_trips,
                         " are taken, see ImportOptions::most_trips");
  }
  Results state(call.operands.begin(), call.operands.begin() + form.states);
  std::vector<std::vector<Value>> made_parts(form.output_axes.size());
  for (int64_t trip = 0; trip < trips; ++trip) {
    Results inputs = state;
    for (size_t i = 0; i < form.scans; ++i) {
      const int64_t index =
          form.input_directions[i] == 0 ? trip : trips - 1 - trip;
      TIM_ASSIGN_OR_RETURN(Value part,
                           PartOf(call.operands[form.states + i].value,
                                  form.input_axes[i], index));
      inputs.push_back(Known{std::move(part)});
    }
    TIM_ASSIGN_OR_RETURN(Results made, RunBody(*body, std::move(inputs), call,
                                               StrCat(trip, "/")));
    for (const Known& known : made) {
      if (known.is_refused) return Results();
    }
    state.assign(made.begin(), made.begin() + form.states);
    for (size_t i = 0; i < made_parts.size(); ++i) {
      made_parts[i].push_back(made[form.states + i].value);
    }
  }
  for (size_t i = 0; i < made_parts.size(); ++i) {
    if (form.output_directions[i] != 0) {
      std::reverse(made_parts[i].begin(), made_parts[i].end());
    }
    TIM_ASSIGN_OR_RETURN(Value stack,
                         Stack(made_parts[i], form.output_axes[i]));
    state.push_back(Known{std::move(stack)});
  }
  return state;
}

}  // namespace tim::models::onnx
