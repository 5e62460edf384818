/** Saves and loads the engine's weights, and tracks which checkpoint is loaded. */
import { Engine } from "@inspo/engine"
import { Effect, Ref } from "effect"
import type * as Command from "../../Command.ts"
import type { RunState } from "../../RunState.ts"
import { RunMismatch } from "../../RunData.ts"

export const make = Effect.fnUntraced(function* () {
  const engine = yield* Engine
  /** The step of the loaded checkpoint; null after further training. */
  const loaded = yield* Ref.make<number | null>(null)

  const save = Effect.fn("Perform.checkpoint")(function* ({ removed, step }: Command.Checkpoint) {
    const checkpoint = yield* engine.save(`step-${String(step).padStart(6, "0")}`)
    yield* Ref.set(loaded, step)
    yield* Effect.forEach(removed, (old) => engine.remove(old.checkpoint))
    return { _tag: "CheckpointSaved", step, checkpoint, removed: removed.map((old) => old.step) } as const
  })

  /** Loads the weights after a step, unless they are loaded. */
  const restore = Effect.fn("Perform.restore")(function* (step: number, { checkpoints }: RunState) {
    if ((yield* Ref.get(loaded)) === step) return
    const saved = checkpoints.find((known) => known.step === step)
    if (saved === undefined) return yield* new RunMismatch({ reason: `the journal has no checkpoint of step ${step}` })
    yield* engine.restore(saved.checkpoint)
    yield* Ref.set(loaded, step)
  })

  return { save, restore, trained: Ref.set(loaded, null) }
})
export type Checkpoints = Effect.Success<ReturnType<typeof make>>
