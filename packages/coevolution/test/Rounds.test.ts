import { assert, describe, it } from "@effect/vitest"
import {
  type Algorithm,
  apply,
  EventLog,
  inconsistency,
  makeDecisionContext,
  next,
  Rounds,
  type RunEvent,
  RunState as States,
  Strategies
} from "@inspo/coevolution"
import { type Group, Trajectory } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Memory } from "@inspo/replay-buffer"
import { Effect, Layer, Schema } from "effect"
import { algorithm, historyOf, rescuing, runOn } from "./support/ScriptedRun.ts"

const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
const Positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))

const settingsOf = (seed: number, successes: number, attempts: number, members: number, draws: number): Algorithm => ({
  ...rescuing,
  randomSeed: seed,
  train: { ...rescuing.train, keep: { name: "differing", draws } },
  replay: { successes },
  rollout: { ...rescuing.rollout, rescue: attempts === 0 ? null : { attempts, members } }
})

const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

/** The state before each event. */
const statesBefore = (settings: Algorithm, events: ReadonlyArray<RunEvent>): ReadonlyArray<States.RunState> => {
  const folding = Strategies.deciding(settings)
  let state = States.unstarted
  return events.map((event) => {
    const before = state
    state = apply(folding, state, event)
    return before
  })
}

const rewardsById = (groups: ReadonlyArray<Group.Group>) =>
  new Map<Trajectory.TrajectoryId, number>(
    groups.flatMap(({ rewards, trajectories }) => trajectories.map((id, place) => [id, rewards[place] ?? NaN] as const))
  )

/** The groups of a step all differ after substitutions, or its limit is reached; and it asks no question twice. */
const assertLimits = (settings: Algorithm, events: ReadonlyArray<RunEvent>) => {
  const { draws } = { draws: 0, ...settings.train.keep }
  const context = makeDecisionContext(Strategies.deciding(settings), { train: [] })
  const states = statesBefore(settings, events)
  for (const [place, event] of events.entries()) {
    if (event._tag !== "TrainingPlanned") continue
    const before = states[place]
    const command = before !== undefined && States.isRunning(before) ? next(context, before) : null
    if (command?._tag !== "PlanTraining") return assert.fail("a plan of the update")
    const { step } = event
    const plan = of(events, "StepPlanned").find((one) => one.step === step)
    const asked = of(events, "RoundPlanned").filter((one) => one.step === step && one.purpose === "differing")
    const questions = [plan, ...asked].flatMap((one) => [...new Set(one?.questions ?? [])])
    assert.lengthOf([...new Set(questions)], questions.length)
    assert.isAtMost(asked.length, draws)
    assert.isAtMost(
      asked.reduce((sum, round) => sum + round.questions.length, 0),
      draws * settings.train.batchSize
    )
    const own = rewardsById(
      of(events, "RolloutsCollected").flatMap(({ groups, rescues = [] }) => [...groups, ...rescues])
    )
    const instead = new Map(command.replaced.map(({ by, member }) => [member, by]))
    const differ = command.groups.filter(
      ({ trajectories }) => new Set(trajectories.map((id) => own.get(instead.get(id) ?? id))).size > 1
    )
    const wanted = plan?.questions.length ?? 0
    const isExhausted = asked.length === draws || questions.length === settings.data.world.questions
    if (draws > 0) assert.isTrue(isExhausted || (differ.length === wanted && command.groups.length === wanted))
    else assert.isEmpty(asked)
  }
}

