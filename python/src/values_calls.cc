// Operators, decisions, loops, functions of the host and variables of functions
// of arrays.
#include <functional>
#include <optional>

#include "values_border.h"

namespace timcl {
namespace {

using nb::arg;
using KeptValue = Kept<tv::Value>;
using KeptToken = Kept<tv::Token>;
using KeptNode = Kept<tv::Node>;
using KeptVariable = Kept<tv::Variable>;

nb::list ListOf(const tv::Outputs& outputs) {
  if (!outputs.ok()) Raise("GraphError", outputs.error());
  nb::list list;
  for (size_t i = 0; i < outputs.size(); ++i) list.append(Keep(outputs[i]));
  return list;
}

nb::list Call(const std::string& op, nb::handle inputs, nb::handle attributes,
              nb::handle after) {
  const auto operands = ValuesOf(inputs);
  const auto named = ToAttributes(attributes);
  const auto tokens = TokensOf(after);
  return ListOf(
      InFront([&] { return tv::Node(op, named).Forward(operands, tokens); }));
}

Object<tv::Node> NodeOf(const std::string& op, nb::handle attributes) {
  const auto named = ToAttributes(attributes);
  tv::Node node = InFront([&] { return tv::Node(op, named); });
  if (!node.ok()) Raise("GraphError", node.error());
  return Keep(std::move(node));
}

// `call()` of the front, whose failure is the thread's last error.
template <typename Result, typename Call, typename Failed>
Result OrRaise(const Call& call, const Failed& failed) {
  std::string error;
  Result result = InFront([&] {
    Result made = call();
    if (failed(made)) error = tv::LastError();
    return made;
  });
  if (failed(result)) Raise("GraphError", error);
  return result;
}

// Operands and results of the host's reference: (spec, array), None: absent.
nb::list Eval(const KeptNode& node, nb::handle inputs) {
  std::vector<tv::Plain> operands;
  for (const nb::handle each : inputs) {
    operands.emplace_back();
    if (each.is_none()) continue;
    const Buffer buffer(nb::object(each[1]), Buffer::Access::kRead);
    operands.back() =
        tv::MakePlain(ToValuesSpec(nb::object(each[0])), buffer.data());
    if (!operands.back()) Raise("ArgumentError", tv::LastError());
  }
  const auto results = OrRaise<std::vector<tv::Plain>>(
      [&] { return node.get().Eval(operands); },
      [](const auto& made) { return made.empty(); });
  nb::list list;
  for (const tv::Plain& result : results) {
    list.append(nb::make_tuple(ToPython(result.spec),
                               nb::bytes(result.data.get(), result.bytes)));
  }
  return list;
}

void BindNode(nb::module_& module) {
  nb::class_<KeptNode>(module, "OperatorNode", "An operator of values.")
      .def_static("make", &NodeOf, arg("op"), arg("attributes"))
      .def(
          "call",
          [](const KeptNode& node, nb::handle inputs, nb::handle after) {
            const auto operands = ValuesOf(inputs);
            const auto tokens = TokensOf(after);
            return ListOf(
                InFront([&] { return node.get().Forward(operands, tokens); }));
          },
          arg("inputs"), arg("after"))
      .def("eval", &Eval, arg("inputs"))
      .def(
          "infer",
          [](const KeptNode& node, nb::handle list) {
            const auto specs = ToValuesSpecs(list);
            return ToPython(OrRaise<std::vector<tv::Spec>>(
                [&] { return node.get().InferOutputs(specs); },
                [](const auto& made) { return made.empty(); }));
          },
          arg("inputs"))
      .def(
          "memory",
          [](const KeptNode& node, nb::handle list) {
            const auto specs = ToValuesSpecs(list);
            const auto made = OrRaise<tv::MemoryEstimate>(
                [&] { return node.get().EstimateMemory(specs); },
                [](const auto& estimate) { return estimate.inputs < 0; });
            return nb::make_tuple(made.inputs, made.outputs, made.scratch,
                                  made.bound);
          },
          arg("inputs"))
      .def(
          "compute",
          [](const KeptNode& node, nb::handle list) {
            const auto specs = ToValuesSpecs(list);
            const auto made = OrRaise<tv::ComputeEstimate>(
                [&] { return node.get().EstimateCompute(specs); },
                [](const auto& estimate) { return estimate.flops < 0; });
            return nb::make_tuple(made.flops, made.bytes_read,
                                  made.bytes_written, made.bound);
          },
          arg("inputs"))
      .def(
          "predict",
          [](const KeptNode& node, nb::handle list,
             const Kept<tv::Device>& device) {
            const auto specs = ToValuesSpecs(list);
            return OrRaise<double>(
                [&] {
                  return node.get().PredictMicroseconds(specs, device.get());
                },
                [](double made) { return made < 0; });
          },
          arg("inputs"), arg("device"));
}

// `function` takes a list of (bytes, spec), None for absent inputs, and returns
// one of (spec, array).
tv::HolderFunction HolderOf(nb::object function) {
  return [kept = PyRef(std::move(function))](
             const std::vector<tv::Plain>& inputs,
             std::vector<tv::Plain>* outputs, std::string* error) {
    const ThreadCall entered;
    if (!entered) {
      *error = "the interpreter has ended";
      return false;
    }
    nb::gil_scoped_acquire acquired;
    try {
      nb::list given;
      for (const tv::Plain& input : inputs) {
        if (!input) {
          given.append(nb::none());
          continue;
        }
        given.append(nb::make_tuple(nb::bytes(input.data.get(), input.bytes),
                                    ToPython(input.spec)));
      }
      const nb::object made = nb::borrow(kept.get())(given);
      size_t number = 0;
      for (const nb::handle each : made) {
        const tv::Spec spec = ToValuesSpec(nb::object(each[0]));
        const Buffer buffer(nb::object(each[1]), Buffer::Access::kRead);
        outputs->at(number++) = tv::MakePlain(spec, buffer.data());
      }
      return true;
    } catch (nb::python_error& raised) {
      *error = KeepCause(raised);
      return false;
    }
  };
}

nb::list Hold(const std::string& name, nb::handle inputs, nb::handle outputs,
              nb::object function, bool ordered, bool random,
              nb::handle after) {
  const auto operands = ValuesOf(inputs);
  const auto specs = ToValuesSpecs(outputs);
  const auto tokens = TokensOf(after);
  tv::HolderFunction called;
  if (!function.is_none()) called = HolderOf(std::move(function));
  tv::Effects effects;
  effects.ordered = ordered;
  effects.random = random;
  const auto made = InFront([&] {
    return tv::Holder(name, operands, specs, called, effects, tokens);
  });
  nb::list list = ListOf(made);
  list.append(Keep(made.signal()));
  return list;
}

nb::list Decide(const KeptValue& condition, nb::handle inputs,
                nb::object then_part, nb::object else_part) {
  const auto operands = ValuesOf(inputs);
  const auto yes = FunctionOf(std::move(then_part));
  const auto no = FunctionOf(std::move(else_part));
  return ListOf(
      InFront([&] { return tv::If(condition.get(), operands, yes, no); }));
}

nb::list Repeat(nb::handle state, nb::object condition, nb::object body,
                int64_t max_trips) {
  const auto operands = ValuesOf(state);
  const auto go_on = FunctionOf(std::move(condition));
  const auto next = FunctionOf(std::move(body));
  const auto first = [&](const std::vector<tv::Value>& values) {
    const auto found = go_on(values);
    return found.empty() ? tv::Value() : found.front();
  };
  return ListOf(
      InFront([&] { return tv::While(operands, first, next, max_trips); }));
}

void BindVariable(nb::module_& module) {
  nb::class_<KeptToken>(module, "Token", "The signal of a change.")
      .def("wait", [](const KeptToken& token) {
        std::string error;
        const bool ok = InFront([&] {
          if (token.get().Wait()) return true;
          error = tv::LastError();
          return false;
        });
        if (!ok) Raise("RunError", error);
      });
  nb::class_<KeptVariable>(module, "Variable", "A place with a value.")
      .def_static(
          "make",
          [](const KeptValue& initial, const std::string& name) {
            return Keep(
                InFront([&] { return tv::Variable(initial.get(), name); }));
          },
          arg("initial"), arg("name"))
      .def(
          "read",
          [](const KeptVariable& variable, nb::handle after) {
            const auto tokens = TokensOf(after);
            tv::Value value =
                InFront([&] { return variable.get().Read(tokens); });
            if (!value.ok()) Raise("GraphError", value.error());
            return Keep(std::move(value));
          },
          arg("after"))
      .def(
          "assign",
          [](KeptVariable& variable, const KeptValue& value, nb::handle after) {
            const auto tokens = TokensOf(after);
            std::string error;
            tv::Token token = InFront([&] {
              tv::Token made = variable.get().Assign(value.get(), tokens);
              if (!made.ok()) error = tv::LastError();
              return made;
            });
            if (!token.ok()) Raise("GraphError", error);
            return Keep(std::move(token));
          },
          arg("value"), arg("after"));
}

}  // namespace

void BindCalls(nb::module_& module) {
  module.def("values_call", &Call, arg("op"), arg("inputs"), arg("attributes"),
             arg("after"), "Runs or records an operator.");
  BindNode(module);
  BindVariable(module);
  module.def("values_hold", &Hold, arg("name"), arg("inputs"), arg("outputs"),
             arg("function").none(), arg("ordered"), arg("random"),
             arg("after"), "The results, then the signal.");
  module.def("values_if", &Decide, arg("condition"), arg("inputs"),
             arg("then_part"), arg("else_part"));
  module.def("values_while", &Repeat, arg("state"), arg("condition"),
             arg("body"), arg("max_trips"));
}

}  // namespace timcl
