// Variables of functions: at once, in programs, in decisions and loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
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
  const auto held = [&](const Values& s) -> Values {
    return {Holder("acme.Held", {s[0]}, {one})};
  };
  EXPECT_THAT(captured(counts, more),
              HasSubstr("condition assigns variable 'count'"));
  EXPECT_THAT(captured(small, held), HasSubstr("the body has a holder"));
  EXPECT_EQ(captured(small, more), "");
}

}  // namespace
}  // namespace tim::values
