// Graphs on several threads at once: a context per thread, and one context that
// all threads share.  A graph, its tensors and operations belong to one thread
// at a time; contexts belong to everybody.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"

using namespace tim::vx;

namespace {

constexpr int kThreads = 4;
constexpr int kRuns = 100;
constexpr uint32_t kCount = 1000;

// y = relu(factor * x), compiled and run by one thread.
class Scaler {
 public:
  Scaler(const std::shared_ptr<Context>& context, float factor)
      : graph_(context->CreateGraph()), factor_(factor) {
    x_ = graph_->CreateTensor({DataType::FLOAT32, {kCount}, INPUT});
    auto f = graph_->CreateTensor({DataType::FLOAT32, {1}, CONSTANT}, &factor_);
    auto product = graph_->CreateTensor({DataType::FLOAT32, {}, TRANSIENT});
    y_ = graph_->CreateTensor({DataType::FLOAT32, {kCount}, OUTPUT});
    (*graph_->CreateOperation<ops::Multiply>())
        .BindInputs({x_, f})
        .BindOutput(product);
    (*graph_->CreateOperation<ops::Relu>()).BindInput(product).BindOutput(y_);
  }

  bool Run(float value) {
    std::vector<float> data(kCount, value);
    data[0] = -value;
    if (!x_->CopyDataToTensor(data.data()) || !graph_->Run() ||
        !y_->CopyDataFromTensor(data.data())) {
      // Of this thread: other threads have errors of their own.
      std::printf("%s\n", LastError().c_str());
      return false;
    }
    return data[0] == 0 && data[1] == factor_ * value &&
           data[kCount - 1] == factor_ * value;
  }

 private:
  std::shared_ptr<Graph> graph_;
  const float factor_;
  std::shared_ptr<Tensor> x_, y_;
};

// `context_of()` is called on each thread.
template <typename ContextOf>
bool RunOnThreads(const char* what, const ContextOf& context_of) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&right, &context_of, t] {
      const std::shared_ptr<Context> context = context_of();
      if (context == nullptr) return;
      Scaler scaler(context, static_cast<float>(t));
      for (int run = 1; run <= kRuns; ++run) {
        if (scaler.Run(static_cast<float>(run))) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads with %s: %d of %d runs right\n", kThreads, what,
              right.load(), kThreads * kRuns);
  return right == kThreads * kRuns;
}

}  // namespace

int main() {
  const bool own =
      RunOnThreads("a context each", [] { return Context::Create(); });
  const std::shared_ptr<Context> context = Context::Create();
  const bool shared =
      RunOnThreads("one context", [&context] { return context; });
  return own && shared ? 0 : 1;
}
