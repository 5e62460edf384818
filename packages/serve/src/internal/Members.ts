/** What an admin does with the instructions of a population. Whatever is asked twice is done once. */
import { History, type State } from "@inspo/cohorts"
import { InstructionId } from "@inspo/domain/Instruction"
import { Effect, Equal } from "effect"
import { Conflict, NotFound } from "../Errors.ts"
import type { Member, MemberAction } from "../Member.ts"
import type { Served } from "../Populations.ts"
import { submit } from "./LeaseHandlers.ts"
import * as Loading from "./Loading.ts"
import { ofJournal, type Problem } from "./Refusals.ts"
import * as View from "./View.ts"

/** Does it, and gives the instruction as it then is. */
export const act = (served: Served, action: MemberAction): Effect.Effect<Member, Problem> =>
  served.changing.withPermit(acted(served, action))

const acted = Effect.fn("Server.member")(function* (
  served: Served,
  action: MemberAction
): Effect.fn.Return<Member, Problem> {
  switch (action.action) {
    case "add":
      return yield* add(served, action)
    case "pin":
      return yield* pin(served, action.id === null ? null : InstructionId.make(action.id))
    case "retire":
      return yield* retire(served, InstructionId.make(action.id))
    case "approve":
    case "reject":
      return yield* review(served, InstructionId.make(action.id), action.action === "approve")
  }
})

/** A text that is alive is that member. */
const add = Effect.fnUntraced(function* (
  { live }: Served,
  { parent, wording }: Extract<MemberAction, { readonly action: "add" }>
): Effect.fn.Return<Member, Problem> {
  const same = (state: State.State) => View.allOf(state).find((one) => Equal.equals(one.wording, wording))
  const known = same(yield* live.state)
  if (known !== undefined) return known
  yield* submit(live, "Done", (now) => ({
    _tag: "Add",
    now,
    content: wording,
    parent: parent === undefined ? null : InstructionId.make(parent)
  }))
  return yield* present(same(yield* live.state), "the new one")
})

const pin = Effect.fnUntraced(function* (
  { live }: Served,
  id: InstructionId | null
): Effect.fn.Return<Member, Problem> {
  const pinned = View.allOf(yield* live.state).find((one) => one.pinned)
  const target = id ?? pinned?.id
  if (target === undefined) return yield* present(incumbentOf(yield* live.state), "the incumbent")
  if (target !== pinned?.id || id === null)
    yield* submit(live, "Done", (now) => ({
      _tag: "Pin",
      now,
      id: InstructionId.make(target),
      isPinned: id !== null
    }))
  const state = yield* live.state
  return yield* present(id === null ? incumbentOf(state) : View.memberOf(state, id), target)
})

const incumbentOf = (state: State.State) => View.memberOf(state, View.incumbent(state).instruction.id)

const retire = Effect.fnUntraced(function* (served: Served, id: InstructionId): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const before = View.memberOf(yield* live.state, id)
  if (before === undefined) {
    const known = yield* gone(served, id)
    const fate = History.fate(known)
    if (fate === "retired") return removed(known, fate)
    return yield* new NotFound({
      what: "instruction",
      name: id,
      remedy: "Look at the members",
      detail: `${id} is ${fate}, and no member.`
    })
  }
  yield* submit(live, "Done", (now) => ({ _tag: "Retire", now, id }))
  return { ...before, standing: "retired", pinned: false, probability: 0 }
})

const review = Effect.fnUntraced(function* (
  served: Served,
  id: InstructionId,
  isApproved: boolean
): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const state = yield* live.state
  const candidate = View.snapshotOf(state).candidates.find((one) => one.id === id)
  const decided = isApproved ? "approved" : "rejected"
  if (candidate?.stage === "waiting") {
    const { place } = candidate
    yield* submit(live, "Done", (now) => ({ _tag: "Review", now, place, isApproved }))
    return { ...View.candidate(state, { ...candidate, stage: decided }) }
  }
  const known = yield* gone(served, id)
  const fate = History.fate(known)
  if (fate === decided) return removed(known, isApproved ? "trial" : "rejected")
  return yield* new Conflict({
    differences: [{ field: "standing", stands: fate, given: decided }],
    remedy: "Retire a member that should go; add a text that should be tried after all",
    detail: `${id} is ${fate}: it was decided on before.`
  })
})

const gone = Effect.fnUntraced(function* (
  { journal, name }: Served,
  id: InstructionId
): Effect.fn.Return<History.Known, Problem> {
  const { known } = yield* Effect.mapError(Loading.history(journal), ofJournal)
  return (
    known.get(id) ??
    (yield* new NotFound({
      what: "instruction",
      name: id,
      remedy: "Look at the members",
      detail: `${name} has no ${id}.`
    }))
  )
})

const removed = (known: History.Known, standing: Member["standing"]): Member => ({
  id: known.id,
  wording: known.content,
  origin: known.origin,
  parent: known.parent,
  generation: known.generation,
  standing,
  pinned: false,
  probability: 0,
  estimate: View.unknown,
  strata: {}
})

const present = (member: Member | undefined, name: string): Effect.Effect<Member, NotFound> =>
  member === undefined
    ? Effect.fail(
        new NotFound({
          what: "instruction",
          name,
          remedy: "Look at the members",
          detail: `${name} left meanwhile, or is no member.`
        })
      )
    : Effect.succeed(member)
