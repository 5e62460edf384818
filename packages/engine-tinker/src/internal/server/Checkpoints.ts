import type { Engine } from "@inspo/engine"
import { Clock, Effect, Option } from "effect"
import type { Catalog, Entry } from "../../Catalog.ts"
import type * as Wire from "../../Wire.ts"
import { fileName, type Model } from "./Models.ts"
import { type Refusal, refuse, quoted } from "./Refusal.ts"
import type { LoadedWeights } from "./LoadedWeights.ts"

/** What is saved: weights with optimizer state, or weights to sample from. */
type Kind = "weights" | "sampler_weights"

export type Checkpoints = ReturnType<typeof make>

/** Checkpoints by the paths of the protocol, of which some expire. */
export const make = (catalog: Catalog, engine: Engine.Interface, loaded: LoadedWeights) => {
  const find = Effect.fnUntraced(function* (path: string) {
    const found = yield* catalog.get(path)
    return found === undefined || isOver(found, yield* Clock.currentTimeMillis) ? Option.none() : Option.some(found)
  })
  const remove = (path: string, entry: Entry) => Effect.andThen(catalog.remove(path), engine.remove(entry))

  return {
    get: (path: string) =>
      Effect.flatMap(
        find(path),
        Option.match({
          onNone: () => Effect.fail(refuse(`Checkpoint ${quoted(path)} not found`, 404)),
          onSome: Effect.succeed
        })
      ),
    /** Those that are not over, in the order in which they came. */
    all: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return Array.from(yield* catalog.list).filter(([, entry]) => !isOver(entry, now))
    }),
    /** Writes the weights of a model under a path of their own. */
    save: Effect.fnUntraced(function* (
      model: Model,
      kind: Kind,
      name: string,
      request: Pick<typeof Wire.SaveWeightsRequest.Type, "overwrite" | "ttl_seconds" | "user_metadata">
    ) {
      const path = pathOf(model.id, kind, name)
      if (request.overwrite !== true && Option.isSome(yield* find(path)))
        return yield* refuse(`Checkpoint ${path} exists`, 409)
      const ref = yield* loaded.using(model.weights, engine.save(`${fileName(model.id)}.${kind}.${name}`))
      const savedAt = yield* Clock.currentTimeMillis
      const { ttl_seconds: seconds = null, user_metadata: metadata = null } = request
      yield* catalog.put(path, {
        ...ref,
        savedAt,
        ...(seconds === null ? {} : { expiresAt: savedAt + 1000 * seconds }),
        ...(model.loraRank === null ? {} : { loraRank: model.loraRank }),
        ...(metadata === null ? {} : { metadata })
      })
      return { path, ref }
    }),
    remove,
    /** Removes those whose time is over; what cannot be removed is logged. */
    expire: Effect.fnUntraced(function* (now: number) {
      for (const [path, entry] of yield* catalog.list)
        if (isOver(entry, now))
          yield* Effect.catchTag(remove(path, entry), "EngineError", ({ message }) =>
            Effect.logWarning(`${path}: ${message}`)
          )
    })
  }
}

/** How the protocol names a checkpoint. */
export const pathOf = (model: string, kind: string, name: string): string => `tinker://${model}/${kind}/${name}`

/** Refuses a name before anything is queued: it becomes that of a file. */
export const checkName = (name: string | null | undefined): Effect.Effect<void, Refusal> =>
  name === null || name === undefined || /^\w[\w.-]{0,99}$/u.test(name)
    ? Effect.void
    : Effect.fail(
        refuse(`path is ${quoted(name)}, expected 1 to 100 letters, digits, "_", "-" and ".", the first no "-" or "."`)
      )

const isOver = ({ expiresAt = Infinity }: Entry, now: number): boolean => expiresAt <= now
