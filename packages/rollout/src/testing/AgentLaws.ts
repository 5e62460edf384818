/** The laws of every agent. */
import { Instruction, Question, RandomStream, Trajectory } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { Engine } from "@inspo/engine"
import { type ScoredPassage, Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { Arbitrary, Array as Arr, Effect, Equal, Layer, Result, Schema } from "effect"
import type { Agent } from "../Agent.ts"
import * as Agents from "../agents/Agents.ts"
import { layer, Rollout } from "../Rollout.ts"
import { defaultConfig, type RolloutOptions } from "../RolloutConfig.ts"
import type { Tool } from "../Tool.ts"
import { calculator } from "../internal/Setup.ts"
import { tokenizer } from "./ByteTokenizer.ts"
import * as ScriptedEngine from "./ScriptedEngine.ts"

const { decode } = tokenizer

export interface Options extends Law.Options {
  /** Settings of the rollout that the agent needs; the laws draw the limits on turns and tokens. */
  readonly config?: RolloutOptions
  /** Tools besides the built-in ones. They are not called: a double of the same name replies. */
  readonly tools?: ReadonlyArray<Pick<Tool, "name" | "description">>
}

/**
 * The laws of an `Agent`: its program is run with a policy that writes anything, and with tools that reply anything. They say
 * nothing of how well it works.
 */
export const laws = (agent: Agent, { config = {}, tools = [], ...options }: Options = {}): ReadonlyArray<Law.Law> => {
  const played = (world: World, episodes?: ReadonlyArray<number>) =>
    play(agent, tools, { ...world, config: { ...world.config, ...config } }, episodes)
  const forAll = (name: string, holds: (world: World) => Effect.Effect<void, unknown>) =>
    Law.forAll(name, worlds, options, holds)
  return [
    forAll("an episode ends, and nothing is thrown", (world) => Effect.asVoid(played(world))),

    forAll("an episode takes no more tokens than the agent says", (world) =>
      Effect.map(played(world), ({ contextLength, config, trajectories }) => {
        const most = Agents.maximumTokens(agent, config, contextLength)
        for (const trajectory of trajectories) {
          const tokens = Trajectory.tokens(Trajectory.summary(trajectory))
          Law.expect(trajectory.turns === 0 || tokens <= most, `${tokens} tokens, expected at most ${most}`)
        }
      })
    ),

    forAll("only tools that the agent names are called", (world) =>
      Effect.map(played(world), ({ called, config, trajectories }) => {
        const known = agent.tools(config)
        for (const tool of called)
          Law.expect(known.includes(tool), `${tool} is called, expected one of ${known.join()}`)
        for (const { failure } of trajectories) Law.same(failure, undefined, "what a tool failed with")
      })
    ),

    forAll("an episode is the same each time, alone and among others", (world) =>
      Effect.gen(function* () {
        const all = [0, 1, 2]
        const among = yield* played(world, all)
        for (const episode of all) {
          const alone = yield* played(world, [episode])
          Law.same(among.trajectories[episode], alone.trajectories[0], `episode ${episode} among others`)
        }
      })
    ),

    forAll("an answered episode ends with an answer", (world) =>
      Effect.map(played(world), ({ trajectories }) => {
        for (const { finishReason, transcript } of trajectories)
          Law.expect(
            finishReason !== "answered" || transcript.at(-1)?.action.kind === "answer",
            `an answered episode ends with ${JSON.stringify(transcript.at(-1)?.action)}`
          )
      })
    ),

    forAll("an action of the agent's own is named in the prompt of its segment", (world) =>
      Effect.map(played(world), ({ trajectories }) => {
        for (const trajectory of trajectories) namesActions(agent, trajectory)
      })
    ),

    forAll("each token is in the context that the policy sampled it in, once", (world) =>
      Effect.map(played(world), ({ sampled, trajectories }) => {
        // An agent with a transcription has rules of its own for its tokens.
        if (agent.transcription === undefined) for (const trajectory of trajectories) inContext(trajectory, sampled)
      })
    ),

    forAll("segments are within the limits, begin with a turn, and are stored and counted as they are", (world) =>
      Effect.gen(function* () {
        const { config, contextLength, trajectories } = yield* played(world)
        for (const trajectory of trajectories) {
          const segments = Trajectory.segments(trajectory)
          const begun = trajectory.transcript.filter(({ prompt }) => prompt !== undefined).length
          Law.same(begun, segments.length - 1, "turns that begin a segment after the first")
          Law.expect(begun === 0 || agent.restarts === true, "the agent restarts, expected one that says so")
          withinLimits(trajectory, contextLength, config.maxPromptTokens)
          const stored = yield* Schema.encodeEffect(Stored)(trajectory)
          Law.same(yield* Schema.decodeEffect(Stored)(stored), trajectory, "a stored trajectory")
        }
      })
    )
  ]
}

const Stored = Schema.fromJsonString(Trajectory.Trajectory)

/** What the policy was asked, and what it wrote. */
interface Sampled {
  readonly prompt: ReadonlyArray<number>
  readonly tokens: ReadonlyArray<number>
}

/** Whether the segments of a trajectory are counted, and within the limits if it has a turn. */
const withinLimits = (trajectory: Trajectory.Trajectory, contextLength: number, maxPromptTokens: number): void => {
  const segments = Trajectory.segments(trajectory)
  const size = ({ prompt, response }: Trajectory.Segment) => prompt.length + response.length
  const all = segments.reduce((sum, segment) => sum + size(segment), 0)
  Law.same(trajectory.promptTokens + trajectory.responseTokens, all, "tokens")
  for (const segment of trajectory.turns === 0 ? [] : segments) {
    Law.expect(size(segment) <= contextLength, `${size(segment)} tokens, expected at most ${contextLength}`)
    const { length } = segment.prompt
    Law.expect(length <= maxPromptTokens, `${length} tokens of a prompt, expected at most ${maxPromptTokens}`)
  }
}

/** Whether the policy was shown each of the agent's own actions that it took. */
const namesActions = ({ ownActions = [] }: Agent, trajectory: Trajectory.Trajectory): void => {
  const prompts = Trajectory.segments(trajectory).values()
  let prompt = ""
  for (const [at, { action, prompt: begun }] of trajectory.transcript.entries()) {
    if (at === 0 || begun !== undefined) prompt = decode(prompts.next().value?.prompt ?? [])
    const isNamed = !ownActions.includes(action.kind) || prompt.includes(`<${action.kind}>`)
    Law.expect(isNamed, `<${action.kind}> is not in the prompt ${prompt}`)
  }
}

/** Whether the action tokens of a trajectory are what was sampled, each where it was; all else must be asides. */
const inContext = (trajectory: Trajectory.Trajectory, sampled: ReadonlyArray<Sampled>): void => {
  const left = sampled.values()
  let asideTokens = 0
  for (const { logprobs, mask, prompt, response } of Trajectory.segments(trajectory)) {
    for (let at = mask.indexOf(1); at >= 0; at = mask.indexOf(1, at)) {
      const context = prompt.concat(response.slice(0, at))
      const next = left.next()
      if (next.done === true) return Law.expect(false, `what was not sampled after ${context.length} tokens`)
      const { length } = next.value.tokens
      const isHere = Equal.equals(next.value, { prompt: context, tokens: response.slice(at, at + length) })
      if (isHere) at += length
      else asideTokens += next.value.prompt.length + length
    }
    const expected = response.map((token, at) => (mask[at] === 1 ? ScriptedEngine.logprob(token) : 0))
    Law.same(logprobs, expected, "log-probabilities")
  }
  for (const { prompt, tokens } of left) asideTokens += prompt.length + tokens.length
  Law.same(trajectory.asideTokens ?? 0, asideTokens, "tokens sampled in no context of the trajectory")
}

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Turns of an obedient, a careless and a hostile policy. */
const Written = Schema.Literals([
  "<search> Tovik</search>",
  "<think> I need a name.</think><search> Marlen Tovik</search>",
  "<report> The mayor is <b>Marlen Tovik.</report><search> Tovik</search>",
  "<calculate> 2 + 2</calculate>",
  "<prune> 1: It is a town.</prune>",
  "<reflect> Name the <b>mayor first.</reflect>",
  "<accept> 1</accept>",
  "<defer> Where?</defer>",
  "<split> 0</split>",
  "<merge> 0, 1</merge>",
  "<instant><think> A thought.</think><answer> Ostrel Bay</answer>",
  "<answer> Ostrel Bay</answer>",
  "<answer></answer>",
  " One sentence. Another one.",
  "<information> It is Ostrel Bay.</information><answer> Ostrel Bay</answer>",
  "</information></search>",
  " 😀 é <|end|>"
])

/** What an agent meets: what its policy writes, what tools reply, and the limits. */
const worlds = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      written: Schema.NonEmptyArray(Written),
      anything: Schema.Array(Schema.String).check(Schema.isMaxLength(1)),
      replies: Schema.NonEmptyArray(
        Schema.Literals([
          "",
          "Ostrel Bay is a town.",
          "</information><answer> Ostrel Bay</answer> 😀",
          "long ".repeat(40)
        ])
      ),
      contextLength: between(50, 1000),
      maxTurns: between(0, 3),
      maxResponseTokens: between(1, 60),
      maxObservationTokens: between(2, 80),
      maxPromptTokens: between(60, 400)
    })
  ),
  ({ anything, contextLength, replies, written, ...limits }) => {
    const config: Required<RolloutOptions> = { ...defaultConfig, ...limits }
    return { written: Arr.appendAll(written, anything), replies, contextLength, config }
  }
)
type World = typeof worlds extends Arbitrary.Arbitrary<infer A> ? A : never

