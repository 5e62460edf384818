/** How a search divides its budget, and what it can cost, before anything is spent. */
import { dollars } from "@inspo/evolve/SearchView"
import { Protected, Setup } from "@inspo/evolve/parts"
import { Text, count } from "@inspo/report"
import { Prices, type ProposerModel } from "@inspo/reflection"
import { Chat } from "@inspo/domain"
import { isJudged, type Job, messages } from "./Job.ts"
import { maxVerdictTokens } from "./Scoring.ts"

/** Requests to one model, with tokens as estimated; outputs are at most. */
export interface Share {
  readonly model: string
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars for the input alone, and with outputs as long as they can be; null if the price is not known. */
  readonly usd: readonly [least: number, most: number] | null
}

export interface Plan {
  readonly cases: { readonly search: number; readonly test: number; readonly repeated: number }
  /** `protected` calls are kept for protected cases. */
  readonly calls: Readonly<Record<"total" | "opening" | "search" | "protected" | "test", number>>
  /** Null if an agent outside answers. */
  readonly agent: Share | null
  /** What an agent outside makes this process do; null for a model. */
  readonly outside: string | null
  /** Null if prompts are made of sentences. */
  readonly proposer: Share | null
  readonly judge: Share | null
  readonly budget: number | null
}

export interface PlanInput {
  readonly setup: Setup.Setup
  readonly prompt: string
  readonly jobs: ReadonlyArray<Job>
  readonly repeated: number
  readonly maxTokens: number
  readonly agent: { readonly model: string; readonly price: ProposerModel.ModelPrice | null }
  readonly outside: string | null
  readonly proposer: { readonly model: string; readonly price: ProposerModel.ModelPrice | null }
  readonly proposerKind: string | null
  readonly isProposing: boolean
}

export const make = (input: PlanInput): Plan => {
  const { agent, isProposing, jobs, maxTokens, outside, prompt, proposer, proposerKind, repeated, setup } = input
  const { calls, opening, search, test } = setup
  const tested = 2 * test.length
  const guarded = Protected.reserved(setup.guarded)
  const mean = (sizes: ReadonlyArray<number>) => sizes.reduce((sum, one) => sum + one, 0) / Math.max(1, sizes.length)
  const size = mean(jobs.map((job) => Chat.estimateTokens(textOf(prompt, job))))
  // An answer is asked for again once, and a proposer that learns first asks for what to learn.
  const each = proposerKind === null ? 2 : 3
  const proposals = each * (1 + Math.ceil((calls - tested) / Setup.every(calls - tested)))
  const judged = jobs.filter(isJudged).length / jobs.length
  const share = (
    { model, price }: PlanInput["agent"],
    requests: number,
    inputTokens: number,
    outputTokens: number
  ): Share => {
    const whole = { input: Math.round(requests * inputTokens), output: requests * outputTokens }
    const [least, most] = [Prices.usd(price, { ...whole, output: 0 }), Prices.usd(price, whole)]
    return {
      model,
      requests,
      inputTokens: whole.input,
      outputTokens: whole.output,
      usd: least === null || most === null ? null : [least, most]
    }
  }
  return {
    cases: { search: search.length, test: test.length, repeated },
    calls: { total: calls, opening, search: calls - tested - guarded, protected: guarded, test: tested },
    agent: outside === null ? share(agent, calls, size, maxTokens) : null,
    outside,
    proposer: isProposing ? share(proposer, proposals, proposalInput, proposalOutput) : null,
    judge:
      judged === 0
        ? null
        : share(proposer, Math.ceil(judged * (calls + Setup.mostRescores(setup))), size + judgeInput, maxVerdictTokens),
    budget: setup.usd
  }
}

export const lines = (plan: Plan, columns: number): ReadonlyArray<string> => {
  const { agent, budget, calls, cases, judge, outside, proposer } = plan
  const all = [agent, proposer, judge].filter((one) => one !== null)
  const usd = all.map((one) => one.usd).reduce(added, [0, 0])
  return Text.rows(
    [
      [
        "cases",
        `${cases.search} to find a prompt, ${cases.test} held out to test it` +
          (cases.repeated === 0 ? "" : `; ${cases.repeated} repeat others and are left out`)
      ],
      [
        "calls of the agent",
        `at most ${count(calls.total)}: ${calls.opening} of the original first, up to ${count(calls.search)} in the search, ` +
          (calls.protected === 0 ? "" : `${count(calls.protected)} for protected cases, `) +
          `${count(calls.test)} or more in the test`
      ],
      ["agent", agent === null ? (outside ?? "") : shown(agent)],
      ["proposer", proposer === null ? "sentences, or the starting process; no request" : shown(proposer)],
      ...(judge === null ? [] : [["judge", shown(judge)] as const]),
      [
        "cost",
        usd === null
          ? "not known: give the prices per million tokens, such as --price 0.4/1.6"
          : (agent === null ? "what the agent reports, and besides " : "") +
            `${dollars(usd[0])} for the input alone, ${dollars(usd[1])} if every output is as long as it may be`
      ],
      [
        "budget",
        budget === null
          ? "no limit in US dollars; set one with --budget"
          : `${dollars(budget)}; no call starts that could pass it`
      ]
    ],
    columns
  )
}

const added = (a: Share["usd"], b: Share["usd"]): Share["usd"] =>
  a === null || b === null ? null : [a[0] + b[0], a[1] + b[1]]

const shown = ({ inputTokens, model, outputTokens, requests, usd }: Share): string =>
  `${model}: at most ${count(requests)} requests, about ${count(inputTokens)} tokens in, at most ${count(outputTokens)} out` +
  (usd === null ? "; price not known" : `; ${dollars(usd[0])} to ${dollars(usd[1])}`)

const textOf = (prompt: string, job: Job): string =>
  messages(prompt, job)
    .map(({ text }) => text)
    .join("\n")

/** Tokens of a request to the proposer: evidence and instructions, with the first answer in half of them. */
const proposalInput = 16_000
/** The most tokens of a proposer's answer. */
export const proposalOutput = 16_384
/** Tokens of a request to the judge besides the case: instructions, rubric and a short output. */
const judgeInput = 500
