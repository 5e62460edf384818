import { apply } from "@inspo/coevolution"
import { Effect } from "effect"
import { base, play, settingOf, stepParts } from "../../core/Play.ts"
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
    make: (questions) => Effect.sync(() => Effect.sync(stepParts("spare-unseen", questions).selection))
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
        const { attribution, pruning } = stepParts("spare-unseen", questions)
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
          ...base["spare-unseen"],
          schedule: { ...base["spare-unseen"].schedule, steps },
          train: { ...base["spare-unseen"].train, batchSize: 32, miniBatchSize: 32 }
        }
        const setting = settingOf(config)
        const { events, start } = play(setting)
        return Effect.sync(() => events.reduce((state, event) => apply(setting, state, event), start))
      })
  })
  return [selection, attribution, fold].flatMap(({ growth, level }) => [level, growth])
})
