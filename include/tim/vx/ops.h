// Every operator.
#ifndef TIM_VX_OPS_H_
#define TIM_VX_OPS_H_

#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/conv2d.h"
#include "tim/vx/ops/custom_base.h"
#include "tim/vx/ops/dropout.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/embedding_lookup.h"
#include "tim/vx/ops/erf.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/gather_elements.h"
#include "tim/vx/ops/gathernd.h"
#include "tim/vx/ops/hashtable_lookup.h"
#include "tim/vx/ops/matmul.h"
#include "tim/vx/ops/onehot.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/pad_v2.h"
#include "tim/vx/ops/pool2d.h"
#include "tim/vx/ops/reshape.h"
#include "tim/vx/ops/rnn_cell.h"
#include "tim/vx/ops/scatternd.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/softmax.h"
#include "tim/vx/ops/transpose.h"

#endif  // TIM_VX_OPS_H_
