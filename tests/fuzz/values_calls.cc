// The calls of a session that make graphs, programs, variables and gradients.
#include <cstdint>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "tests/fuzz/values_session.h"

namespace tim::testing {

using values::Graph;
using values::Mode;
using values::ModeScope;
using values::Outputs;
using values::Pattern;
using values::Program;
using values::ProgramOptions;
using values::Spec;
using values::Tape;
using values::Type;
using values::Value;
using values::Variable;

namespace {

void JudgeAll(const Values& results) {
  for (const Value& value : results) Judge(value);
}

}  // namespace

void ValuesSession::Capture() {
  const ByteReader text = bytes_.Take(bytes_.Next(40));
  const Values outer = SomeValues(2);
  const bool looks = bytes_.Next(16) == 0;
  Graph& slot = AnyGraph();
  slot = Graph::Capture(
      [&](const Values& in) -> Values {
        Values operands = in;
        operands.insert(operands.end(), outer.begin(), outer.end());
        if (bytes_.Next(4) == 0) operands.push_back(variables_[0].Read());
        Values made = CallFunction(text, operands);
        if (looks) static_cast<void>(made[0].ToPlain());
        if (bytes_.Next(4) == 0) token_ = variables_[0].Assign(made[0]);
        if (bytes_.Next(8) == 0) AnyValue() = made[1];  // escapes
        return made;
      },
      SomeSpecs(1 + bytes_.Next(3)), "captured");
  if (testing::Judge(slot.ok(), slot.error())) ++CountsOfValues().graphs;
}

void ValuesSession::MakeGraph() {
  Graph graph;
  const Value x = graph.Input(SomeSpecs(1)[0], "x");
  const Value y = CallAny(bytes_, {x, AnyValue(), x});
  testing::Judge(y);
  graph.Output(y);
  if (bytes_.Next(4) == 0) graph.Output(AnyValue());
  if (bytes_.Next(4) == 0) AnyValue() = x;
  testing::Judge(graph.ok(), graph.error());
  AnyGraph() = graph;
}

void ValuesSession::UseGraph() {
  const Graph graph = AnyGraph();
  const size_t inputs = graph.InputSpecs().size();
  if (bytes_.Next(2) == 0) {
    const Graph made = graph.Specialize(SomeSpecs(inputs));
    if (testing::Judge(made.ok(), made.error())) AnyGraph() = made;
    return;
  }
  const Outputs outputs = graph.Call(SomeValues(inputs));
  testing::Judge(outputs.ok(), outputs.error());
  AnyValue() = outputs[bytes_.Next(3)];
}

void ValuesSession::RewriteGraph() {
  constexpr const char* kOps[] = {"tim.Add", "tim.Relu", "", "fuzz.Twice",
                                  "captured"};
  const Pattern x = Pattern::Any("x");
  Pattern pattern = Pattern::Op(kOps[bytes_.Next(std::size(kOps))], {x}, "y");
  if (bytes_.Next(2) == 0) pattern.MayBeShared();
  if (bytes_.Next(4) == 0) pattern.AnyOrder();
  if (bytes_.Next(4) == 0) pattern = Pattern::Repeat("tim.Relu", 1, 3, x, "y");
  const ByteReader text = bytes_.Take(bytes_.Next(10));
  Graph& graph = AnyGraph();
  for (const values::Match& match : graph.FindAll(pattern)) {
    testing::Judge(match["x"]);
    const values::Node node = match.node("y");
    testing::Judge(node.ok(), node.error());
  }
  const int count = graph.Replace(
      pattern,
      [&](const values::Match& match) -> Values {
        return {CallFunction(text, {match["x"]})[0]};
      },
      static_cast<int>(bytes_.Next(3)));
  JudgeCall(count >= 0);
}

void ValuesSession::Compile() {
  ProgramOptions options;
  options.max_plans = static_cast<int>(bytes_.Next(4));
  options.many_shapes = bytes_.Next(2) == 0;
  if (bytes_.Next(16) == 0) options.policy = "objective=speed";
  if (bytes_.Next(16) == 0) options.devices = "nowhere";
  Program& slot = programs_[bytes_.Next(kGraphs)];
  slot = AnyGraph().Compile(options);
  testing::Judge(slot.ok(), slot.error());
}

void ValuesSession::RunProgram() {
  const size_t place = bytes_.Next(kGraphs);
  Program& program = programs_[place];
  const size_t inputs =
      bytes_.Next(16) == 0 ? 1 : graphs_[place].InputSpecs().size();
  const uint8_t how = bytes_.Next();
  if (how % 8 == 0) {
    JudgeCall(program.Prepare(SomeSpecs(inputs)));
    return;
  }
  if (how % 8 == 1) {
    std::vector<float> memory(1024);
    std::vector<void*> outputs(bytes_.Next(3), memory.data());
    // Results may be larger than the memory.
    for (const Spec& spec : graphs_[place].OutputSpecs()) {
      const int64_t count = spec.shape.NumElements();
      if (count < 0 || count > 256 || spec.type == Type::kFloat64) return;
    }
    if (outputs.size() > 1) outputs[1] = memory.data() + 512;
    const values::Event event = program.RunInto(SomeValues(inputs), outputs);
    JudgeCall(event.Wait());
    return;
  }
  const Values results = program.Run(SomeValues(inputs));
  JudgeAll(results);
  if (results.empty()) return;
  const Value& y = results[bytes_.Next(results.size())];
  if (how % 8 == 2 && y.Wait()) ++CountsOfValues().runs;
  AnyValue() = y;
}

void ValuesSession::UseVariable() {
  if (bytes_.Next(8) == 0) variables_.emplace_back(AnyValue(), "another");
  if (variables_.size() > 4) variables_.resize(1, variables_[0]);
  Variable& variable = variables_[bytes_.Next(variables_.size())];
  if (bytes_.Next(2) == 0) {
    token_ = variable.Assign(AnyValue(), {token_});
    JudgeCall(token_.Wait());
    return;
  }
  const Value value = variable.Read({token_});
  testing::Judge(value);
  AnyValue() = value;
}

void ValuesSession::ChangeMode() {
  const bool lazy = bytes_.Next(2) == 0;
  if (modes_.size() == 3) {
    modes_.pop_back();
  } else {
    modes_.push_back(
        std::make_unique<ModeScope>(lazy ? Mode::kLazy : Mode::kEager));
  }
}

void ValuesSession::FlushSome() {
  values::LazyOptions options;
  options.compile_after = static_cast<int>(bytes_.Next(4)) - 1;
  options.max_pending_nodes = 4 + bytes_.Next();
  options.max_plans = static_cast<int>(bytes_.Next(8));
  JudgeCall(values::SetLazyOptions(options));
  const values::Event event =
      bytes_.Next(2) == 0 ? values::FlushAll() : values::Flush(SomeValues(2));
  JudgeCall(event.Wait());
}

// Graphs are made by one thread at a time: others are given finished ones.
void ValuesSession::UseThreads() {
  if (!is_whole_) return;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<ValuesSession>> parts;
  for (int i = 0; i < 2; ++i) {
    parts.emplace_back(new ValuesSession(bytes_.Take(bytes_.Next(40)), *this));
  }
  for (const auto& part : parts) {
    for (Value& value : part->values_) {
      if (value.symbolic()) value = Value(2.0f);
    }
    part->graphs_ = {};
    threads.emplace_back([&part] { part->Run(); });
  }
  for (std::thread& thread : threads) thread.join();
  values_ = parts[0]->values_;
}

void ValuesSession::UseTape() {
  const ByteReader text = bytes_.Take(bytes_.Next(24));
  const Tape tape;
  const Values inputs = SomeValues(2);
  Value loss = CallFunction(text, inputs)[0];
  const int rank = loss.spec().shape.rank();
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  if (bytes_.Next(8) != 0) loss = ReduceSum(loss, axes);
  const Values gradients = tape.Gradient(loss, inputs);
  JudgeAll(gradients);
  AnyValue() = gradients[0];
}

void ValuesSession::UseGradient() {
  const ByteReader text = bytes_.Take(bytes_.Next(24));
  const int by = static_cast<int>(bytes_.Next(4)) - 1;
  const values::Function gradient = values::Grad(
      [&](const Values& in) -> Values {
        const Value y = CallFunction(text, in)[0];
        std::vector<int64_t> axes;
        for (int axis = 0; axis < y.spec().shape.rank(); ++axis) {
          axes.push_back(axis);
        }
        return {ReduceSum(y, axes)};
      },
      {by});
  const Values gradients = gradient(SomeValues(2));
  JudgeAll(gradients);
  if (!gradients.empty()) AnyValue() = gradients[0];
}

void ValuesSession::Ask() {
  const Graph& graph = AnyGraph();
  const Program& program = programs_[bytes_.Next(kGraphs)];
  switch (bytes_.Next(6)) {
    case 0:
      static_cast<void>(graph.Dump());
      static_cast<void>(graph.Level());
      break;
    case 1:
      static_cast<void>(graph.Report());
      static_cast<void>(graph.EstimateCompute());
      break;
    case 2:
      static_cast<void>(graph.EstimateMemory());
      static_cast<void>(graph.PredictMicroseconds());
      break;
    case 3:
      static_cast<void>(program.Explain());
      static_cast<void>(program.stats());
      break;
    case 4:
      static_cast<void>(values::Explain());
      static_cast<void>(values::LazyStats());
      break;
    default:
      static_cast<void>(program.Profile(SomeValues(1), 1));
  }
}

void ValuesSession::Run() {
  using Call = void (ValuesSession::*)();
  constexpr Call kCalls[] = {
      &ValuesSession::MakeValue,   &ValuesSession::Operate,
      &ValuesSession::Operate,     &ValuesSession::Look,
      &ValuesSession::Compare,     &ValuesSession::Compare,
      &ValuesSession::Capture,     &ValuesSession::MakeGraph,
      &ValuesSession::UseGraph,    &ValuesSession::RewriteGraph,
      &ValuesSession::Compile,     &ValuesSession::RunProgram,
      &ValuesSession::RunProgram,  &ValuesSession::UseVariable,
      &ValuesSession::ChangeMode,  &ValuesSession::FlushSome,
      &ValuesSession::UseThreads,  &ValuesSession::UseTape,
      &ValuesSession::UseGradient, &ValuesSession::Ask,
      &ValuesSession::Wrap,
  };
  while (!bytes_.empty()) {
    (this->*kCalls[bytes_.Next(std::size(kCalls))])();
  }
}

}  // namespace tim::testing
