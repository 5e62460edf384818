import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import {
  layerHistory,
  layerParaphrase,
  layerRandom,
  layerRuleBased,
  Learners,
  Proposer,
  ProposerError
} from "@inspo/reflection"
import { ModelProposer } from "@inspo/reflection/models"
import { ProposerLaws, ScriptedModel, ScriptedProposer } from "@inspo/reflection/testing"
import { Effect } from "effect"

/** A language model that writes one candidate in each answer, so that it is often asked for more. */
const model = (kind: ModelProposer.Options["kind"]) =>
  Effect.map(
    ScriptedModel.make((_, call) => ({
      text: `<ins_1>Search in <search> and </search>, answer in <answer> and </answer>, in way ${call}.</ins_1>`
    })),
    ({ model }) =>
      ModelProposer.make(model, {
        kind,
        price: { model: "m", input: 1, output: 2 },
        maxOutputTokens: 1000,
        maxEvidenceTokens: 4000
      })
  )

/** The same with a learner, and an answer to what it asks, after a proposal of which a candidate was better. */
const learning = (name: "evolving" | "lessons") =>
  Effect.map(
    ScriptedModel.make(([asked = ""], call) => ({
      text: asked.includes("one edit a line")
        ? "ADD: Name the tools."
        : `<ins_1>Search in <search> and </search>, answer in <answer> and </answer>, in way ${call}.</ins_1>`
    })),
    ({ model }) => {
      const learner = Learners.fromConfig({ name }) ?? assert.fail("no learner")
      const limits = { maxOutputTokens: 1000, maxEvidenceTokens: 4000 }
      const proposer = ModelProposer.make(model, {
        kind: "reflection",
        price: { model: "m", input: 1, output: 2 },
        learner,
        ...limits
      })
      const { notes } = learner.learn({ parent: { text: "Search first." } }, "").read(null)
      return Proposer.of({
        ...proposer,
        propose: (request) =>
          proposer.propose({ ...request, notebook: { notes, outcomes: [{ text: "Search.", gain: 0.5 }] } })
      })
    }
  )

const provided = (layer: typeof layerRuleBased) => Proposer.pipe(Effect.provide(layer))

describe.each([
  ["rule-based", provided(layerRuleBased)],
  ["random", provided(layerRandom)],
  ["paraphrase", provided(layerParaphrase)],
  ["history", provided(layerHistory)],
  ["scripted", provided(ScriptedProposer.layer(({ parent }) => [`${parent.text} Search first.`]))],
  ["model, reflection", model("reflection")],
  ["model, history", model("history")],
  ["model, paraphrase", model("paraphrase")],
  ["model, evolving", learning("evolving")],
  ["model, lessons", learning("lessons")]
] as const)("the proposer: %s", (_, fresh) => {
  for (const { check, name } of ProposerLaws.laws(fresh)) it.effect(name, () => check)
})

type Bug = (proposer: Proposer.Interface) => Proposer.Interface

/** What both methods do with their request, and with the proposal. */
const changed = (change: {
  readonly request?: Bug
  readonly proposal?: (
    proposal: Effect.Success<ReturnType<Proposer.Interface["initial"]>>,
    count: number
  ) => typeof proposal
}): Bug => {
  const { proposal = (given) => given, request = (given) => given } = change
  return (proposer) => {
    const { initial, propose } = request(proposer)
    return {
      initial: (asked) => Effect.map(initial(asked), (given) => proposal(given, asked.count)),
      propose: (asked) => Effect.map(propose(asked), (given) => proposal(given, asked.count))
    }
  }
}

/** A number that differs between proposers. */
let made = 0

/** For each law a proposer that breaks it, and no other. */
const bugs: Readonly<Record<string, Bug>> = {
  "a candidate has a text and a rationale": changed({
    proposal: (given, count) =>
      count > 2 ? { ...given, candidates: [...given.candidates, { text: "", rationale: "" }] } : given
  }),
  "the first variants differ from the instruction and from each other": (proposer) => ({
    ...proposer,
    initial: (request) =>
      Effect.map(proposer.initial(request), (given) => ({
        ...given,
        candidates: [...given.candidates, { text: request.parent.text, rationale: "as it is" }]
      }))
  }),
  "a request gets the same proposal again from the same answers, and pays for no answer twice": (proposer) => {
    const mine = made++
    return changed({ proposal: (given) => ({ ...given, critique: `${mine}` }) })(proposer)
  },
  "each call has a key of its own that begins with the stream": ({ initial, propose }) => ({
    initial: (request) => initial({ ...request, stream: ["initial"] }),
    propose: (request) => propose({ ...request, stream: ["proposal"] })
  }),
  "a proposal costs what its calls cost": changed({
    proposal: (given) => ({ ...given, spent: { calls: 1, tokens: 110, usd: 0.00012 } })
  }),
  "what a call fails with is passed on as it is": ({ initial, propose }) => {
    const failed = () => new ProposerError({ proposer: "mine", reason: "it did not answer" })
    return {
      initial: (request) => Effect.mapError(initial(request), failed),
      propose: (request) => Effect.mapError(propose(request), failed)
    }
  }
}

describe("the laws of a proposer find a planted bug", { tags: "deep" }, () => {
  it.effect.each(ProposerLaws.laws(model("reflection")).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      const found = yield* Law.broken(ProposerLaws.laws(Effect.map(model("reflection"), bug)))
      assert.deepStrictEqual(
        found.map(({ law }) => law),
        [name]
      )
    })
  )
})
