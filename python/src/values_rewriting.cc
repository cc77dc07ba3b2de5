// Patterns and gradients of functions of arrays.
#include <memory>

#include "values_border.h"

namespace timcl {
namespace {

using nb::arg;
using KeptValue = Kept<tv::Value>;
using KeptGraph = Kept<tv::Graph>;
using KeptPattern = Kept<tv::Pattern>;
using KeptMatch = Kept<tv::Match>;

std::vector<tv::Pattern> PatternsOf(nb::handle list) {
  std::vector<tv::Pattern> patterns;
  for (const nb::handle each : list) {
    patterns.push_back(nb::cast<KeptPattern&>(each).get());
  }
  return patterns;
}

// The condition is asked by Replace() and FindAll(), on the thread that calls
// them.
void Where(KeptPattern& pattern, nb::object condition) {
  pattern.get().Where(
      [kept = PyRef(std::move(condition))](const tv::Match& match) {
        bool matches = false;
        CallPython([&] {
          matches = nb::cast<bool>(nb::borrow(kept.get())(Keep(match)));
        });
        return matches;
      });
}

int Replace(KeptGraph& graph, const KeptPattern& pattern, nb::object function,
            int max_rounds) {
  const PyRef kept(std::move(function));
  const auto replacement = [&](const tv::Match& match) {
    std::vector<tv::Value> values;
    CallPython([&] {
      const nb::object made = nb::borrow(kept.get())(Keep(match));
      values = ValuesOf(made);
    });
    return values;
  };
  std::string error;
  const int count = InFront([&] {
    const int made =
        graph.get().Replace(pattern.get(), replacement, max_rounds);
    if (made < 0) error = tv::LastError();
    return made;
  });
  if (count < 0) Raise("GraphError", error);
  return count;
}

Object<tv::Value> PartOf(const KeptMatch& match, const std::string& name) {
  if (!match.get().Has(name)) {
    Raise("ArgumentError", "the match has no part '" + name + "'");
  }
  return Keep(match.get()[name]);
}

void BindPattern(nb::module_& module) {
  nb::class_<KeptMatch>(module, "Match", "A place where a pattern occurs.")
      .def(
          "has",
          [](const KeptMatch& match, const std::string& name) {
            return match.get().Has(name);
          },
          arg("name"))
      .def("part", &PartOf, arg("name"))
      .def("nodes", [](const KeptMatch& match) { return match.get().nodes(); });
  nb::class_<KeptPattern>(module, "Pattern", "A part of a graph by its looks.")
      .def_static(
          "any",
          [](const std::string& name) { return Keep(tv::Pattern::Any(name)); },
          arg("name"))
      .def_static(
          "constant",
          [](const std::string& name) {
            return Keep(tv::Pattern::Constant(name));
          },
          arg("name"))
      .def_static(
          "op",
          [](const std::string& op, nb::handle inputs,
             const std::string& name) {
            return Keep(tv::Pattern::Op(op, PatternsOf(inputs), name));
          },
          arg("op"), arg("inputs"), arg("name"))
      .def_static(
          "one_of",
          [](nb::handle list) {
            return Keep(tv::Pattern::OneOf(PatternsOf(list)));
          },
          arg("alternatives"))
      .def_static(
          "optional",
          [](const std::string& op, const KeptPattern& inside,
             const std::string& name) {
            return Keep(tv::Pattern::Optional(op, inside.get(), name));
          },
          arg("op"), arg("inside"), arg("name"))
      .def_static(
          "repeat",
          [](const std::string& op, int least, int most,
             const KeptPattern& inside, const std::string& name) {
            return Keep(
                tv::Pattern::Repeat(op, least, most, inside.get(), name));
          },
          arg("op"), arg("least"), arg("most"), arg("inside"), arg("name"))
      .def("where", &Where, arg("condition"))
      .def(
          "with_attribute",
          [](KeptPattern& pattern, const std::string& name, nb::handle value) {
            pattern.get().With(name, ToAttribute(name, value));
          },
          arg("name"), arg("value"))
      .def("any_order", [](KeptPattern& pattern) { pattern.get().AnyOrder(); })
      .def("may_be_shared",
           [](KeptPattern& pattern) { pattern.get().MayBeShared(); })
      .def(
          "copy", [](KeptPattern& pattern) { return Keep(pattern.get()); },
          "A pattern of its own.");
  module.def("values_replace", &Replace, arg("graph"), arg("pattern"),
             arg("function"), arg("max_rounds"),
             "Puts what the function returns in the place of each match.");
  module.def(
      "values_find",
      [](const KeptGraph& graph, const KeptPattern& pattern) {
        nb::list list;
        for (tv::Match& match :
             InFront([&] { return graph.get().FindAll(pattern.get()); })) {
          list.append(Keep(std::move(match)));
        }
        return list;
      },
      arg("graph"), arg("pattern"), "All matches.");
}

// Gradients of a function of Python; what was differentiated is kept.
class Gradient {
 public:
  Gradient(nb::object function, const std::vector<int>& wrt)
      : call_(tv::ValueAndGrad(FunctionOf(std::move(function)), wrt)) {}

