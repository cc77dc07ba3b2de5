// Decisions, loops and variables: at once, in graphs and in programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

Values Collatz(const Values& in) {
  const Outputs end = While(
      {in[0], Floats({1}, {0})},
      [](const Values& s) { return Greater(s[0], 1.0f); },
      [](const Values& s) -> Values {
        const Value half = s[0] * 0.5f;
        const Value even = Equal(half, Call("tim.Floor", {half}));
        const Value next = If(
            even, {s[0]},
            [](const Values& x) -> Values { return {x[0] * 0.5f}; },
            [](const Values& x) -> Values { return {x[0] * 3.0f + 1.0f}; });
        return {next, s[1] + 1.0f};
      });
  return {end[1]};
}

TEST(Control, RunsAtOnce) {
  EXPECT_THAT(Collatz({Floats({1}, {6})})[0].ToVector<float>(), ElementsAre(8));
  const Outputs bounded = While(
      {Floats({1}, {0})}, [](const Values&) { return Value(1.0f); },
      [](const Values& s) -> Values { return {s[0] + 1.0f}; }, 5);
  EXPECT_THAT(bounded[0].ToVector<float>(), ElementsAre(5));
  EXPECT_THAT(If(Floats({2}, {1, 1}), {}, nullptr, nullptr).error(),
              HasSubstr("one element"));
  EXPECT_THAT(If(Value(1.0f), {}, nullptr, nullptr).error(),
              HasSubstr("then part of If is no function"));
  EXPECT_THAT(While({}, nullptr, nullptr).error(), HasSubstr("no condition"));
  EXPECT_THAT(While(
                  {Value(1.0f)}, [](const Values& s) { return s[0]; },
                  [](const Values&) -> Values { return {}; })
                  .error(),
              HasSubstr("makes 0 values of 1"));
}

TEST(Control, RunsInGraphs) {
  const Graph graph =
      Graph::Capture(Collatz, {Spec(Type::kFloat32, {1})}, "collatz");
  ASSERT_TRUE(graph.ok()) << graph.error();
  const Program program = graph.Compile();
  for (const float x : {1.0f, 6.0f, 7.0f}) {
    const Value start = Floats({1}, {x});
    const Value steps = program.Run({start})[0];
    EXPECT_EQ(steps.ToVector<float>(), Collatz({start})[0].ToVector<float>())
        << steps.error();
  }
}

TEST(Control, ClosesOverValuesOfOutside) {
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values {
        const Value scale = in[1] * 2.0f;
        const Value offset = in[1] + 1.0f;
        return {If(
            Greater(in[0], 0.0f), {in[0]},
            [&](const Values& x) -> Values { return {x[0] * scale}; },
            [&](const Values& x) -> Values { return {x[0] + offset}; })};
      },
      {Spec(Type::kFloat32, {1}), Spec(Type::kFloat32, {1})});
  ASSERT_TRUE(graph.ok()) << graph.error();
  const Program program = graph.Compile();
  const auto run = [&](float x) {
    return program.Run({Floats({1}, {x}), Floats({1}, {10})})[0]
        .ToVector<float>();
  };
  EXPECT_THAT(run(2), ElementsAre(40));
  EXPECT_THAT(run(-2), ElementsAre(9));
}

// Notes `what`, and gives its operand and 1 more.
class Notes {
 public:
  Value operator()(int what, const Value& x) {
    Effects ordered;
    ordered.ordered = true;
    return Holder(
        "acme.Note", {x}, {Spec(Type::kFloat32, {1})},
        [this, what](const std::vector<Plain>& in, std::vector<Plain>* out,
                     std::string*) {
          const std::lock_guard<std::mutex> lock(mutex_);
          seen_.push_back(what);
          const float y = in[0].As<float>()[0] + 1;
          (*out)[0] = MakePlain(in[0].spec, &y);
          return true;
        },
        ordered);
  }
  std::vector<int> Take() { return std::exchange(seen_, {}); }

 private:
  std::mutex mutex_;
  std::vector<int> seen_;
};

