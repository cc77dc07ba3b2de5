// Many launches as one; src/device/opencl/chain/chain_source.h says why and
// how.
//
// One work-group of one item = a worker.  It runs work-groups of launch 0, then
// of launch 1 when all of launch 0 are done, and so on.  Every worker has a
// share of each launch, the same part of it every time, so that what it reads
// is likely in its own cache.  Who has done his share takes what others have
// not begun.  Small launches that follow one another are done by whoever takes
// the first, without a wait between them.  A worker waits only for work that a
// running worker has taken.
// What launches have written is seen after DONE, which was counted after it,
// because the processor orders stores and loads: mem_fence may be empty, and
// orders no more than a work-item's own.  See RunsChains().
//
// table: ROW ints per launch: function, work-groups along dimensions 0 and 1,
// depth, positions, how many work-groups are taken at once, how many launches
// from this one on are taken as one and done by one worker, then the arguments.
// A position is a work-group of dimensions 0 and 1, with depth work-groups
// along dimension 2, or any work-group, where depth is 1.  A share is a range
// of positions; first come all its work-groups of depth 0, then those of depth
// 1.
// counters: STRIDE ints each: work-groups done, workers gone, then per worker
// how much of his shares is taken, where all shares of a launch count as the
// largest; all 0 before and after.
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
#define TAKEN(worker) (((worker) + 2) * STRIDE)

// Takes up to `batch` work-groups of a share of `end`: the first of them, or -1
// where all are taken.  What is taken never shrinks, so that a worker who is
// late finds the share taken, whichever launch others are at.
static inline int take(volatile __global int* taken, int before, int end,
                       int batch) {
  while (1) {
    const int seen = *taken;
    const int first = max(seen - before, 0);
    if (first >= end) return -1;
    const int more = before + min(first + batch, end);
    if (atomic_cmpxchg(taken, seen, more) == seen) return first;
  }
}

// Work-groups first to last - 1 of `part` positions from `begin` on.
static inline void run_part(int first, int last, int begin, int part,
                            __global const int* row,
                            __global char* const* buffers) {
  for (int group = first; group < last; ++group) {
    const int plane = group / part;
    const int position = begin + group - plane * part;
    const int line = position / row[1];
    run(position - line * row[1], line % row[2], line / row[2] + plane, row,
        buffers);
  }
}

__kernel void chain(volatile __global int* counters,
                    volatile __global int* begun, __global const int* table,
                    int launches, BUFFER_PARAMETERS) {
  if (begun) atomic_inc(begun);
  __global char* buffers[] = {BUFFERS};
  const int worker = get_group_id(0);
  const int workers = get_num_groups(0);
  int before = 0;         // work-groups of the launches before this one
  int shares_before = 0;  // those of their largest shares
  int launch = 0;
  while (launch < launches) {
    __global const int* row = table + launch * ROW;
    const int together = row[6];
    const int depth = together > 1 ? 1 : row[3];
    const int positions = together > 1 ? 1 : row[4];
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
        const int first =
            take(&counters[TAKEN(owner)], shares_before, end, batch);
        if (first < 0) break;
        const int last = min(first + batch, end);
        if (together == 1) run_part(first, last, begin, part, row, buffers);
        for (int k = 0; together > 1 && k < together; ++k) {
          __global const int* joined = row + k * ROW;
          run_part(0, joined[3] * joined[4], 0, joined[4], joined, buffers);
        }
        done += last - first;
      }
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (done > 0) atomic_add(&counters[DONE], done);
    before += positions * depth;
    shares_before += ((positions - 1) / workers + 1) * depth;
    launch += together;
  }
  // Whoever waits for the launch is then woken by a processor that is awake.
  while (counters[DONE] < before) {
  }
  // The last to go leaves the counters as it found them.
  if (atomic_inc(&counters[GONE]) == workers - 1) {
    for (int i = 0; i < workers; ++i) counters[TAKEN(i)] = 0;
    counters[DONE] = 0;
    counters[GONE] = 0;
  }
}
