import type { Asked, Kept } from "@inspo/bench"
import type { RunConfig } from "@inspo/config"
import { RandomStream, Trajectory } from "@inspo/domain"
import { Rollout } from "@inspo/rollout"
import { Effect, FileSystem } from "effect"
import { given } from "../eval/Side.ts"
import { layerRollout } from "../layers.ts"

/** Lets the policy of a config, as it is, answer questions under an instruction; see `Host.answer` of `@inspo/bench`. */
export const answer = Effect.fn("Ask.answer")(function* (config: RunConfig, asked: Asked, kept: Kept) {
  const fs = yield* FileSystem.FileSystem
  const checkpoints = yield* fs.makeTempDirectoryScoped()
  return yield* Effect.gen(function* () {
    const rollout = yield* Rollout
    return yield* rollout.collect(
      asked.questions.map(({ index, question }) => ({
        id: Trajectory.TrajectoryId.make([...asked.path, index].join("/")),
        instruction: given(asked.instruction),
        question,
        seed: RandomStream.streamSeed(config.randomSeed, [...asked.path, index])
      })),
      { onFinished: (finished) => fs.writeFileString(kept.file, kept.lines(finished), { flag: "a" }) }
    )
  }).pipe(Effect.provide(layerRollout(config, [], checkpoints)))
}, Effect.scoped)
