// Holders that start runs of programs, their own among them, and wait for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
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

// A program that is a holder of one float.
Program Holds(const std::string& name, const HolderFunction& function) {
  const Spec one(Type::kFloat32, {1});
  return Graph::Capture(
             [&](const Values& in) -> Values {
               return {Holder(name, in, {one}, function)};
             },
             {one})
      .Compile();
}

TEST(HeldRuns, CannotWaitForTheirRun) {
  std::promise<void> known;
  std::shared_future<void> is_known = known.get_future().share();
  Value result;
  const HolderFunction asks = [&](const std::vector<Plain>& in,
                                  std::vector<Plain>* out, std::string* error) {
    is_known.wait();
    (*out)[0] = in[0];
    if (result.Wait()) return true;
    *error = LastError();
    EXPECT_FALSE((result + 1.0f).ok());
    EXPECT_TRUE(result.ok()) << "only the run may fail it";
    return in[0].As<float>()[0] > 1;
  };
  const Program program = Holds("acme.Asks", asks);
  result = program.Run({Floats({1}, {1})})[0];
  known.set_value();
  EXPECT_FALSE(result.Wait());
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.error(), HasSubstr("holder acme.Asks: inside a holder"));
}

TEST(HeldRuns, CannotRunWhatFollowsTheirRun) {
  const Spec one(Type::kFloat32, {1});
  Effects ordered;
  ordered.ordered = true;
  Program program;
  const HolderFunction again = [&](const std::vector<Plain>& in,
                                   std::vector<Plain>* out, std::string*) {
    (*out)[0] = in[0];
    const Value x = Value::FromHost(in[0].spec, in[0].data.get());
    EXPECT_THAT(program.Run({x})[0].error(), HasSubstr("inside a holder"));
    return true;
  };
  // The holder of a first run may be called before the run is known.
  for (int i = 0; i < 50; ++i) {
    program = Graph::Capture(
                  [&](const Values& in) -> Values {
                    return {Holder("acme.Again", in, {one}, again, ordered)};
                  },
                  {one})
                  .Compile();
    EXPECT_THAT(program.Run({Floats({1}, {3})})[0].ToVector<float>(),
                ElementsAre(3));
  }
}

// Adds 1 to what `next` gives for one less, down to 0.
Program Counts(const Program& next) {
  return Holds("acme.Counts",
               [&next](const std::vector<Plain>& in, std::vector<Plain>* out,
                       std::string* error) {
                 const float x = in[0].As<float>()[0];
                 float y = -1;
                 if (x > 0) {
                   const Event run = next.RunInto({Floats({1}, {x - 1})}, {&y});
                   if (!run.Wait()) return *error = run.error(), false;
                 }
                 (*out)[0] = MakePlain(in[0].spec, &++y);
                 return true;
               });
}

TEST(HeldRuns, RunTheirOwnPrograms) {
  Program alone;
  alone = Counts(alone);
  Program even;
  const Program odd = Counts(even);
  even = Counts(odd);
  for (const Program* program : {&alone, &even}) {
    EXPECT_THAT(program->Run({Floats({1}, {20})})[0].ToVector<float>(),
                ElementsAre(20))
        << LastError();
    EXPECT_FALSE(program->Run({Floats({1}, {200})})[0].Wait());
    EXPECT_THAT(LastError(), HasSubstr("inside a holder"));
    EXPECT_THAT(LastError(), HasSubstr("64 runs of graph"));
    EXPECT_THAT(program->Run({Floats({1}, {3})})[0].ToVector<float>(),
                ElementsAre(3));
  }
}

// More runs than there are contexts for; the first one's holder asks.
TEST(HeldRuns, AskTheProgramWhoseRunsWait) {
  const Spec one(Type::kFloat32, {1});
  Effects ordered;
  ordered.ordered = true;
  Program program;
  std::atomic<int> started = 0;
  const HolderFunction asks = [&](const std::vector<Plain>& in,
                                  std::vector<Plain>* out, std::string*) {
    (*out)[0] = in[0];
    if (in[0].As<float>()[0] != 0) return true;
    while (started < 4) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(program.stats().plans, 1);
    EXPECT_THAT(program.Run({Floats({1}, {9})})[0].error(),
                HasSubstr("inside a holder"));
    return true;
  };
  program = Graph::Capture(
                [&](const Values& in) -> Values {
                  return {Holder("acme.Asks", in, {one}, asks, ordered)};
                },
                {one})
                .Compile();
  Values runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(program.Run({Floats({1}, {static_cast<float>(i)})})[0]);
    ++started;
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_THAT(runs[static_cast<size_t>(i)].ToVector<float>(),
                ElementsAre(static_cast<float>(i)));
  }
}