// A graph at once, later, called and frozen.
void ExpectInAllModes(const Function& function, const Values& in, float y,
                      Notes* notes, const std::vector<int>& seen) {
  std::vector<Spec> specs;
  for (const Value& value : in) specs.push_back(value.spec());
  const auto expect = [&](const Value& found, const char* mode) {
    EXPECT_THAT(found.ToVector<float>(), ElementsAre(y))
        << mode << ": " << found.error();
    EXPECT_EQ(notes->Take(), seen) << mode;
  };
  expect(function(in)[0], "at once");
  const Graph graph = Graph::Capture(function, specs, "acme.Whole");
  ASSERT_TRUE(graph.ok()) << graph.error();
  expect(graph.Call(in)[0], "called");
  expect(graph.Compile().Run(in)[0], "frozen");
  const Graph outer = Graph::Capture(
      [&](const Values& x) -> Values { return {graph.Call(x)[0]}; }, specs);
  expect(outer.Call(in)[0], "called by another");
  expect(outer.Compile().Run(in)[0], "frozen in another");
  const ModeScope lazy(Mode::kLazy);
  Values later;
  for (const Value& value : in) later.push_back(value * 1.0f);
  expect(graph.Call(later)[0], "later");
}

TEST(Control, CallsHolders) {
  const Spec one(Type::kFloat32, {1});
  std::atomic<int> calls = 0;
  const auto twice = [&](const Value& x) -> Value {
    return Holder("acme.Twice", {x}, {one},
                  [&](const std::vector<Plain>& in, std::vector<Plain>* out,
                      std::string*) {
                    ++calls;
                    const float y = in[0].As<float>()[0] * 2;
                    (*out)[0] = MakePlain(in[0].spec, &y);
                    return true;
                  });
  };
  // Doubles below 100, then adds or doubles by holders of decisions inside.
  const Function function = [&](const Values& in) -> Values {
    const auto small = [&](const Values& s) { return Less(twice(s[0]), 100); };
    const Value doubled = While({in[0]}, small, [&](const Values& s) -> Values {
      return {If(
          Less(s[0], in[1]), s,
          [&](const Values& x) -> Values { return {twice(x[0])}; },
          [&](const Values& x) -> Values { return {x[0] + 1.0f}; })};
    });
    return {twice(doubled)};
  };
  Notes none;
  ExpectInAllModes(function, {Floats({1}, {3}), Floats({1}, {40})}, 100, &none,
                   {});
  ExpectInAllModes(function, {Floats({1}, {70}), Floats({1}, {40})}, 140, &none,
                   {});
  EXPECT_GT(calls, 0);
}

// Conditions that are not 0 are true, recorded or not.
TEST(Control, TakesConditionsOfNumbers) {
  const Function function = [](const Values& in) -> Values {
    const Value x = If(
        in[0], {in[1]}, [](const Values& s) -> Values { return {s[0] + 1.0f}; },
        [](const Values& s) -> Values { return {s[0] - 1.0f}; });
    return {While(
        {x}, [](const Values& s) { return s[0]; },
        [](const Values& s) -> Values { return {s[0] * 0.0f}; })};
  };
  const Function first = [&](const Values& in) -> Values {
    return {function(in)[0] +
            If(
                in[0], {in[1]}, [](const Values& s) { return s; },
                [](const Values& s) -> Values { return {s[0] * 2.0f}; })};
  };
  Notes none;
  for (const float x : {0.5f, -0.25f, 3.0f}) {
    ExpectInAllModes(first, {Floats({1}, {x}), Floats({1}, {5})}, 5, &none, {});
  }
  ExpectInAllModes(first, {Floats({1}, {0}), Floats({1}, {5})}, 10, &none, {});
  ExpectInAllModes(first, {Value::Of<int32_t>({1}, {256}), Floats({1}, {5})}, 5,
                   &none, {});
  for (const char* type : {"float16", "bfloat16"}) {
    for (const float x : {-0.0f, 0.0f, -0.5f}) {
      const Value condition =
          Call("tim.Cast", {Floats({1}, {x})}, {{"output_type", type}});
      ExpectInAllModes(first, {condition, Floats({1}, {5})}, x < 0 ? 5 : 10,
                       &none, {});
    }
  }
  // The type is not known when it is captured.
  const Program open = Graph::Capture(first, {Spec(), Spec()}).Compile();
  for (const float x : {0.0f, 0.5f}) {
    const Values in = {Floats({1}, {x}), Floats({1}, {5})};
    EXPECT_EQ(open.Run(in)[0].ToVector<float>(), first(in)[0].ToVector<float>())
        << LastError();
  }
}