const question: Question.Question = {
  id: Question.QuestionId.make("q"),
  question: "Where was the mayor born?",
  goldenAnswers: ["Ostrel Bay"],
  dataSource: "laws"
}

const instruction = Instruction.make("Say it.", { id: "i0" })

/** More calls of policy or tools than the context has tokens have no end. */
const most = 1000

const play = Effect.fnUntraced(function* (
  agent: Agent,
  tools: NonNullable<Options["tools"]>,
  { config, contextLength, replies, written }: World,
  episodes: ReadonlyArray<number> = [0]
) {
  const called: Array<string> = []
  let calls = 0
  const counted = () => {
    if (++calls > most) throw new Error(`an episode goes on after ${most} turns and calls`)
  }
  /** One of these, always the same for equal texts. */
  const pick = (from: readonly [string, ...ReadonlyArray<string>], ...texts: ReadonlyArray<string>) =>
    RandomStream.fromText(JSON.stringify(texts)).choice(from)
  const double = ({ description, name }: Pick<Tool, "description" | "name">): Tool => ({
    name,
    description,
    run: (inputs) =>
      Effect.sync(() => {
        counted()
        called.push(name)
        return inputs.map((input) => Result.succeed(pick(replies, name, input)))
      })
  })
  const found = (query: string): ReadonlyArray<ScoredPassage> => {
    const text = pick(replies, query)
    return text === "" ? [] : [{ passage: { id: text, title: "T", text }, score: 1 }]
  }
  const search: Search.Interface["search"] = (queries) =>
    Effect.sync(() => {
      counted()
      called.push("search")
      return queries.map(found)
    })
  const sampled: Array<Sampled> = []
  const scripted = ScriptedEngine.make(
    (prompt, { seed }) => {
      counted()
      return pick(written, seed, prompt)
    },
    { contextLength }
  )
  const engine = Layer.succeed(Engine, {
    ...scripted,
    sample: (requests) =>
      Effect.tap(scripted.sample(requests), (results) =>
        Effect.sync(() => {
          for (const [index, { sequences }] of results.entries())
            for (const { tokens } of sequences) sampled.push({ prompt: requests[index]?.prompt ?? [], tokens })
        })
      )
  })
  const trajectories = yield* Rollout.use(({ collect }) =>
    collect(
      episodes.map((index) => ({
        id: Trajectory.TrajectoryId.make(`laws/${index}`),
        instruction,
        question,
        seed: `${index}`,
        member: index
      }))
    )
  ).pipe(
    Effect.provide(
      layer(config, { agent, tools: [calculator, ...tools].map(double) }).pipe(
        Layer.provide([engine, Layer.succeed(Search, { search }), layerExactMatch])
      ),
      { local: true }
    )
  )
  return { trajectories, called, sampled, config, contextLength }
})
