// The border between Python and functions of arrays.
#include "values_border.h"

namespace timcl {
namespace {

// Touched with the interpreter's lock held.
thread_local std::exception_ptr raised;

// Names in the order of tim::values::Type.
constexpr const char* kTypes[] = {"",        "int4",     "uint4",   "int8",
                                  "uint8",   "int16",    "uint16",  "int32",
                                  "uint32",  "int64",    "uint64",  "bool",
                                  "float16", "bfloat16", "float32", "float64"};

tv::Type TypeByName(const std::string& name) {
  uint8_t number = 0;
  for (const char* known : kTypes) {
    if (name == known) return static_cast<tv::Type>(number);
    ++number;
  }
  Raise("ArgumentError", "there is no element type '" + name + "'");
}

// The same axis counted from the other end; -1 stays.
int OtherEnd(int64_t axis, int rank) {
  return axis < 0 ? -1 : static_cast<int>(rank - 1 - axis);
}

enum Kind { kNone, kTensor, kChannels, kFixedPoint };

nb::object ToPython(const tv::Quantization& quantization, int rank) {
  if (quantization.kind == kNone) return nb::none();
  const char* const kind = quantization.kind == kFixedPoint ? "fixed_point"
                           : quantization.kind == kTensor   ? "tensor"
                                                            : "channels";
  nb::list scales;
  for (const float scale : quantization.scales) scales.append(scale);
  nb::list zero_points;
  for (const int32_t point : quantization.zero_points) {
    zero_points.append(point);
  }
  return nb::make_tuple(kind, nb::tuple(scales), nb::tuple(zero_points),
                        OtherEnd(quantization.axis, rank), quantization.fl);
}

tv::Quantization ToQuantization(nb::handle described, int rank) {
  tv::Quantization made;
  if (described.is_none()) return made;
  const std::string kind = nb::cast<std::string>(described[0]);
  made.kind = kind == "fixed_point" ? kFixedPoint
              : kind == "tensor"    ? kTensor
                                    : kChannels;
  made.scales = nb::cast<std::vector<float>>(described[1]);
  made.zero_points = nb::cast<std::vector<int32_t>>(described[2]);
  made.axis = OtherEnd(nb::cast<int64_t>(described[3]), rank);
  made.fl = nb::cast<int>(described[4]);
  return made;
}

tv::Shape ToValuesShape(nb::handle described) {
  if (described.is_none()) return {};
  std::vector<int64_t> extents;
  std::vector<int64_t> bounds;
  for (const nb::handle each : described) {
    const int64_t extent =
        each.is_none() ? tv::Shape::kUnknown : nb::cast<int64_t>(each);
    const bool is_bound = !each.is_none() && extent < 0;
    extents.insert(extents.begin(), is_bound ? tv::Shape::kUnknown : extent);
    bounds.insert(bounds.begin(), is_bound ? -extent : 0);
  }
  tv::Shape shape(std::move(extents));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t most = bounds[static_cast<size_t>(axis)];
    if (most > 0) shape.SetBound(axis, most);
  }
  return shape;
}

nb::object ToPython(const tv::Shape& shape) {
  if (!shape.ranked()) return nb::none();
  nb::list extents;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] != tv::Shape::kUnknown) {
      extents.append(shape[axis]);
    } else if (shape.Bound(axis) != tv::Shape::kUnknown) {
      extents.append(-shape.Bound(axis));
    } else {
      extents.append(nb::none());
    }
  }
  return nb::tuple(extents);
}

template <typename Element, typename Accepts>
bool AllOf(nb::handle list, const Accepts& accepts,
           std::vector<Element>* elements) {
  elements->clear();
  for (const nb::handle each : list) {
    if (!accepts(each)) return false;
    elements->push_back(nb::cast<Element>(each));
  }
  return true;
}

bool IsInteger(nb::handle value) {
  return PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr());
}

bool IsNumber(nb::handle value) {
  return IsInteger(value) || PyFloat_Check(value.ptr());
}