TEST(Control, KeepsTheOrderOfHolders) {
  Notes note;
  // The results of what is noted are not all needed.
  const Function function = [&](const Values& in) -> Values {
    note(1, in[0]);
    const Value x = If(
        Greater(in[0], 0.0f), in,
        [&](const Values& s) -> Values {
          note(2, s[0]);
          return {note(3, s[0])};
        },
        [](const Values& s) -> Values { return s; });
    const Outputs end = While(
        {x, Floats({1}, {0})}, [](const Values& s) { return Less(s[1], 2.0f); },
        [&](const Values& s) -> Values {
          note(4, s[0]);
          return {s[0], s[1] + 1.0f};
        });
    note(5, in[0]);
    return {end[0]};
  };
  ExpectInAllModes(function, {Floats({1}, {1})}, 2, &note, {1, 2, 3, 4, 4, 5});
  ExpectInAllModes(function, {Floats({1}, {-1})}, -1, &note, {1, 4, 4, 5});
}

// Effects of a decision are those of each run, whatever is known before.
TEST(Control, CallsHoldersOfConstantsInEachRun) {
  Notes note;
  const Spec one(Type::kFloat32, {1});
  const Graph block = Graph::Capture(
      [&](const Values& in) -> Values {
        return {If(
            Greater(in[0], 0.0f), in,
            [&](const Values& s) -> Values { return {note(1, s[0])}; },
            [&](const Values& s) -> Values { return {note(2, s[0])}; })};
      },
      {one}, "acme.Block");
  const float data[] = {4};
  const Program program =
      Graph::Capture(
          [&](const Values& in) -> Values {
            return {in[0] + block.Call({Value::Constant(one, data)})[0]};
          },
          {one})
          .Compile();
  for (const float x : {1.0f, 2.0f}) {
    const Value y = program.Run({Floats({1}, {x})})[0];
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(x + 5)) << y.error();
    EXPECT_THAT(note.Take(), ElementsAre(1));
  }
}

TEST(Control, TellsWhatItsHoldersCannotDo) {
  const Spec one(Type::kFloat32, {1});
  Notes note;
  const auto more = [](const Values& s) -> Values { return {s[0] + 1.0f}; };
  const Graph ordered = Graph::Capture(
      [&](const Values& in) -> Values {
        return {While(
            in, [&](const Values& s) { return Less(note(1, s[0]), 3.0f); },
            more)};
      },
      {one});
  EXPECT_THAT(ordered.error(), HasSubstr("the condition has a holder whose "
                                         "effects are ordered"));
  const auto held = [&](const Values& s) -> Values {
    return {Holder("acme.Held", {s[0]}, {one})};
  };
  Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        return {If(Greater(in[0], 0.0f), in, held, more)};
      },
      {one});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_THAT(graph.Compile().error(),
              HasSubstr("holder acme.Held#0 has no function"));
  EXPECT_FALSE(Value(graph.Call({Floats({1}, {1})})).ok());
  EXPECT_THAT(Value(graph.Call({Floats({1}, {-1})})).ToVector<float>(),
              ElementsAre(0));
}

TEST(Variables, AreReadAndAssigned) {
  Variable count(Floats({1}, {0}), "count");
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(0));
  EXPECT_TRUE(count.Assign(count.Read() + 1.0f).Wait());
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(1));
  EXPECT_FALSE(count.Assign(Floats({2}, {1, 2})).ok());
  EXPECT_THAT(LastError(), HasSubstr("variable 'count'"));
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value before = count.Read();
        count.Assign(before + in[0]);
        return {before, count.Read()};
      },
      {Spec()});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(1));
  Program program = graph.Compile();
  Program other = graph.Compile();
  for (int i = 0; i < 10; ++i) {
    const Values y = (i % 2 == 0 ? program : other).Run({Floats({1}, {1})});
    EXPECT_EQ(y[0].ToVector<float>()[0], static_cast<float>(i + 1));
    EXPECT_EQ(y[1].ToVector<float>()[0], static_cast<float>(i + 2));
  }
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(11));
  EXPECT_FALSE(program.Run({Floats({3}, {1, 2, 3})})[0].ok());
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(11));
  EXPECT_FALSE(program.Save(::testing::TempDir() + "/variables.timvals"));
}

