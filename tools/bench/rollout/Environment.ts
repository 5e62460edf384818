import { Instruction, Question, Trajectory } from "@inspo/domain"
import type { Engine, Tokenizer } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { layerExactMatch, Reward } from "@inspo/reward"
import { type Agent, defaultConfig, type Episode, layer as layerRollout, type Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Layer } from "effect"
import type { Turns } from "./NullEngine.ts"
import { type Case, cases, shape } from "./Shape.ts"
import * as Tokenizers from "./Tokenizers.ts"

/** The environment of episodes, as short as possible. */
export interface Environment {
  readonly tokenizer: Tokenizer
  readonly turns: Turns
  readonly episodes: (questions: number) => ReadonlyArray<Episode>
  readonly rollout: Layer.Layer<Rollout, never, Engine>
}

export const make = (name: Case): Environment => {
  const { environment, vocabulary } = cases[name]
  return environment === "tokens" ? tokens : text(vocabulary)
}

const config = { ...defaultConfig, maxTurns: shape.turns - 1 }

/** Only lists of tokens; every other episode has a reward. */
const tokens: Environment = {
  tokenizer: Tokenizers.none,
  turns: (turn) => Arr.makeBy(shape.sampled, (at) => 1 + turn + at),
  episodes: (questions) => episodes(questions, "Which one", "that"),
  rollout: Layer.unwrap(
    Effect.sync(() => {
      let scored = 0
      const score = () => Effect.sync(() => ({ answer: null, reward: scored++ % 2 }))
      return layerRollout(config, { agent: tokenAgent }).pipe(
        Layer.provide([Layer.succeed(Reward, { score }), Layer.succeed(Search, { search: () => Effect.succeed([]) })])
      )
    })
  )
}

const tokenAgent: Agent = {
  name: "tokens",
  tools: () => [],
  make: () => {
    const action = { kind: "search", content: "" }
    return function* (conversation) {
      for (let turn = 1; ; turn++) {
        yield* conversation.turn({ stop: [], parse: () => action })
        if (turn === shape.turns) return "answered"
        yield* conversation.show("")
      }
    }
  }
}

/** The robust loop on text: prompts, tags, searches and answers, of which two in five are right. */
const text = (vocabulary: number): Environment => {
  const { tokenizer, words } = Tokenizers.bpe(vocabulary)
  const stride = Math.max(1, Math.floor(words.length / 1009))
  const prose = (count: number, from: number) =>
    Arr.makeBy(count, (at) => words[((from + at) * stride) % words.length]).join(" ")
  // Tags and the words of the template use the rest.
  const written = (turn: number, member: number) =>
    turn < shape.turns - 1
      ? `<think> ${prose(shape.sampled - 14, 60 * turn)}</think><search> ${prose(10, 7 * turn)}</search>`
      : `<think> ${prose(shape.sampled - 6, 60 * turn)}</think><answer> ${prose(2, member < 2 ? 0 : 40)}</answer>`
  const passages = [0, 1, 2].map((rank) => ({
    score: 1,
    passage: { id: `${rank}`, title: prose(2, 31 * rank), text: prose(30, 77 * rank) }
  }))
  return {
    tokenizer,
    turns: (turn, member) => tokenizer.encode(written(turn, member)),
    episodes: (questions) => episodes(questions, prose(shape.prompt - 59, 500), prose(2, 0)),
    rollout: layerRollout(config).pipe(
      Layer.provide([
        layerExactMatch,
        Layer.succeed(Search, { search: (queries) => Effect.succeed(queries.map(() => passages)) })
      ])
    )
  }
}

const instruction = Instruction.make("Answer the given question. Search for what is missing.", { id: "i0" })

const episodes = (questions: number, text: string, answer: string): ReadonlyArray<Episode> =>
  Arr.makeBy(questions, (index): ReadonlyArray<Episode> => {
    const question: Question.Question = {
      id: Question.QuestionId.make(`question ${index}`),
      question: `${text} ${index}?`,
      goldenAnswers: [answer],
      dataSource: "bench"
    }
    return Arr.makeBy(shape.rollouts, (sample) => ({
      id: Trajectory.TrajectoryId.make(`train/1/${index}/${sample}`),
      instruction,
      question,
      seed: `${index}/${sample}`
    }))
  }).flat()
