#include "tests/support/vx/doubts.h"

#include <gmock/gmock.h>

#include "device/host/host_device.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {

std::shared_ptr<vx::Context> HostContext(Lenient lenient) {
  return vx::CreateContext({device::CreateHostDevice()},
                           {.lenient = lenient == Lenient::kYes});
}

std::string LogOf(const std::function<void()>& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

void ExpectDoubt(const MakeGraph& make, const std::vector<std::string>& parts) {
  const auto lenient = HostContext(Lenient::kYes);
  const auto graph = make(*lenient);
  const std::string log =
      LogOf([&] { EXPECT_TRUE(graph->Compile()) << vx::LastError(); });
  EXPECT_EQ(Count(log, "[warning]"), 1) << log;
  for (const std::string& part : parts) {
    EXPECT_THAT(log, ::testing::HasSubstr(part));
  }
  // Another tensor makes it compile again.
  auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(y);
  EXPECT_EQ(Count(LogOf([&] { EXPECT_TRUE(graph->Compile()); }), "[warning]"),
            0);
  const auto strict = HostContext(Lenient::kNo);
  const auto refused = make(*strict);
  EXPECT_TRUE(CompileFailsWith(*refused, "TIMCL_LENIENT=0"));
  for (const std::string& part : parts) {
    EXPECT_THAT(refused->ErrorMessage(), ::testing::HasSubstr(part));
  }
}

void ExpectNoDoubt(const MakeGraph& make) {
  for (const Lenient lenient : {Lenient::kYes, Lenient::kNo}) {
    const auto context = HostContext(lenient);
    const auto graph = make(*context);
    const std::string log =
        LogOf([&] { EXPECT_TRUE(graph->Compile()) << vx::LastError(); });
    EXPECT_EQ(Count(log, "[warning]"), 0) << log;
  }
}

}  // namespace tim::testing
