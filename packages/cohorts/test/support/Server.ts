/** A population in memory, driven as a server would: answers, a log, an archive. */
import {
  type Answer,
  type Command,
  create,
  handle,
  type LeaseAnswer,
  type PopulationEvent,
  type RewardOutcome,
  type Settings,
  type State,
  Strategies
} from "@inspo/cohorts"
import type { Instruction } from "@inspo/domain"
import { Result } from "effect"
import { inMemory } from "./Archive.ts"

export class Server {
  state: State.State
  readonly log: Array<PopulationEvent> = []
  readonly archive = inMemory()
  readonly strategies: Strategies.Strategies
  readonly keeps: boolean

  constructor(
    settings: Settings.Settings,
    contents: readonly [Instruction.Content, ...ReadonlyArray<Instruction.Content>],
    strategies = Strategies.ofSettings(settings),
    keeps = true
  ) {
    const { events, state } = create(settings, contents)
    this.state = state
    this.strategies = strategies
    this.keeps = keeps
    this.remember(events)
  }

  /** Does a command, or gives why it was refused. */
  try(command: Command) {
    const handled = handle(this.strategies, this.state, this.archive, command)
    if (Result.isFailure(handled)) return handled.failure
    this.state = handled.success.state
    this.remember(handled.success.events)
    return handled.success
  }

  do(command: Command): { readonly answer: Answer; readonly events: ReadonlyArray<PopulationEvent> } {
    const handled = this.try(command)
    if (handled instanceof Error) throw handled
    return handled
  }

  /** One unit for each key. */
  lease(now: number, keys: ReadonlyArray<string>, cohort: string | null = null): ReadonlyArray<LeaseAnswer> {
    const requests = keys.map((key) => ({ key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }))
    const { answer } = this.do({ _tag: "Lease", now, cohort, phase: "train", isFullBatch: false, requests })
    return answer._tag === "Leases" ? answer.leases : []
  }

  reward(
    now: number,
    rewards: ReadonlyArray<{ readonly lease: string; readonly value: State.RewardValue; readonly sample?: number }>
  ): ReadonlyArray<RewardOutcome> {
    const items = rewards.map(({ lease, sample, value }) => ({ lease, value, sample: sample ?? null }))
    const { answer } = this.do({ _tag: "Reward", now, rewards: items })
    return answer._tag === "Rewards" ? answer.outcomes : []
  }

  private remember(events: ReadonlyArray<PopulationEvent>): void {
    if (!this.keeps) return
    for (const event of events) {
      this.log.push(event)
      this.archive.record(event)
    }
  }
}
