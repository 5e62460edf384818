import type { InferenceSession } from "onnxruntime-node"

/**
 * Session options for every program of this package: one thread (parallelism comes from workers, each with its own
 * session), nodes in order, and denormals taken as zero, which otherwise slow a masked softmax down eightfold; from the
 * first run on, that holds for all arithmetic of its thread. Graphs are not optimized: they run no faster for it, and a
 * session takes three times as long to create. Memory comes from malloc, tensor by tensor: one block for all of a run's
 * would go back to the system after it and be faulted in again.
 */
export const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  enableCpuMemArena: false,
  enableMemPattern: false,
  graphOptimizationLevel: "disabled",
  logSeverityLevel: 3,
  extra: { session: { set_denormal_as_zero: "1" } }
}