bool IsText(nb::handle value) { return PyUnicode_Check(value.ptr()); }

}  // namespace

void KeepRaised() {
  if (raised == nullptr) raised = std::current_exception();
}

void RaiseKept() {
  if (raised == nullptr) return;
  std::rethrow_exception(std::exchange(raised, nullptr));
}

std::vector<tv::Value> ValuesOf(nb::handle list) {
  std::vector<tv::Value> values;
  for (const nb::handle each : list) {
    if (each.is_none()) {
      values.emplace_back();
    } else {
      values.push_back(nb::cast<Kept<tv::Value>&>(each).get());
    }
  }
  return values;
}

nb::list ListOf(const std::vector<tv::Value>& values) {
  nb::list list;
  for (const tv::Value& value : values) list.append(Keep(value));
  return list;
}

std::vector<tv::Token> TokensOf(nb::handle list) {
  std::vector<tv::Token> tokens;
  for (const nb::handle each : list) {
    tokens.push_back(nb::cast<Kept<tv::Token>&>(each).get());
  }
  return tokens;
}

tv::Function FunctionOf(nb::object function) {
  return [kept = PyRef(std::move(function))](
             const std::vector<tv::Value>& inputs) {
    std::vector<tv::Value> results;
    CallPython([&] {
      const nb::object made = nb::borrow(kept.get())(ListOf(inputs));
      results = ValuesOf(made);
    });
    return results;
  };
}

nb::tuple ToPython(const tv::Spec& spec) {
  return nb::make_tuple(kTypes[static_cast<size_t>(spec.type)],
                        ToPython(spec.shape),
                        ToPython(spec.quantization, spec.shape.rank()));
}

tv::Spec ToValuesSpec(nb::handle described) {
  tv::Spec spec(TypeByName(nb::cast<std::string>(described[0])),
                ToValuesShape(nb::object(described[1])));
  spec.quantization =
      ToQuantization(nb::object(described[2]), spec.shape.rank());
  return spec;
}

nb::list ToPython(const std::vector<tv::Spec>& specs) {
  nb::list list;
  for (const tv::Spec& spec : specs) list.append(ToPython(spec));
  return list;
}

std::vector<tv::Spec> ToValuesSpecs(nb::handle list) {
  std::vector<tv::Spec> specs;
  for (const nb::handle each : list) specs.push_back(ToValuesSpec(each));
  return specs;
}

tv::Attribute ToAttribute(const std::string& name, nb::handle value) {
  if (PyBool_Check(value.ptr())) return {value.ptr() == Py_True};
  if (IsInteger(value)) return {nb::cast<int64_t>(value)};
  if (PyFloat_Check(value.ptr())) return {nb::cast<double>(value)};
  if (IsText(value)) return {nb::cast<std::string>(value)};
  if (nb::isinstance<Kept<tv::Graph>>(value)) {
    return {nb::cast<Kept<tv::Graph>&>(value).get()};
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    std::vector<int64_t> integers;
    if (AllOf(value, IsInteger, &integers)) return {integers};
    std::vector<double> numbers;
    if (AllOf(value, IsNumber, &numbers)) return {numbers};
    std::vector<std::string> texts;
    if (AllOf(value, IsText, &texts)) return {texts};
  }
  Raise("ArgumentError",
        "attribute '" + name +
            "': expected a number, True or False, a text, a graph, or a list "
            "of numbers or texts, not " +
            nb::cast<std::string>(nb::repr(value)));
}

tv::Attributes ToAttributes(nb::handle list) {
  tv::Attributes attributes;
  for (const nb::handle each : list) {
    std::string name = nb::cast<std::string>(each[0]);
    const nb::object given = each[1];
    try {
      attributes.emplace_back(name, ToAttribute(name, given));
    } catch (const nb::cast_error&) {
      Raise("ArgumentError", "attribute '" + name + "' is " +
                                 nb::cast<std::string>(nb::repr(given)) +
                                 ", more than 64 bits");
    }
  }
  return attributes;
}

}  // namespace timcl
