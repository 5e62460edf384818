import { ChatCalls, Conclusion, Selection, Strategies, foldStored } from "@inspo/coevolution"
import { Bookkeeping, Ledger } from "@inspo/ledger"
import type { RunConfig } from "@inspo/config"
import { Instruction, type Question, RandomStream, Strategy, Trajectory } from "@inspo/domain"
import { type CheckpointRef, Engine } from "@inspo/engine"
import { layerMemory } from "@inspo/journal/sqlite"
import { Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, FileSystem, Option, Ref, Result } from "effect"
import { loadData, type LoadedData } from "../config/Data.ts"
import { fromInput, orUsage, withAgent } from "../config/Input.ts"
import { parseSet, resolve } from "../config/Resolve.ts"
import { commandFailure } from "../Failure.ts"
import { layerRollout } from "../layers.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Trust from "../runDirectory/Trust.ts"
import type { Reporter } from "../terminal/Reporter.ts"
import { outcome } from "./Outcome.ts"

/** How an agent is named on the command line; without a directory it is the shipped one, before any training. */
export interface Wanted {
  readonly directory: Option.Option<string>
  readonly policy: "before" | "after"
  readonly instruction: Option.Option<string>
  readonly agent: Option.Option<string>
  readonly preset: string
  readonly set: ReadonlyArray<string>
}

/** An agent that can be asked, and the data its config names. `checkpoint` is null for the shipped policy. */
export interface EvalArm {
  readonly runDir: string | null
  readonly policy: "before" | "after"
  readonly step: number
  readonly instruction: Instruction.Instruction
  readonly config: RunConfig
  readonly checkpoint: CheckpointRef | null
  readonly loaded: LoadedData
}

/** The agent that is wanted: the checkpoint of a run with its best instruction, unless the command line names another. */
export const evalArm = Effect.fn("EvalArm.evalArm")(function* (wanted: Wanted) {
  // An agent of its own takes the place of that of --set, and its parameters can be set.
  const set = Option.isNone(wanted.agent) ? wanted.set : wanted.set.filter((one) => !/^rollout\.agent\s*=/u.test(one))
  const own = { ...wanted, set }
  const found = Option.isNone(wanted.directory) ? yield* shipped(own) : yield* ofRun(wanted.directory.value, own)
  const instruction = Option.match(wanted.instruction, { onNone: () => found.instruction, onSome: given })
  return { ...found, instruction } satisfies EvalArm
})

export interface Asked {
  readonly questions: ReadonlyArray<Question.Question>
  readonly passages: ReadonlyArray<Question.Passage>
  readonly seed: number
  readonly reporter: Reporter
}

/** The answers of a side to questions over passages; question k draws from the same stream on every side. */
export const answer = Effect.fn("EvalArm.answer")(function* (
  { checkpoint, config, instruction, runDir }: EvalArm,
  asked: Asked
) {
  yield* Effect.annotateCurrentSpan({ directory: runDir ?? "", questions: asked.questions.length, seed: asked.seed })
  const fs = yield* FileSystem.FileSystem
  const isOutside = config.rollout.agent.name === "outside"
  // The log of an agent outside is in the directory, so it stays.
  const temporary = isOutside ? fs.makeTempDirectory({ prefix: "inspo-eval-" }) : fs.makeTempDirectoryScoped()
  const directory = runDir ?? (yield* temporary)
  const { checkpoints } = filesOf(directory)
  if (isOutside) yield* asked.reporter.lines([`What the agent prints is in ${directory}/agent.log.`])
  return yield* Effect.gen(function* () {
    const engine = yield* Engine
    const rollout = yield* Rollout
    if (checkpoint !== null) yield* engine.restore(checkpoint)
    const answered = yield* Ref.make(0)
    const { tokens, usd } = config.budget
    const bookkeeping = yield* Bookkeeping.make({ ...Ledger.unlimited, tokens, usd })
    const makeChatCall = (yield* ChatCalls.make(bookkeeping))("evaluation", 0)
    const trajectories = yield* rollout.collect(
      asked.questions.map((question, index) => ({
        id: Trajectory.TrajectoryId.make(`eval/${index}`),
        instruction,
        question,
        seed: RandomStream.streamSeed(asked.seed, ["eval", index])
      })),
      {
        makeChatCall,
        onFinished: Effect.fnUntraced(function* (finished) {
          const done = yield* Ref.updateAndGet(answered, (before) => before + finished.length)
          yield* asked.reporter.block([`answered ${done} of ${asked.questions.length} questions`])
        })
      }
    )
    yield* asked.reporter.block([])
    return Arr.zipWith(asked.questions, trajectories, (question, trajectory) => outcome(question, trajectory))
  }).pipe(
    Effect.catchTag("BudgetReached", ({ cap, limit, spent }) =>
      Effect.fail(
        commandFailure(
          `The evaluation stopped: its next call could pass budget.${cap}, which is ${limit}; ${spent} are spent. Raise it with ` +
            `--set budget.${cap}=…, or ask fewer questions with --questions.`
        )
      )
    ),
    Effect.provide([layerRollout(config, asked.passages, checkpoints), layerMemory])
  )
}, Effect.scoped)

const shipped = Effect.fnUntraced(function* ({ agent, policy, preset, set }: Wanted) {
  const config = yield* fromInput({ preset, file: Option.none(), agent, set, seed: Option.none() })
  const loaded = yield* loadData(config)
  const instruction = given(config.seedInstruction)
  return { runDir: null, policy, step: 0, instruction, config, checkpoint: null, loaded }
})

const ofRun = Effect.fnUntraced(function* (runDir: string, wanted: Wanted) {
  const { instruction, policy, set } = wanted
  const stored = yield* readRun(runDir)
  const trained = yield* loadData(stored.config)
  const state = yield* foldStored({ algorithm: stored.config }, stored.events)
  const step = policy === "before" ? 0 : Selection.selected(stored.config, state).step
  const saved = Option.orElse(
    Arr.findLast(state.checkpoints, (known) => known.step === step),
    () => (policy === "before" ? Arr.head(state.checkpoints) : Arr.last(state.checkpoints))
  )
  if (Option.isNone(saved))
    return yield* commandFailure(`The run in ${runDir} has no checkpoint yet. Continue it first.`)
  const { phase } = state
  const best =
    phase._tag === "Finished"
      ? Arr.findFirst(state.instructions, ({ id }) => id === phase.best)
      : Conclusion.leader(stored.config, state)
  const valuation = Strategies.foreign(stored.config, state.strategies).find(({ part }) => part === "valuation")
  if (Option.isNone(best) && Option.isNone(instruction) && valuation !== undefined)
    return yield* commandFailure(
      `The run in ${runDir} is not finished, and it ranks its instructions by ${Strategy.describe(valuation.identity)}, ` +
        "which no setting names. Give an instruction with --instruction."
    )
  const sets = yield* orUsage(Result.all(set.map(parseSet)))
  const config = yield* orUsage(resolve(stored.config, [...(yield* withAgent(wanted)), ...sets]))
  yield* Trust.ensureChanged(runDir, { before: stored.config, after: config, use: "eval" })
  return {
    runDir,
    policy,
    step: saved.value.step,
    instruction: Option.getOrElse(best, () => given(stored.config.seedInstruction)),
    config,
    checkpoint: saved.value.checkpoint,
    loaded: set.length === 0 ? trained : yield* loadData(config)
  }
})

/** An instruction that no run made. */
export const given = (text: string): Instruction.Instruction => ({
  id: Instruction.InstructionId.make("given"),
  text,
  generation: 0,
  parent: null,
  origin: "seed",
  bornAt: 0
})
