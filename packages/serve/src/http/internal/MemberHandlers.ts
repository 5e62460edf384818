/** Adds, pins, retires and reviews the instructions of a population. A repeated request changes nothing. */
import { History, type State } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import { Effect, Equal } from "effect"
import type { Served } from "../../live/Populations.ts"
import * as View from "../../live/View.ts"
import * as Loading from "../../store/Loading.ts"
import { Conflict, NotFound } from "../../wire/Errors.ts"
import { ofJournal, type Problem } from "../../wire/internal/Refusals.ts"
import type { Member, MemberAction } from "../../wire/Member.ts"
import { submit } from "./Serving.ts"

/** Performs the action, and returns the instruction as it is then. */
export const act = Effect.fn("Server.member")(
  function* (served: Served, action: MemberAction): Effect.fn.Return<Member, Problem> {
    yield* Effect.annotateCurrentSpan({ action: action.action })
    switch (action.action) {
      case "add":
        return yield* add(served, action)
      case "pin":
        return yield* pin(served, action.id === null ? null : Instruction.InstructionId.make(action.id))
      case "retire":
        return yield* retire(served, Instruction.InstructionId.make(action.id))
      case "approve":
      case "reject":
        return yield* review(served, Instruction.InstructionId.make(action.id), action.action === "approve")
    }
  },
  (effect, { changing }) => changing.withPermit(effect)
)

/** If a member has the text already, it is returned. */
const add = Effect.fnUntraced(function* (
  { live }: Served,
  { parent, wording }: Extract<MemberAction, { readonly action: "add" }>
): Effect.fn.Return<Member, Problem> {
  const same = (state: State.State) => View.allOf(live.decides, state).find((one) => Equal.equals(one.wording, wording))
  const known = same(yield* live.state)
  if (known !== undefined) return known
  yield* submit(live, "Done", (now) => ({
    _tag: "Add",
    now,
    content: wording,
    parent: parent === undefined ? null : Instruction.InstructionId.make(parent)
  }))
  return yield* present(same(yield* live.state), "the new one")
})

const pin = Effect.fnUntraced(function* (
  { live }: Served,
  id: Instruction.InstructionId | null
): Effect.fn.Return<Member, Problem> {
  const pinned = View.allOf(live.decides, yield* live.state).find((one) => one.pinned)
  const target = id ?? pinned?.id
  if (target === undefined) return yield* present(incumbentOf(live, yield* live.state), "the incumbent")
  if (target !== pinned?.id || id === null)
    yield* submit(live, "Done", (now) => ({
      _tag: "Pin",
      now,
      id: Instruction.InstructionId.make(target),
      isPinned: id !== null
    }))
  const state = yield* live.state
  return yield* present(id === null ? incumbentOf(live, state) : View.memberOf(live.decides, state, id), target)
})

const incumbentOf = ({ decides }: Served["live"], state: State.State) =>
  View.memberOf(decides, state, View.incumbent(state).instruction.id)

const retire = Effect.fnUntraced(function* (
  served: Served,
  id: Instruction.InstructionId
): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const before = View.memberOf(live.decides, yield* live.state, id)
  if (before === undefined) {
    const known = yield* formerMember(served, id)
    const fate = History.fate(known)
    return fate === "retired" ? View.nonMember(known, fate) : yield* notFound(id, `${id} is ${fate}, not a member.`)
  }
  yield* submit(live, "Done", (now) => ({ _tag: "Retire", now, id }))
  return { ...before, standing: "retired", pinned: false, probability: 0, chance: 0, toSeed: null }
})

const review = Effect.fnUntraced(function* (
  served: Served,
  id: Instruction.InstructionId,
  isApproved: boolean
): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const state = yield* live.state
  const candidate = View.snapshotOf(live.decides, state).candidates.find((one) => one.id === id)
  const decided = isApproved ? "approved" : "rejected"
  if (candidate?.stage === "waiting") {
    const { place } = candidate
    yield* submit(live, "Done", (now) => ({ _tag: "Review", now, place, isApproved }))
    return View.candidate(state, { ...candidate, stage: decided })
  }
  const known = yield* formerMember(served, id)
  const fate = History.fate(known)
  if (fate === decided) return View.nonMember(known, isApproved ? "approved" : "rejected")
  return yield* new Conflict({
    differences: [{ field: "standing", current: fate, given: decided }],
    remedy: "Retire the member if it should be removed, or add its text again if it should be tried",
    detail: `${id} is ${fate}: it was reviewed before.`
  })
})

const formerMember = Effect.fnUntraced(function* (
  { journal, name }: Served,
  id: Instruction.InstructionId
): Effect.fn.Return<History.Known, Problem> {
  const { known } = yield* Effect.mapError(Loading.history(journal), ofJournal)
  return known.get(id) ?? (yield* notFound(id, `${name} has no ${id}.`))
})

const present = (member: Member | undefined, name: string): Effect.Effect<Member, NotFound> =>
  member === undefined ? Effect.fail(notFound(name, `${name} is not a member any more.`)) : Effect.succeed(member)

const notFound = (name: string, detail: string) =>
  new NotFound({ what: "instruction", name, remedy: "Look up the members of the population", detail })
