// Custom operators whose functions are Python's.
#include "custom_operator.h"

#include <stdexcept>
#include <utility>

#include "spec.h"

namespace timcl {
namespace {

namespace ops = tim::vx::ops;

ops::Param ScalarOf(nb::handle value) {
  if (PyBool_Check(value.ptr())) {
    return ops::ParamOf<bool>::Make(value.ptr() == Py_True);
  }
  if (PyFloat_Check(value.ptr())) {
    return ops::ParamOf<double>::Make(PyFloat_AsDouble(value.ptr()));
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return ops::ParamOf<int64_t>::Make(number);
  const unsigned long long wide = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return ops::ParamOf<uint64_t>::Make(wide);
}

nb::object SpecOrNone(bool present, const vx::TensorSpec& spec) {
  if (!present) return nb::none();
  return ToPython(spec);
}

nb::tuple Memory(const void* data, const vx::TensorSpec& spec) {
  return nb::make_tuple(reinterpret_cast<uintptr_t>(data), spec.GetByteSize(),
                        ToPython(spec));
}

void SetSizes(nb::handle given, std::vector<size_t>* sizes) {
  size_t count = 0;
  for (const nb::handle size : given) {
    if (count < sizes->size()) (*sizes)[count] = nb::cast<size_t>(size);
    ++count;
  }
}

}  // namespace

CustomOperation::CustomOperation(
    vx::Graph* graph, std::shared_ptr<const CustomDefinition> definition)
    : CustomOpBase(graph, definition->inputs, definition->outputs, -1,
                   definition->name.c_str()),
      definition_(std::move(definition)) {
  kernel_resource_ = definition_->source.c_str();
  for (const int input : definition_->optional) {
    SetInputOptional(static_cast<uint32_t>(input));
  }
}

std::shared_ptr<vx::Operation> CustomOperation::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<CustomOperation>(definition_);
}

nb::list CustomOperation::InputSpecs() const {
  nb::list specs;
  for (uint32_t i = 0; i < definition_->inputs; ++i) {
    const bool present = HasInput(i);
    specs.append(
        SpecOrNone(present, present ? InputSpec(i) : vx::TensorSpec()));
  }
  return specs;
}

nb::list CustomOperation::OutputSpecs() const {
  nb::list specs;
  for (uint32_t i = 0; i < definition_->outputs; ++i) {
    specs.append(ToPython(OutputSpec(i)));
  }
  return specs;
}

void CustomOperation::SetupTypes() {
  InPython([this] {
    const nb::object types =
        definition_->hooks.get().attr("types")(InputSpecs());
    uint32_t output = 0;
    for (const nb::handle type : types) {
      const uint32_t number = output++;
      if (type.is_none()) continue;
      // Where the graph declares the type, that rules.
      if (OutputSpec(number).datatype_ != vx::DataType::UNKNOWN) continue;
      SetOutputType(number, TypeOf(nb::cast<std::string>(type)));
    }
  });
}

void CustomOperation::SetupShapeInfor() {
  InPython([this] {
    const nb::object shapes =
        definition_->hooks.get().attr("shapes")(InputSpecs());
    size_t output = 0;
    for (const nb::handle shape : shapes) {
      outputs_size_.at(output++) =
          ToExtents(nb::cast<std::vector<int64_t>>(shape));
    }
  });
}

void CustomOperation::SetScalars(nb::handle scalars) {
  param_list_.clear();
  for (const nb::handle scalar : scalars) {
    if (!PyTuple_Check(scalar.ptr())) {
      param_list_.push_back(ScalarOf(scalar));
      continue;
    }
    const size_t lanes = nb::len(scalar);
    bool first = true;
    for (const nb::handle element : scalar) {
      param_list_.push_back(ScalarOf(element));
      param_list_.back().lanes = first ? static_cast<uint8_t>(lanes) : 0;
      first = false;
    }
  }
}

void CustomOperation::SetupParams(std::vector<vx::DataType>,
                                  std::string& build_option) {
  InPython([&] {
    const nb::object answer =
        definition_->hooks.get().attr("setup")(InputSpecs(), OutputSpecs());
    function_ = nb::cast<std::string>(answer[0]);
    build_option = nb::cast<std::string>(answer[1]);
    SetScalars(answer[2]);
    func_name_ = function_.c_str();
  });
}

void CustomOperation::SetupEnqueue(uint32_t& dim, std::vector<size_t>& global,
                                   std::vector<size_t>& local) {
  InPython([&] {
    const nb::object answer =
        definition_->hooks.get().attr("enqueue")(InputSpecs(), OutputSpecs());
    dim = static_cast<uint32_t>(nb::len(nb::object(answer[0])));
    SetSizes(answer[0], &global);
    SetSizes(answer[1], &local);
  });
}

bool CustomOperation::HasHostEval() const { return definition_->has_host; }

void CustomOperation::HostEval(const std::vector<ops::HostInput>& inputs,
                               const std::vector<ops::HostOutput>& outputs) {
  InPython([&] {
    nb::list read;
    nb::list written;
    for (const ops::HostInput& input : inputs) {
      if (input.data == nullptr) {
        read.append(nb::none());
      } else {
        read.append(Memory(input.data, input.spec));
      }
    }
    for (const ops::HostOutput& output : outputs) {
      written.append(Memory(output.data, output.spec));
    }
    definition_->hooks.get().attr("host")(read, written);
  });
}

}  // namespace timcl
