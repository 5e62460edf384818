/** Populations in a database of several servers, for the active one: a journal each, by the register. */
import { JournalError } from "@inspo/journal"
import { Effect, Schedule, Semaphore } from "effect"
import * as Register from "./internal/Register.ts"
import type { PopulationStore } from "./PopulationStore.ts"
import type { Own } from "./Standby.ts"

/** Deletes what an earlier active server had removed and not deleted. */
export const make = Effect.fnUntraced(function* ({
  journals,
  lost,
  register
}: Own): Effect.fn.Return<PopulationStore.Interface, JournalError> {
  const read = Register.read(register)
  const one = Semaphore.makeUnsafe(1)
  const remove = (run: string) =>
    Effect.andThen(waiting(journals.remove(run)), Register.append(register, { _tag: "Deleted", run }))
  yield* Effect.forEach((yield* read).removed, remove, { discard: true })
  const refuse = (name: string, reason: "exists" | "missing", detail: string) =>
    new JournalError({ reason, file: `${register.meta.file}, population ${name}`, sequence: null, detail })

  return {
    names: Effect.map(read, ({ populations }) => Array.from(populations.keys())),
    make: Effect.fnUntraced(function* (name) {
      const { nextRun, populations } = yield* read
      if (populations.has(name)) return yield* refuse(name, "exists", "it is there already; choose another name")
      // What is there under this run was never entered: its maker died.
      const journal = yield* Effect.catchIf(
        journals.open(nextRun, "create", lost),
        ({ reason }) => reason === "exists",
        () => Effect.andThen(waiting(journals.remove(nextRun)), journals.open(nextRun, "create", lost))
      )
      yield* Register.append(register, { _tag: "Made", name, run: nextRun })
      return journal
    }, Semaphore.withPermit(one)),
    open: Effect.fnUntraced(function* (name) {
      const run = (yield* read).populations.get(name)
      if (run === undefined) return yield* refuse(name, "missing", "there is none; make it")
      return yield* waiting(journals.open(run, "open", lost))
    }),
    remove: Effect.fnUntraced(function* (name) {
      const run = (yield* read).populations.get(name)
      if (run === undefined) return
      yield* Register.append(register, { _tag: "Removed", name, run })
      yield* remove(run)
    })
  }
})

/** The active server before this one may be frozen: its hold on a journal ends a lease after its last commit. */
const waiting = <A, R>(effect: Effect.Effect<A, JournalError, R>): Effect.Effect<A, JournalError, R> =>
  Effect.retry(effect, {
    while: ({ reason }) => reason === "locked",
    schedule: Schedule.spaced("100 millis"),
    times: 100
  })