// Threads of holders are outside of their runs: each of these waits for one
// more run of the program, while all that there is room for wait.
TEST(HeldRuns, WaitForRunsOnThreadsOfTheirOwn) {
  Program program;
  std::atomic<int> started = 0;
  program = Holds("acme.Threads", [&](const std::vector<Plain>& in,
                                      std::vector<Plain>* out, std::string*) {
    const float x = in[0].As<float>()[0];
    float y = x;
    if (x > 0) {
      ++started;
      while (started < 4) std::this_thread::yield();
      std::thread([&] {
        const Value made = program.Run({Floats({1}, {x - 1})})[0];
        EXPECT_TRUE(made.Wait()) << made.error();
        if (made.ok()) y += made.ToVector<float>()[0];
      }).join();
    }
    (*out)[0] = MakePlain(in[0].spec, &y);
    return true;
  });
  Values runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(program.Run({Floats({1}, {2})})[0]);
  }
  for (const Value& run : runs) {
    EXPECT_THAT(run.ToVector<float>(), ElementsAre(3)) << run.error();
  }
}

// The run that holds waits, by a holder of another run, for itself.
TEST(HeldRuns, CannotWaitForTheirRunByAnother) {
  std::promise<void> known;
  std::shared_future<void> is_known = known.get_future().share();
  Value outer;
  const Program inner =
      Holds("acme.Asks", [&](const std::vector<Plain>& in,
                             std::vector<Plain>* out, std::string* error) {
        (*out)[0] = in[0];
        return outer.Wait() ? true : (*error = LastError(), false);
      });
  const Program program =
      Holds("acme.Calls", [&](const std::vector<Plain>& in,
                              std::vector<Plain>* out, std::string* error) {
        is_known.wait();
        (*out)[0] = in[0];
        const Value y = inner.Run({Floats({1}, {1})})[0];
        return y.Wait() ? true : (*error = LastError(), false);
      });
  outer = program.Run({Floats({1}, {1})})[0];
  known.set_value();
  EXPECT_FALSE(outer.Wait());
  EXPECT_THAT(outer.error(), HasSubstr("inside a holder"));
}

// A program that adds its input to a variable.
Program AddsTo(Variable* sum, ProgramOptions options = {}) {
  return Graph::Capture(
             [&](const Values& in) -> Values {
               sum->Assign(sum->Read() + in[0]);
               return {sum->Read()};
             },
             {sum->Read().spec()})
      .Compile(options);
}

// Runs that write variables wait for a context while holders of such runs write
// variables, too.
TEST(HeldRuns, WriteVariables) {
  Variable outer(Floats({1}, {0}));
  Variable inner(Floats({1}, {0}));
  const Program adds = AddsTo(&inner);
  std::atomic<int> started = 0;
  const Spec one(Type::kFloat32, {1});
  const HolderFunction function = [&](const std::vector<Plain>& in,
                                      std::vector<Plain>* out,
                                      std::string* error) {
    while (started < 4) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (*out)[0] = in[0];
    const Value x = adds.Run({Floats({1}, {2})})[0];
    return x.Wait() ? true : (*error = x.error(), false);
  };
  for (const bool ordered : {false, true}) {
    started = 0;
    Effects effects;
    effects.ordered = ordered;
    const Program program =
        Graph::Capture(
            [&](const Values& in) -> Values {
              const Value held =
                  Holder("acme.Adds", in, {one}, function, effects);
              outer.Assign(outer.Read() + held);
              return {outer.Read()};
            },
            {one})
            .Compile();
    Values runs;
    for (int i = 0; i < 8; ++i) {
      runs.push_back(program.Run({Floats({1}, {1})})[0]);
      ++started;
    }
    for (const Value& run : runs) EXPECT_TRUE(run.Wait()) << run.error();
    const float done = ordered ? 16 : 8;
    EXPECT_THAT(outer.Read().ToVector<float>(), ElementsAre(done));
    EXPECT_THAT(inner.Read().ToVector<float>(), ElementsAre(2 * done));
  }
}

