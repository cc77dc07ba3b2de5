// Many launches as one; src/device/opencl/chain/chain_source.h says why and
// how.
//
// One work-group of one item = a worker.  It runs work-groups of launch 0, then
// of launch 1 when all of launch 0 are done, and so on.  Every worker has a
// share of each launch, the same part of it every time, so that what it reads
// is likely in its own cache.  Who has done his share takes what others have
// not begun.  A worker waits only for work that a running worker has taken.
// What launches have written is seen after DONE, which was counted after it,
// because the processor orders stores and loads: mem_fence may be empty, and
// orders no more than a work-item's own.  See RunsChains().
//
// table: ROW ints per launch: function, work-groups along dimensions 0 and 1,
// depth, positions, how many work-groups are taken at once, then the arguments.
// A position is a work-group of dimensions 0 and 1, with depth work-groups
// along dimension 2, or any work-group, where depth is 1.  A share is a range
// of positions; first come all its work-groups of depth 0, then those of
// depth 1. counters: STRIDE ints each: work-groups done, workers gone, then per
// launch and worker how much of his share is taken; all 0 before and after.
// begun: counts the workers that have begun, for the host to see; or null.
// The text before this one defines run(), which runs a work-group.
//
// -DROW=8, -DSTRIDE=32
// -DBUFFER_PARAMETERS, -DBUFFERS  the memory that arguments lie in, as
//                                 parameters and as values

#ifndef ROW
#define ROW 8
#define STRIDE 32
#define BUFFER_PARAMETERS __global char* b0
#define BUFFERS b0
static void run(size_t x, size_t y, size_t z, __global const int* row,
                __global char* const* buffers) {
  buffers[0][x + y + z] = row[0];
}
#endif

#define DONE 0
#define GONE STRIDE
#define TAKEN(launch, worker) (((launch)*workers + (worker) + 2) * STRIDE)

__kernel void chain(volatile __global int* counters,
                    volatile __global int* begun, __global const int* table,
                    int launches, BUFFER_PARAMETERS) {
  if (begun) atomic_inc(begun);
  __global char* buffers[] = {BUFFERS};
  const int worker = get_group_id(0);
  const int workers = get_num_groups(0);
  int before = 0;  // work-groups of the launches before this one
  for (int launch = 0; launch < launches; ++launch) {
    __global const int* row = table + launch * ROW;
    const int depth = row[3];
    const int positions = row[4];
    const int batch = row[5];
    while (counters[DONE] < before) {
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    int done = 0;
    for (int i = 0; i < workers; ++i) {
      const int owner = (worker + i) % workers;
      const int begin = (long)positions * owner / workers;
      const int part = (long)positions * (owner + 1) / workers - begin;
      const int end = part * depth;
      while (1) {
        const int first = atomic_add(&counters[TAKEN(launch, owner)], batch);
        if (first >= end) break;
        const int last = min(first + batch, end);
        for (int group = first; group < last; ++group) {
          const int plane = group / part;
          const int position = begin + group - plane * part;
          const int line = position / row[1];
          run(position - line * row[1], line % row[2], line / row[2] + plane,
              row, buffers);
        }
        done += last - first;
      }
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (done > 0) atomic_add(&counters[DONE], done);
    before += positions * depth;
  }
  // Whoever waits for the launch is then woken by a processor that is awake.
  while (counters[DONE] < before) {
  }
  // The last to go leaves the counters as it found them.
  if (atomic_inc(&counters[GONE]) == workers - 1) {
    for (int launch = 0; launch < launches; ++launch) {
      for (int i = 0; i < workers; ++i) counters[TAKEN(launch, i)] = 0;
    }
    counters[DONE] = 0;
    counters[GONE] = 0;
  }
}
