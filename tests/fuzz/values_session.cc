// Sessions: what is made, kept and dropped between calls, and how it is judged.
#include "tests/fuzz/values_session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tim::testing {

using values::Graph;
using values::Mode;
using values::ModeScope;
using values::Outputs;
using values::Plain;
using values::Program;
using values::Shape;
using values::Spec;
using values::Token;
using values::Type;
using values::Value;

void FailValues(const std::string& what) {
  std::fprintf(stderr, "values_fuzz: %s; last error: %s\n", what.c_str(),
               values::LastError().c_str());
  std::abort();
}

ValuesCounts& CountsOfValues() {
  static constinit ValuesCounts counts;
  return counts;
}

bool Judge(bool ok, const std::string& error) {
  ++CountsOfValues().calls;
  if (ok) return true;
  ++CountsOfValues().refused;
  if (error.empty()) FailValues("a failure without a text");
  return false;
}

bool JudgeCall(bool ok) { return Judge(ok, values::LastError()); }

void Judge(const Value& value) { Judge(value.ok(), value.error()); }

namespace {

// The bytes of a value, which says why it has none.
Plain Look(const Value& value) {
  const bool symbolic = value.symbolic();
  const Plain plain = value.ToPlain();
  if (JudgeCall(static_cast<bool>(plain))) return plain;
  if (value.ok() && !symbolic) {
    const int64_t count = value.spec().shape.NumElements();
    FailValues("a value without failure has no bytes, and " +
               std::to_string(count) + " elements");
  }
  return plain;
}

bool IsNear(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= 1e-3f * (1 + std::abs(a) + std::abs(b));
}

// Equal, but for how floats are rounded.
void ExpectEqual(const Plain& expected, const Plain& found, const char* mode) {
  const std::string where = std::string("a function gives another ") + mode;
  if (expected.spec.type != found.spec.type ||
      expected.spec.shape != found.spec.shape ||
      expected.bytes != found.bytes) {
    FailValues(where + " type or shape: " + found.spec.shape.ToString() +
               ", not " + expected.spec.shape.ToString());
  }
  const auto* a = expected.As<float>();
  const auto* b = found.As<float>();
  if (a == nullptr) return;
  for (size_t i = 0; i < expected.bytes / sizeof(float); ++i) {
    if (IsNear(a[i], b[i])) continue;
    FailValues(where + " result: element " + std::to_string(i) + " is " +
               std::to_string(b[i]) + ", not " + std::to_string(a[i]));
  }
}

}  // namespace

ByteReader ByteReader::Take(size_t count) {
  const std::span<const uint8_t> taken =
      bytes_.first(std::min(count, bytes_.size()));
  bytes_ = bytes_.subspan(taken.size());
  return ByteReader(taken);
}

ValuesSession::ValuesSession(std::span<const uint8_t> bytes)
    : bytes_(bytes),
      is_whole_(true),
      wrapped_(std::make_shared<std::atomic<int>>(0)) {
  for (Value& value : values_) {
    value = Value::Of<float>({2, 2}, {1, -2, 0.5f, 3});
  }
  variables_.emplace_back(values_[0], "counter");
}

ValuesSession::ValuesSession(ByteReader bytes, const ValuesSession& outer)
    : bytes_(bytes),
      is_whole_(false),
      values_(outer.values_),
      graphs_(outer.graphs_),
      programs_(outer.programs_),
      variables_(outer.variables_),
      wrapped_(outer.wrapped_) {}

ValuesSession::~ValuesSession() {
  while (!modes_.empty()) modes_.pop_back();
  if (!is_whole_) return;
  values_ = {};
  graphs_ = {};
  programs_ = {};
  variables_.clear();
  token_ = Token();
  static_cast<void>(values::FlushAll().Wait());
  values::Device().memory();  // waits for all work
  if (*wrapped_ != 0) FailValues("memory that was wrapped is not given back");
}

Values ValuesSession::SomeValues(size_t count) {
  Values some;
  for (size_t i = 0; i < count; ++i) {
    const Value& value = AnyValue();
    some.push_back(IsSmall(value) ? value : Value(1.0f));
  }
  return some;
}

