// The first program of tim::values: the same function at once, as a program,
// and later.  It prints 0 0 4 3 5 0 three times.
#include <cstdio>
#include <vector>

#include "tim/values/values.h"

using namespace tim::values;

namespace {

// A function of values: it runs, or records, whatever it calls.
std::vector<Value> Rectify(const std::vector<Value>& in) {
  return {Relu(in[0] + in[1])};
}

bool Print(const Value& value) {
  const std::vector<float> elements = value.ToVector<float>();
  if (elements.empty()) {
    std::fprintf(stderr, "%s\n", LastError().c_str());
    return false;
  }
  for (const float element : elements) {
    std::printf("%g ", static_cast<double>(element));
  }
  std::printf("\n");
  return true;
}

}  // namespace

int main() {
  const Value x = Value::Of<float>({3, 2}, {0.5f, -2, 3, 4, 5, -6});
  const Value b = Value::Of<float>({3}, {-1, 0, 1});

  // Eager: every call runs at once, on the default device.
  bool ok = Print(Rectify({x, b})[0]);

  // Captured without shapes, and compiled for those that come.
  const Graph graph = Graph::Capture(Rectify, {Spec(), Spec()});
  const Program program = graph.Compile();
  ok = Print(program.Run({x, b})[0]) && ok;

  // Lazy: nothing runs before somebody asks for a value.
  const ModeScope lazy(Mode::kLazy);
  ok = Print(Rectify({x, b})[0]) && ok;
  return ok ? 0 : 1;
}
