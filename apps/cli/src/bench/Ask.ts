import type { RunConfig } from "@inspo/config"
import { type Question, RandomStream, Trajectory } from "@inspo/domain"
import { Rollout } from "@inspo/rollout"
import { Effect, FileSystem } from "effect"
import { given } from "../eval/Side.ts"
import { layerRollout } from "../layers.ts"

/** Lets the policy of a config, as it is, answer questions under an instruction; see `Host.answer` of `@inspo/bench`. */
export const answer = Effect.fn("Ask.answer")(function* (
  config: RunConfig,
  asked: {
    readonly instruction: string
    readonly path: RandomStream.StreamPath
    readonly questions: ReadonlyArray<{ readonly index: number; readonly question: Question.Question }>
  },
  kept: { readonly file: string; readonly lines: (finished: ReadonlyArray<Trajectory.Trajectory>) => string }
) {
  const fs = yield* FileSystem.FileSystem
  const checkpoints = yield* fs.makeTempDirectoryScoped()
  return yield* Effect.gen(function* () {
    const rollout = yield* Rollout
    return yield* rollout.collect(
      asked.questions.map(({ index, question }) => ({
        id: Trajectory.TrajectoryId.make([...asked.path, index].join("/")),
        instruction: given(asked.instruction),
        question,
        seed: RandomStream.streamSeed(config.seed, [...asked.path, index])
      })),
      { onFinished: (finished) => fs.writeFileString(kept.file, kept.lines(finished), { flag: "a" }) }
    )
  }).pipe(Effect.provide(layerRollout(config, [], checkpoints)))
}, Effect.scoped)