std::vector<Spec> ValuesSession::SomeSpecs(size_t count) {
  std::vector<Spec> specs;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t how = bytes_.Next();
    Spec spec = AnyValue().spec();
    if (how % 8 == 1) spec = Spec();
    if (how % 8 == 2) spec = Spec(Type::kFloat32, Shape({2, Shape::kUnknown}));
    if (how % 8 == 3) {
      spec = Spec(Type::kFloat32,
                  Shape({2, Shape::kUnknown}).SetBound(1, how / 8));
    }
    if (how == 255) spec = Spec(Type::kUnknown, Shape());
    specs.push_back(spec);
  }
  return specs;
}

void ValuesSession::MakeValue() {
  Value& slot = AnyValue();
  slot = MakeAnyValue(bytes_);
  testing::Judge(slot);
}

void ValuesSession::Wrap() {
  const int count = static_cast<int>(bytes_.Next(3));
  auto memory = std::make_unique<std::vector<float>>(4, 1.5f);
  float* const data = count == 2 ? nullptr : memory->data();
  ++*wrapped_;
  std::vector<float>* const kept = memory.release();
  AnyValue() = Value::Wrap(Spec(Type::kFloat32, {2, 2}), data,
                           [kept, wrapped = wrapped_] {
                             delete kept;
                             --*wrapped;
                           });
  if (data != nullptr) return;
  --*wrapped_;  // there is nothing to give back
  delete kept;
}

void ValuesSession::Operate() {
  const Value made = CallAny(bytes_, SomeValues(3));
  testing::Judge(made);
  AnyValue() = made;
}

void ValuesSession::Look() {
  const Value value = AnyValue();
  if (!IsSmall(value)) return;
  switch (bytes_.Next(6)) {
    case 0:
      JudgeCall(value.Wait());
      break;
    case 1:
      if (value.ToString().empty()) FailValues("a value without a text");
      break;
    case 2:
      value.event().Then([](bool) { ++CountsOfValues().calls; });
      break;
    case 3: {
      float data[4] = {};
      JudgeCall(value.CopyTo(data, sizeof(data)));
      break;
    }
    default:
      testing::Look(value);
  }
}

// A function at once, later, captured and frozen.
void ValuesSession::Compare() {
  const ByteReader text = bytes_.Take(bytes_.Next(40));
  const ModeScope at_once(Mode::kEager);
  Values inputs;
  for (const Value& value : SomeValues(3)) {
    const Plain plain = value.symbolic() ? Plain() : value.ToPlain();
    if (!plain) return;
    inputs.push_back(Value::FromHost(plain.spec, plain.data.get()));
  }
  std::vector<Plain> expected;
  for (const Value& y : CallFunction(text, inputs)) {
    testing::Judge(y);
    if (!y.ok()) return;
    expected.push_back(testing::Look(y));
    if (!expected.back()) return;
  }
  const auto compare = [&](const Values& found, const char* mode) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i >= found.size()) FailValues("an output is missing");
      const Plain plain = testing::Look(found[i]);
      if (!plain) FailValues(std::string("a function fails ") + mode);
      ExpectEqual(expected[i], plain, mode);
    }
  };
  {
    const ModeScope later(Mode::kLazy);
    compare(CallFunction(text, inputs), "lazily");
  }
  std::vector<Spec> specs;
  for (const Value& input : inputs) specs.push_back(input.spec());
  const Graph graph = Graph::Capture(
      [&](const Values& in) { return CallFunction(text, in); }, specs);
  if (!testing::Judge(graph.ok(), graph.error()) || graph.Level() != 2) return;
  ++CountsOfValues().graphs;
  const Outputs called = graph.Call(inputs);
  Values results;
  for (size_t i = 0; i < called.size(); ++i) results.push_back(called[i]);
  compare(results, "as a graph");
  const Program program = graph.Compile();
  if (!testing::Judge(program.ok(), program.error())) return;
  compare(program.Run(inputs), "frozen");
  ++CountsOfValues().runs;
  ++CountsOfValues().compared;
}

}  // namespace tim::testing
