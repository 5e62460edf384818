import { RandomStream } from "@inspo/domain"
import { Array as Arr } from "effect"

/** Tokens of a trajectory. */
export const shape = { promptTokens: 300, responseTokens: 1200 } as const

/** Vocabulary of the models that the paper trains. */
const vocabulary = 151_936

/** A trajectory as a run stores it, with random tokens, which compress worst. */
export const trajectory = (step: number, index: number) => {
  const { promptTokens, responseTokens } = shape
  const draws = Arr.makeBy(promptTokens + 2 * responseTokens, RandomStream.make(1, ["bench", step, index]).next)
  const tokens = draws.map((draw) => Math.floor(draw ** 3 * vocabulary))
  const id = `train/${step}/${Math.floor(index / 5)}/${index % 5}`
  return {
    key: id,
    value: {
      id,
      instructionId: "i3",
      questionId: `question-${index}`,
      reward: index % 2,
      answer: "Marlen Tovik",
      toolCalls: 2,
      turns: 3,
      finishReason: "answered",
      promptTokens,
      responseTokens,
      prompt: tokens.slice(0, promptTokens),
      response: tokens.slice(promptTokens, promptTokens + responseTokens),
      logprobs: draws.slice(promptTokens + responseTokens).map((draw) => Math.fround(Math.log(draw + 1e-6))),
      mask: Arr.makeBy(responseTokens, (place) => (place % 400 < 150 ? 1 : 0)),
      transcript: Arr.makeBy(3, (turn) => ({
        text: `<think> step ${turn} </think> <search> who founded the company ${index} </search>`,
        action: { kind: "search", content: `who founded the company ${index}` },
        observation: "The company was founded in a town by a river. ".repeat(20)
      }))
    }
  }
}
