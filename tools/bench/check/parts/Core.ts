import { apply } from "@inspo/coevolution"
import { Effect } from "effect"
import { base, play, contextOf, stepParts } from "../../core/Play.ts"
import { measure } from "../Workload.ts"

const part = "core"

/** The pure core: a step's decisions, and the fold of a run. */
export const figures = Effect.gen(function* () {
  const selection = yield* measure({
    part,
    name: "selection of a step",
    items: "questions",
    sizes: [512, 16_384],
    bound: 0.6,
    make: (questions) => Effect.sync(() => Effect.sync(stepParts("evidence", questions).selection))
  })
  const attribution = yield* measure({
    part,
    name: "attribution and pruning",
    items: "questions",
    sizes: [512, 16_384],
    // The rewards of the large size do not fit into the caches of the processor.
    bound: 5,
    make: (questions) =>
      Effect.sync(() => {
        const { attribution, pruning } = stepParts("evidence", questions)
        return Effect.sync(() => [attribution(), pruning()])
      })
  })
  const fold = yield* measure({
    part,
    name: "fold of a run",
    items: "steps",
    sizes: [20, 600],
    make: (steps) =>
      Effect.sync(() => {
        const config = {
          ...base.evidence,
          schedule: { ...base.evidence.schedule, steps },
          train: { ...base.evidence.train, batchSize: 32, miniBatch: { ...base.evidence.train.miniBatch, size: 32 } }
        }
        const context = contextOf(config)
        const { events, start } = play(context)
        return Effect.sync(() => events.reduce((state, event) => apply(context, state, event), start))
      })
  })
  return [selection, attribution, fold].flatMap(({ growth, level }) => [level, growth])
})
