import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { Agents, type Conversation, Observation, type Program, defaultConfig } from "@inspo/rollout"
import { Effect, Result, Schema, Struct } from "effect"
import { instruction, play, question } from "../support/Play.ts"
import { KeepingAgent } from "../support/Agents.ts"

const Text = Schema.Literals([
  "<think> I need a name.</think><search> Marlen Tovik</search>",
  "<think> I know. </think><answer> Ostrel Bay</answer>",
  "<report> It is a town.</report><search> Ostrel Bay</search>",
  "<answer> J. Smith of St. Ives</answer>",
  " One sentence. Another one.",
  "<answer></answer>"
])

/** A conversation as a hosted model would hold it: texts alone, whatever their number of tokens. */
const chat = (texts: ReadonlyArray<string>): Conversation => {
  const turns: Array<Trajectory.Turn> = []
  let asked = 0
  const write = (stop: ReadonlyArray<string>): string => {
    const text = texts[asked++ % texts.length] ?? ""
    const ends = stop.flatMap((end) => (text.includes(end) ? [text.indexOf(end) + end.length] : []))
    return ends.length > 0 ? text.slice(0, Math.min(...ends)) : `${text}<|end|>`
  }
  const excerpt = (text: string) => `<information> ${Observation.neutralise(text).trim()}</information>`
  return {
    episode: { id: Trajectory.TrajectoryId.make("chat"), instruction, question, seed: "0" },
    turns,
    tokens: [],
    isCut: false,
    announce: () => {},
    room: Infinity,
    canShow: true,
    *turn({ goesOn, parse, stop }) {
      let text = write(stop)
      for (
        let until = goesOn?.(text) ?? [];
        until.length > 0 && !text.endsWith("<|end|>");
        until = goesOn?.(text) ?? []
      )
        text += write(until)
      const action = parse(text)
      turns.push({ text, action, observation: null })
      return action
    },
    *drafts() {
      return []
    },
    *call(_, input) {
      return Result.succeed(`T: about ${input}`)
    },
    *show(text) {
      const last = turns.pop() ?? assert.fail()
      turns.push({ ...last, observation: excerpt(text) })
    },
    *aside(_, __, stop) {
      return write(stop)
    },
    *peek(_, stop) {
      return write(stop)
    },
    open: () => {},
    restart: (_, observation) => {
      const last = turns.pop() ?? assert.fail()
      turns.push({ ...last, observation: observation ?? null })
    },
    spare: () => Infinity,
    excerpt
  }
}

const finish = (program: Program) => {
  const { done, value } = program.next()
  return done === true ? value : assert.fail("a chat waits for nothing")
}

describe("A conversation without tokens", () => {
  it.effect.prop(
    "goes with every agent as one with tokens does",
    {
      agent: Schema.Literals([...KeepingAgent.literals, "iter-research"]),
      texts: Schema.NonEmptyArray(Text),
      maxTurns: Schema.Literals([0, 1, 3])
    },
    ({ agent, maxTurns, texts }) =>
      Effect.gen(function* () {
        const config = { ...defaultConfig, agent, maxTurns }
        let asked = 0
        const { trajectories } = yield* play(() => texts[asked++ % texts.length] ?? "", { config })
        const conversation = chat(texts)
        const ending = finish(Agents.fromConfig(config).make({ config, toolTexts: "" })(conversation))
        const [{ finishReason, transcript } = assert.fail()] = trajectories
        assert.deepStrictEqual(
          { ending, turns: conversation.turns },
          { ending: finishReason, turns: transcript.map((turn) => Struct.omit(turn, ["prompt"])) }
        )
      })
  )
})