// Nothing that is added is lost.
TEST(HeldRuns, WriteTheSameVariableOnSeveralThreads) {
  Variable sum(Floats({1}, {0}));
  const Program programs[] = {AddsTo(&sum), AddsTo(&sum)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const Value y = programs[t % 2].Run({Floats({1}, {1})})[0];
        if (i % 10 == 0) {
          EXPECT_TRUE(y.Wait()) << y.error();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(sum.Read().ToVector<float>(), ElementsAre(400));
}

// Adds what a holder of a constant makes: it is called when a plan is made.
Graph AddsHeldConstant(const HolderFunction& function) {
  const float five = 5;
  const Value constant = Value::Constant(Spec(Type::kFloat32, {1}), &five);
  Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value held =
            Holder("acme.Asks", {Relu(in[0])}, {constant.spec()}, function);
        return {in[0] + held};
      },
      {constant.spec()}, "asks");
  EXPECT_EQ(graph.Replace(Pattern::Op("tim.Relu"),
                          [&](const Match&) -> Values { return {constant}; }),
            1)
      << LastError();
  return graph;
}

TEST(HeldRuns, WriteVariablesWhileAWriterIsCompiled) {
  Variable inner(Floats({1}, {0}));
  Variable outer(Floats({1}, {0}));
  const Program adds = AddsTo(&inner);
  const Graph asks = AddsHeldConstant(
      [&](const std::vector<Plain>& in, std::vector<Plain>* out, std::string*) {
        (*out)[0] = in[0];
        return adds.Run({Floats({1}, {2})})[0].Wait();
      });
  const Program program = Graph::Capture(
                              [&](const Values& in) -> Values {
                                outer.Assign(asks.Call(in)[0]);
                                return {outer.Read()};
                              },
                              {outer.Read().spec()})
                              .Compile();
  EXPECT_THAT(program.Run({Floats({1}, {1})})[0].ToVector<float>(),
              ElementsAre(6));
  EXPECT_THAT(inner.Read().ToVector<float>(), ElementsAre(2));
}

TEST(HeldRuns, AskTheProgramThatIsCompiled) {
  Program program;
  int64_t misses = 0;
  const Graph graph = AddsHeldConstant(
      [&](const std::vector<Plain>& in, std::vector<Plain>* out, std::string*) {
        (*out)[0] = in[0];
        misses = program.stats().misses;
        EXPECT_EQ(program.Explain(), "");
        EXPECT_THAT(program.Run({Floats({1}, {1})})[0].error(),
                    HasSubstr("while graph 'asks' is compiled"));
        return true;
      });
  program = graph.Compile();
  EXPECT_THAT(program.Run({Floats({1}, {1})})[0].ToVector<float>(),
              ElementsAre(6));
  EXPECT_EQ(misses, 1);
}

// The thread that makes the plan waits, in a function, for one that needs it.
TEST(HeldRuns, NeedThePlanOnAnotherThread) {
  for (const int most : {1, 1000}) {
    SCOPED_TRACE(most);
    Program program;
    std::atomic<int> calls = 0;
    std::atomic<int> refused = 0;
    program = AddsHeldConstant([&](const std::vector<Plain>& in,
                                   std::vector<Plain>* out, std::string*) {
                (*out)[0] = in[0];
                if (++calls > most) return true;
                std::thread([&] {
                  const Value y = program.Run({Floats({1}, {2})})[0];
                  if (y.ok()) {
                    EXPECT_THAT(y.ToVector<float>(), ElementsAre(7));
                    return;
                  }
                  ++refused;
                  EXPECT_THAT(y.error(), HasSubstr("while graph 'asks' is "
                                                   "compiled"));
                }).join();
                return true;
              }).Compile();
    EXPECT_THAT(program.Run({Floats({1}, {1})})[0].ToVector<float>(),
                ElementsAre(6));
    EXPECT_EQ(refused, most == 1 ? 0 : 1);
    EXPECT_EQ(program.stats().plans, 1);
  }
}

}  // namespace
}  // namespace tim::values
