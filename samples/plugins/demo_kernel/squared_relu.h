/* An operator of the plug-in: demo.SquaredRelu, y = max(x, 0)^2.  It runs on
 * the demo device by a kernel, on others as tim.Relu and tim.Multiply, on the
 * host by Eval().  A part of demo_kernel.c.
 */
#ifndef SAMPLES_PLUGINS_DEMO_KERNEL_SQUARED_RELU_H_
#define SAMPLES_PLUGINS_DEMO_KERNEL_SQUARED_RELU_H_

static TimCode InferSquaredRelu(void* state, const TimNode* node,
                                TimInference* inference, TimMessage* message) {
  (void)state;
  (void)message;
  return g_host->sinks->infer_output(inference, 0,
                                     g_host->views->input(node, 0));
}

static TimCode CheckSquaredRelu(void* state, const TimNode* node,
                                TimMessage* message) {
  (void)state;
  if (IsFloat(g_host->views->input(node, 0)) &&
      IsFloat(g_host->views->output(node, 0))) {
    return TIM_OK;
  }
  return Fail(message, TIM_INVALID_ARGUMENT,
              "demo.SquaredRelu takes and gives float32");
}

static TimCode EvalSquaredRelu(void* state, const TimNode* node,
                               const void* const* inputs, void* const* outputs,
                               TimMessage* message) {
  const float* x = inputs[0];
  float* y = outputs[0];
  const int64_t elements = Elements(g_host->views->output(node, 0));
  (void)state;
  (void)message;
  for (int64_t i = 0; i < elements; ++i) {
    const float relu = x[i] > 0 ? x[i] : 0;
    y[i] = relu * relu;
  }
  return TIM_OK;
}

static TimCode DecomposeSquaredRelu(void* state, const TimNode* node,
                                    TimEdits* body, TimMessage* message) {
  const TimSinkFns* s = g_host->sinks;
  int32_t values[2], relu, square;
  TimCode code;
  (void)state;
  (void)node;
  (void)message;
  values[0] = s->edit_input(body, 0);
  code = s->add_node(body, "tim.Relu", "relu", values, 1, 1, &relu, NULL);
  if (code != TIM_OK) return code;
  values[0] = values[1] = relu;
  code =
      s->add_node(body, "tim.Multiply", "square", values, 2, 1, &square, NULL);
  if (code != TIM_OK) return code;
  return s->set_output(body, 0, square);
}

static const TimOp kSquaredReluOp = {
    .struct_size = TIM_SIZE_THROUGH(TimOp, estimate),
    .version = 1,
    .domain = "demo",
    .name = "SquaredRelu",
    .inputs_required = 1,
    .inputs_limit = 1,
    .outputs_required = 1,
    .outputs_limit = 1,
    .infer = InferSquaredRelu,
    .check = CheckSquaredRelu,
    .eval = EvalSquaredRelu,
    .decompose = DecomposeSquaredRelu,
};

static uint32_t OpCount(void) { return 1; }
static const TimOp* OpAt(uint32_t index) {
  return index == 0 ? &kSquaredReluOp : NULL;
}
static const TimOpFns kOpFns = {
    .struct_size = TIM_SIZE_THROUGH(TimOpFns, op),
    .count = OpCount,
    .op = OpAt,
};

#endif /* SAMPLES_PLUGINS_DEMO_KERNEL_SQUARED_RELU_H_ */
