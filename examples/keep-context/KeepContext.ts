/** What the policy reads before each turn: with all that it found, with a memory that it prunes, with a report that it rewrites. */
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { ChatPolicy, ChatRollout, Rollout } from "@inspo/rollout"
import { Effect, Layer } from "effect"

/** Your model: a function from the conversation to its next message. */
export type Model = (conversation: string) => string

/** The texts that the model read, one for each of its turns, and its answer. */
export const play = (agent: "search-r1" | "memory" | "iter-research", model: Model) => {
  const read: Array<string> = []
  const policy = ChatPolicy.layer({
    model: "mine",
    write: ({ messages }) => {
      const conversation = messages.map((message) => ("text" in message ? message.text : "")).join("\n")
      read.push(conversation)
      return Promise.resolve(model(conversation))
    }
  })
  const rollout = ChatRollout.layer({ agent }).pipe(
    Layer.provide([policy, Layer.succeed(Search, { search }), layerExactMatch])
  )
  return Rollout.use(({ collect }) => collect([episode])).pipe(
    Effect.map(([trajectory]) => ({ read, answer: trajectory?.answer ?? null })),
    Effect.provide(rollout)
  )
}

const facts: Readonly<Record<string, string>> = {
  "mayor of Trell": "Marlen Tovik has been the mayor of Trell since the flood, and lives above the harbour.",
  "Marlen Tovik": "Marlen Tovik was born in Ostrel Bay, a town on the coast."
}

const search: Search["Service"]["search"] = (queries) =>
  Effect.succeed(
    queries.map((query) => {
      const text = facts[query.trim()]
      return text === undefined ? [] : [{ passage: { id: query, title: query, text }, score: 1 }]
    })
  )

const episode = {
  id: Trajectory.TrajectoryId.make("train/1/0/0"),
  seed: "0",
  instruction: Instruction.make("Search, then answer.", { id: "i0" }),
  question: {
    id: Question.QuestionId.make("q"),
    question: "Where was the mayor of Trell born?",
    goldenAnswers: ["Ostrel Bay"],
    dataSource: "example"
  }
} as const