describe("a step whose failed groups are replaced in", () => {
  it.effect.prop(
    "replaces members of failed groups alone, by successes within the limits",
    [Positive, Size, Size, Positive, Size],
    ([seed, successes, attempts, few, draws]) =>
      Effect.gen(function* () {
        const members = Math.min(few, rescuing.rollout.groupSize - 1)
        const settings = settingsOf(seed, successes, attempts, members, draws)
        const { events } = yield* historyOf(settings)
        const collected = of(events, "RolloutsCollected")
        const groups = collected.flatMap((event) => event.groups)
        const own = rewardsById(groups)
        const rescued = rewardsById(collected.flatMap(({ rescues = [] }) => rescues))
        const groupOf = new Map(groups.flatMap((group) => group.trajectories.map((id) => [id, group] as const)))
        for (const { replaced = [], step } of of(events, "TrainingPlanned")) {
          const perGroup = Map.groupBy(replaced, ({ member }) => groupOf.get(member))
          for (const [group, some] of perGroup) {
            assert.isTrue(group !== undefined && Memory.failed(group.rewards))
            const fromSuccesses = some.filter(({ from }) => from === "successes")
            if (fromSuccesses.length > 0) assert.lengthOf(some, 1)
            assert.isAtMost(some.length - fromSuccesses.length, members)
            for (const { by, from } of some) {
              assert.isAbove((from === "successes" ? own : rescued).get(by) ?? 0, 0.1)
              const before = groupOf.get(by)
              if (from === "successes")
                assert.deepStrictEqual(
                  [before?.instructionId, before?.questionId],
                  [group?.instructionId, group?.questionId]
                )
            }
          }
          assert.isTrue(replaced.every(({ member }) => member.startsWith(`train/${step}/`)))
        }
        assertLimits(settings, events)
        for (const state of statesBefore(settings, events)) {
          const alive = new Set(state.population.members.map(({ instruction }) => instruction.id as string))
          for (const [instruction, questions] of Object.entries(state.successes)) {
            assert.isTrue(alive.has(instruction))
            for (const stored of Object.values(questions)) {
              // A step remembers its successes when it has trained, so that none of them stands in for another of its rollouts.
              assert.isTrue(stored.every(({ id }) => Number(id.split("/")[1]) <= state.step))
              assert.isAtMost(stored.length, successes)
              assert.isTrue(stored.every(({ reward }) => reward > 0.1))
            }
          }
        }
      }),
    { arbitrary: { runs: 3 } }
  )

  it.effect("credits no instruction with rescues, and counts them as spent", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(rescuing)
      const collected = of(events, "RolloutsCollected")
      const count = (groups: ReadonlyArray<Group.Group>) => groups.reduce((sum, { rewards }) => sum + rewards.length, 0)
      const rescues = collected.flatMap((event) => event.rescues ?? [])
      assert.isNotEmpty(rescues)
      assert.strictEqual(state.spent.rollouts.train, count(collected.flatMap(({ groups }) => groups)) + count(rescues))
      const remembered = new Set(state.buffer.experiences.map(({ trajectoryId }) => trajectoryId))
      assert.isTrue(rescues.every(({ trajectories }) => trajectories.every((id) => !remembered.has(id))))
      for (const { questions, step } of of(events, "StepPlanned")) {
        const rounds = of(events, "RoundPlanned").filter((round) => round.step === step)
        const spent = rounds.flatMap(({ samples }) => samples).reduce((sum, samples) => sum + samples, 0)
        assert.isAtMost(spent, Rounds.mostRollouts(rescuing, step, questions.length))
      }
      // Both kinds happen in this run, or the laws say little.
      const kinds = of(events, "TrainingPlanned").flatMap(({ replaced = [] }) => replaced.map(({ from }) => from))
      assert.sameMembers([...new Set(kinds)], ["successes", "rescue"])
      const purposes = of(events, "RoundPlanned").map(({ purpose }) => purpose)
      assert.sameMembers([...new Set(purposes)], ["differing", "rescue"])
    })
  )

  it.effect("trains an earlier success under the prompt that it was sampled under", () =>
    Effect.gen(function* () {
      const trained: Array<readonly [key: string, text: string]> = []
      const settings: Algorithm = {
        ...rescuing,
        rollout: {
          ...rescuing.rollout,
          groupSize: 4,
          rescue: null,
          agent: { name: "budgets", budgets: [100, 200, 300, 400] }
        }
      }
      const journal = yield* Journal
      const textOf = ({ prompt, response }: Pick<Trajectory.Segment, "prompt" | "response">) =>
        JSON.stringify([prompt, response])
      yield* runOn(settings, Layer.succeed(Journal, journal), undefined, {
        engine: (engine) => ({
          ...engine,
          train: (request) => {
            trained.push(...request.datums.map((datum) => [request.key, textOf(datum)] as const))
            return engine.train(request)
          }
        })
      })
      const records = yield* journal.listRecords("trajectory")
      const sampled = yield* Effect.forEach(records, ({ value }) =>
        Schema.decodeUnknownEffect(Trajectory.Trajectory)(value)
      )
      const planned = of(yield* EventLog.read(journal), "TrainingPlanned")
      assert.isTrue(planned.some(({ replaced = [] }) => replaced.length > 0))
      for (const { replaced = [], step } of planned) {
        const own = trained.flatMap(([key, text]) => (key.startsWith(`train/${step}/`) ? [text] : []))
        for (const { by } of replaced) assert.include(own, textOf(sampled.find(({ id }) => id === by) ?? assert.fail()))
      }
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("has one round and no successes by default", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(algorithm)
      assert.isEmpty([...of(events, "RoundCollected"), ...of(events, "RoundPlanned")])
      assert.deepStrictEqual(state.successes, {})
    })
  )

  it("is refused with settings that contradict it", () => {
    const field = (changed: Partial<Algorithm>) => inconsistency({ ...rescuing, ...changed })?.field ?? null
    assert.isNull(field({}))
    assert.strictEqual(
      field({
        rollout: { ...rescuing.rollout, instructionsPerQuestion: "samples" },
        train: { ...rescuing.train, advantage: { name: "centred" } }
      }),
      "rollout.instructionsPerQuestion"
    )
    assert.strictEqual(field({ train: { ...rescuing.train, staleness: 1 } }), "train.staleness")
    assert.strictEqual(field({ population: { size: 1, parents: 1 } }), "population.size")
    assert.strictEqual(field({ control: { ...rescuing.control, policyFirst: 3 } }), "control.policyFirst")
    assert.strictEqual(
      field({ rollout: { ...rescuing.rollout, rescue: { attempts: 1, members: rescuing.rollout.groupSize } } }),
      "rollout.rescue.members"
    )
    const { train } = algorithm
    assert.isNull(field({ train: { ...train, staleness: 1 }, rollout: { ...rescuing.rollout, rescue: null } }))
    for (const draws of [-1, 1.5])
      assert.strictEqual(field({ train: { ...train, keep: { name: "differing", draws } } }), "train.keep.draws")
    const agents = [
      { name: "iter-research" },
      { name: "budgets", budgets: [100] },
      { name: "modes", forced: 0 }
    ] as const
    for (const agent of agents) assert.strictEqual(field({ rollout: { ...rescuing.rollout, agent } }), "rollout.agent")
  })
})
