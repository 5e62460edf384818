import type { EngineError } from "@inspo/engine"
import { Effect, type Scope } from "effect"
import type { Futures, Submission } from "./Futures.ts"
import type { Model, Models } from "./Models.ts"
import type { Outcome } from "./Outcomes.ts"
import { type Refusal, answered } from "./Refusal.ts"

/** A request of a model; `seq_id` says which of them it is. */
export interface Sequenced {
  readonly model_id: string
  readonly seq_id?: number | null
}

export type Submissions = ReturnType<typeof make>

/** How requests whose result is retrieved later are begun; each returns the id of its future. */
export const make = (futures: Futures, models: Models, scope: Scope.Scope) => ({
  /** A request of a model, carried out in the order of sequence numbers. `digest` is that of its body. */
  inOrder: Effect.fnUntraced(function* (
    path: string,
    request: Sequenced,
    digest: string,
    work: (model: Model) => Effect.Effect<Outcome, Refusal | EngineError>
  ) {
    const model = yield* models.asked(request.model_id)
    const sequence = request.seq_id ?? null
    return yield* futures.submit({
      slot: sequence === null ? null : `${model.id}#${sequence}`,
      digest: `${path} ${digest}`,
      once: true,
      owner: model.id,
      work: answered(work(model)),
      begin: (run) => model.enqueue({ sequence, run })
    })
  }),
  /** A request that begins at once. */
  atOnce: (
    submission: Omit<Submission, "work" | "begin"> & { readonly work: Effect.Effect<Outcome, Refusal | EngineError> }
  ) =>
    futures.submit({
      ...submission,
      work: answered(submission.work),
      begin: (run) => Effect.asVoid(Effect.forkIn(run, scope))
    })
})
