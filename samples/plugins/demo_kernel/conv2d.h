/* Kernel of tim.Conv2d: float32, one group, any stride, dilation and padding.
 * A part of demo_kernel.c.
 */
#ifndef SAMPLES_PLUGINS_DEMO_KERNEL_CONV2D_H_
#define SAMPLES_PLUGINS_DEMO_KERNEL_CONV2D_H_

enum {
  kPaddingNone = -1,
  kPaddingAuto = 0,
  kPaddingValid = 1,
  kPaddingSame = 2
};

/* Integers of an attribute, or NULL. */
static const int64_t* Ints(const TimNode* node, const char* name,
                           uint64_t count) {
  TimAttribute value;
  memset(&value, 0, sizeof(value));
  value.struct_size = TIM_SIZE_THROUGH(TimAttribute, graph);
  if (g_host->views->attribute(node, name, &value) != TIM_OK) return NULL;
  return value.type == TIM_ATTRIBUTE_INTS && value.count == count ? value.ints
                                                                  : NULL;
}

static int64_t Int(const TimNode* node, const char* name, int64_t otherwise) {
  TimAttribute value;
  memset(&value, 0, sizeof(value));
  value.struct_size = TIM_SIZE_THROUGH(TimAttribute, graph);
  if (g_host->views->attribute(node, name, &value) != TIM_OK) return otherwise;
  return value.type == TIM_ATTRIBUTE_INT ? value.int_value : otherwise;
}

/* tim::vx::DataLayout: width first; 0 is any. */
enum { kWhcn = 1, kWhIcOc = 6 };

static int IsLayout(int64_t found, int64_t expected) {
  return found == 0 || found == expected;
}

static TimCode SupportsConv2d(void* state, const TimNode* node,
                              const TimDeviceProps* props, TimMessage* reason) {
  const TimViewFns* v = g_host->views;
  const TimTensorDesc *x = v->input(node, 0), *w = v->input(node, 1);
  (void)state;
  (void)props;
  if (v->epilogue_count(node) > 0) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it fuses nothing");
  }
  if (!IsFloat(x) || !IsFloat(w) || !IsFloat(v->output(node, 0)) ||
      (v->input(node, 2) != NULL && !IsFloat(v->input(node, 2)))) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it takes float32 only");
  }
  if (x->rank != 4 || w->rank != 4 || w->dims[2] != x->dims[2] ||
      Int(node, "multiplier", 0) != 0) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it takes one group only");
  }
  if (!IsLayout(Int(node, "input_layout", 0), kWhcn) ||
      !IsLayout(Int(node, "kernel_layout", 0), kWhIcOc)) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it takes default layouts only");
  }
  return TIM_OK;
}

static TimCode LowerConv2d(void* state, const TimNode* node,
                           const TimDeviceProps* props, TimLowering* lowering,
                           TimMessage* message) {
  const TimViewFns* v = g_host->views;
  const int64_t *stride = Ints(node, "stride", 2),
                *dilation = Ints(node, "dilation", 2),
                *pad = Ints(node, "pad", 4);
  const int64_t padding = Int(node, "padding", kPaddingAuto);
  Sizes s;
  (void)state;
  (void)props;
  if (stride == NULL || dilation == NULL || pad == NULL) {
    return Fail(message, TIM_INTERNAL_ERROR, "the node lacks attributes");
  }
  memset(&s, 0, sizeof(s));
  memcpy(s.in, v->input(node, 0)->dims, sizeof(s.in));
  memcpy(s.out, v->output(node, 0)->dims, sizeof(s.out));
  s.has_bias = v->input(node, 2) != NULL;
  for (int axis = 0; axis < 2; ++axis) {
    int64_t reach, total;
    s.kernel[axis] = v->input(node, 1)->dims[axis];
    s.stride[axis] = stride[axis];
    s.dilation[axis] = dilation[axis];
    reach = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
    total = (s.out[axis] - 1) * s.stride[axis] + reach - s.in[axis];
    if (padding == kPaddingAuto) s.front[axis] = pad[2 * axis];
    if (padding == kPaddingSame) s.front[axis] = total > 0 ? total / 2 : 0;
  }
  return AddStep("conv2d", &s, node, lowering);
}

#endif /* SAMPLES_PLUGINS_DEMO_KERNEL_CONV2D_H_ */