TEST(Variables, AreAssignedInDecisionsAndLoops) {
  Variable count(Floats({1}, {0}));
  Variable sum(Floats({1}, {0}));
  const auto add = [&](const Values& x) -> Values {
    sum.Assign(sum.Read() + x[0]);
    return {x[0]};
  };
  const auto other = [&](const Values&) -> Values { return {count.Read()}; };
  const auto loop = [&](const Values& in) -> Values {
    const auto goes_on = [&](const Values&) {
      return Less(count.Read(), in[1]);
    };
    const auto trip = [&](const Values& s) -> Values {
      const Value x = If(Greater(s[0], 2.0f), s, add, other);
      count.Assign(count.Read() + 1.0f);
      return {x + 1.0f};
    };
    return {While({in[0]}, goes_on, trip), count.Read(), sum.Read()};
  };
  const Program program = Graph::Capture(loop, {Spec(), Spec()}).Compile();
  for (const bool captured : {false, true}) {
    count.Assign(Floats({1}, {0}));
    sum.Assign(Floats({1}, {0}));
    for (const float n : {6.0f, 8.0f}) {
      const Values in = {Floats({1}, {n - 6}), Floats({1}, {n})};
      const Values y = captured ? program.Run(in) : loop(in);
      EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(n)) << LastError();
      EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(n));
      EXPECT_THAT(sum.Read().ToVector<float>(), ElementsAre(n == 6 ? 12 : 19));
    }
  }
}

TEST(Variables, StayWhereRunsFail) {
  const Spec one(Type::kFloat32, {1});
  Variable count(Floats({1}, {0}), "count");
  std::atomic<bool> open = true;
  const HolderFunction below_hundred = [&](const std::vector<Plain>& in,
                                           std::vector<Plain>* out,
                                           std::string* error) {
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (*out)[0] = in[0];
    *error = "too much";
    return in[0].As<float>()[0] < 100;
  };
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value sum = count.Read() + in[0];
        count.Assign(Holder("acme.Check", {sum}, {one}, below_hundred));
        return {count.Read()};
      },
      {one});
  const Program program = graph.Compile();
  const Program other = graph.Compile();
  const auto add = [&](const Program& by, float more) {
    return by.Run({Floats({1}, {more})})[0];
  };
  EXPECT_THAT(add(program, 1).ToVector<float>(), ElementsAre(1));
  open = false;
  // Later ones await the one that fails.
  const Values runs = {add(program, 100), add(other, 1), add(program, 1)};
  open = true;
  for (const Value& run : runs) {
    EXPECT_FALSE(run.Wait());
    EXPECT_THAT(run.error(), HasSubstr("too much"));
  }
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(1)) << LastError();
  EXPECT_THAT(add(other, 2).ToVector<float>(), ElementsAre(3));
  open = false;
  const Value failed = add(program, 100);
  EXPECT_TRUE(count.Assign(Floats({1}, {7})).ok());
  open = true;
  EXPECT_FALSE(failed.Wait());
  EXPECT_THAT(count.Read().ToVector<float>(), ElementsAre(7));
}

TEST(Variables, StartWithData) {
  std::string made;
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        Variable sum(in[0], "sum");
        made = LastError();
        EXPECT_FALSE(sum.Assign(in[0]).ok());
        return {sum.Read()};
      },
      {Spec()});
  EXPECT_THAT(made, HasSubstr("variable 'sum' has no initial value"));
  EXPECT_THAT(graph.error(), HasSubstr("make the variable of a value"));
}

// What a captured part cannot have is told with the part.
TEST(Variables, AreNotAssignedByConditions) {
  const Spec one(Type::kFloat32, {1});
  Variable count(Floats({1}, {0}), "count");
  const auto captured = [&](const std::function<Value(const Values&)>& goes_on,
                            const Function& body) {
    return Graph::Capture(
               [&](const Values& in) -> Values {
                 return {While({in[0]}, goes_on, body)};
               },
               {one})
        .error();
  };
  const auto small = [](const Values& s) { return Less(s[0], 3.0f); };
  const auto counts = [&](const Values& s) {
    count.Assign(count.Read() + 1.0f);
    return small(s);
  };
  const auto more = [](const Values& s) -> Values { return {s[0] + 1.0f}; };
  EXPECT_THAT(captured(counts, more),
              HasSubstr("condition assigns variable 'count'"));
  EXPECT_EQ(captured(small, more), "");
}

}  // namespace
}  // namespace tim::values
