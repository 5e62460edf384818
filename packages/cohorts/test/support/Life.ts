/** Lives of populations: cohorts that report, evolutions, and what an admin does. */
import { type Command, learnedUpTo, type PopulationEvent, Settings } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import * as fc from "fast-check"
import { Server } from "./Server.ts"
import { changed } from "./Changed.ts"

/** What happens to a population, by hands and loops: each a command, once the state is known. */
export type Step =
  | { readonly kind: "cohort"; readonly units: number; readonly bias: number }
  | { readonly kind: "evolve" | "freeze" | "resume" | "reject" | "approve" | "rewind" | "skip" }
  | { readonly kind: "propose"; readonly texts: ReadonlyArray<string> }
  | { readonly kind: "add" | "retire" | "pin"; readonly place: number; readonly text: string }

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("cohort"), units: fc.integer({ min: 4, max: 40 }), bias: fc.nat(6) })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("evolve", "freeze", "resume", "reject", "approve", "approve", "rewind", "skip")
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("propose"),
      texts: fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 3 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("add", "retire", "pin"),
      place: fc.nat(6),
      text: fc.constant("by hand")
    })
  }
)

/** A population whose steps are taken one after the other; what is refused changes nothing. */
export class Life extends Server {
  cohorts = 0

  constructor(settings: Settings.Settings) {
    super(settings, ["seed", "variant", "another"])
  }

  /** What would be in a journal's log: leases and rewards are records. */
  get events(): ReadonlyArray<PopulationEvent> {
    return this.log.filter(({ _tag }) => _tag !== "Leased" && _tag !== "Rewarded")
  }

  /** One instruction is rewarded more often more often than the others, so that members are pruned. */
  train(units: number, bias: number, now: number) {
    const cohort = `train/${++this.cohorts}`
    const requests = Array.from({ length: units }, (_, index) => ({
      key: `k${index}`,
      n: 1,
      stratum: "all",
      sticky: null,
      question: null,
      instructions: 1
    }))
    const leased = this.ask({ _tag: "Lease", now, cohort, phase: "train", isFullBatch: false, requests })
    if (leased?._tag !== "Leases") return
    const rewards = leased.leases.map(({ instruction, lease }, index) => ({
      lease,
      sample: 0,
      value: instruction === `i${bias}` || index % 5 === 0 ? 1 : 0
    }))
    this.ask({ _tag: "Reward", now, rewards })
    this.ask({ _tag: "Close", now, cohort, groups: null })
  }

  private ask(command: Command) {
    const handled = this.try(command)
    return handled instanceof Error ? undefined : handled.answer
  }

  take(step: Step, now: number): unknown {
    const { evolution, population } = this.state.learning
    switch (step.kind) {
      case "cohort":
        return this.train(step.units, step.bias, now)
      case "evolve":
        return this.ask({ _tag: "Evolve", now })
      case "skip":
        return this.ask({ _tag: "SkipEvolution", now, reason: "no key" })
      case "freeze":
      case "resume":
        return this.ask({ _tag: "Freeze", now, isFrozen: step.kind === "freeze" })
      case "approve":
      case "reject":
        for (let place = 0; place < 3; place++)
          this.ask({ _tag: "Review", now, place, isApproved: step.kind === "approve" })
        return
      case "propose": {
        const parent = evolution?.parents[0] ?? Instruction.InstructionId.make("i0")
        const candidates = step.texts.map((text) => ({ text, rationale: `because ${text}` }))
        return this.ask({ _tag: "Propose", now, parent, candidates, reflected: [] })
      }
      case "rewind": {
        const to = `train/${Math.max(1, this.cohorts - 2)}`
        return this.ask({ _tag: "Rewind", now, to, requestId: String(now), base: learnedUpTo(this.log, to) })
      }
      case "add":
        return this.ask({ _tag: "Add", now, content: step.text, parent: null })
      case "retire":
      case "pin": {
        const id = population.members[step.place % population.members.length]?.instruction.id
        if (id === undefined) return
        return step.kind === "pin"
          ? this.ask({ _tag: "Pin", now, id, isPinned: true })
          : this.ask({ _tag: "Retire", now, id })
      }
    }
  }
}

/** Settings under which much happens within a few cohorts. */
export const eventful = (profile: "online" | "trainer"): Settings.Settings =>
  changed(Settings[profile](1), {
    risk: 0.5,
    pruneEvery: 2,
    evolveEvery: 3,
    horizonSeconds: null
  })
