#include "custom_ops/hswish.h"

#include <vector>

#include "tim/vx/checked_library.h"

using namespace tim::vx;

static std::vector<check::NamedOperator> Operators() {
  check::NamedOperator hswish;
  hswish.name = "HSwish";
  hswish.checked.create = [](Graph* graph, const check::Operands&) {
    return graph->CreateOperation<tim::custom_ops::HSwish>();
  };
  hswish.checked.inputs.resize(1);
  hswish.checked.inputs[0].types = {DataType::FLOAT32, DataType::FLOAT16};
  hswish.checked.outputs.resize(1);
  hswish.options.cases = 4;
  return {hswish};
}

TIM_VX_CHECKED_OPERATORS(Operators)
