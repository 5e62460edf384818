import type { Program } from "../graph/Program.ts"
import type { ModelConfig } from "../model/ModelConfig.ts"
import { type PackedShape, packedGraph } from "../model/PackedGraph.ts"
import { sequenceGraph } from "../model/SequenceGraph.ts"
import { type SharedProgram, shareProgram } from "./Protocol.ts"

export type Programs = ReturnType<typeof make>

/** The programs of one model, each built when it is needed and not among the {@link mostPrograms} used last. */
export const make = (config: ModelConfig) => {
  const built = new Map<string, SharedProgram>()
  const memoize = (name: string, build: () => Program): SharedProgram => {
    const program = built.get(name) ?? shareProgram(build())
    // Put back at the end, so that the first is the one not used for longest.
    built.delete(name)
    built.set(name, program)
    const [oldest] = built.keys()
    if (oldest !== undefined && built.size > mostPrograms) built.delete(oldest)
    return program
  }
  return {
    sequence: (rows: number, length: number, mode: "cross-entropy" | "logprob") =>
      memoize(`sequence/${mode}/${rows}x${length}`, () => sequenceGraph(config, { rows, length, mode })),
    packed: (shape: PackedShape, mode: "grpo" | "logprob") =>
      memoize(`packed/${mode}/${shape.groups}x${shape.completions}/${shape.promptLength}+${shape.responseLength}`, () =>
        packedGraph(config, { ...shape, mode })
      )
  }
}

/** Programs kept: more than the steps of a run mostly need, which come in ever new shapes. */
export const mostPrograms = 64