  // The value, then the gradients.
  nb::list Call(nb::handle inputs) const {
    const auto operands = ValuesOf(inputs);
    const tv::Gradients made = InFront([&] { return call_(operands); });
    if (!made.value.ok()) Raise("GraphError", made.value.error());
    nb::list list;
    list.append(Keep(made.value));
    for (const tv::Value& gradient : made.gradients) {
      if (!gradient.ok()) Raise("GraphError", gradient.error());
      list.append(Keep(gradient));
    }
    return list;
  }

 private:
  std::function<tv::Gradients(const std::vector<tv::Value>&)> call_;
};

// A tape records from begin() to end().
class Tape {
 public:
  void Begin() { tape_ = std::make_unique<tv::Tape>(); }
  void End() {
    const Released released;
    tape_ = nullptr;
  }
  ~Tape() { End(); }

  nb::list Gradient(const KeptValue& of, nb::handle wrt) const {
    if (tape_ == nullptr) {
      Raise("GraphError",
            "the tape has ended: ask it inside of its with statement");
    }
    const auto by = ValuesOf(wrt);
    const auto gradients =
        InFront([&] { return tape_->Gradient(of.get(), by); });
    for (const tv::Value& gradient : gradients) {
      if (!gradient.ok()) Raise("GraphError", gradient.error());
    }
    return ListOf(gradients);
  }

 private:
  std::unique_ptr<tv::Tape> tape_;
};

template <typename Make>
Object<tv::Graph> Derived(const KeptGraph& graph, const Make& make) {
  tv::Graph made = InFront([&] { return make(graph.get()); });
  if (!made.ok()) Raise("GraphError", made.error());
  return Keep(std::move(made));
}

void BindGradients(nb::module_& module) {
  nb::class_<Gradient>(module, "Gradient", "Gradients of a function.")
      .def(nb::init<nb::object, const std::vector<int>&>(), arg("function"),
           arg("wrt"))
      .def("call", &Gradient::Call, arg("inputs"));
  nb::class_<Tape>(module, "Tape", "Records calls of a thread.")
      .def(nb::init<>())
      .def("begin", &Tape::Begin)
      .def("end", &Tape::End)
      .def("gradient", &Tape::Gradient, arg("of"), arg("wrt"));
  module.def(
      "values_differentiate",
      [](const KeptGraph& graph, const std::vector<int>& wrt) {
        return Derived(graph, [&](const tv::Graph& from) {
          return tv::Differentiate(from, wrt);
        });
      },
      arg("graph"), arg("wrt"));
  module.def(
      "values_vjp",
      [](const KeptGraph& graph, const std::vector<int>& wrt) {
        return Derived(
            graph, [&](const tv::Graph& from) { return tv::Vjp(from, wrt); });
      },
      arg("graph"), arg("wrt"));
}

}  // namespace

void BindRewriting(nb::module_& module) {
  BindPattern(module);
  BindGradients(module);
}

}  // namespace timcl
