import { assert, describe, it } from "@effect/vitest"
import { Algorithm, StaticArm } from "@inspo/coevolution"
import {
  algorithmOf,
  Deployment,
  deploymentOf,
  inconsistency,
  join,
  local,
  Presets,
  RunConfig,
  staticConfig,
  withAlgorithm
} from "@inspo/config"
import { ProposerModel } from "@inspo/reflection"
import { Predicate, Schema } from "effect"

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
    ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key]))
    : [path.join(".")]

const presets = Object.values(Presets.byName)
const exactly = { onExcessProperty: "error" } as const

/** Other addresses, retries, keys and limits. */
const Elsewhere = Schema.Struct({
  url: Schema.NullOr(Schema.Literals(["http://127.0.0.1:1", "http://127.0.0.1:2"])),
  retries: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  key: Schema.NullOr(Schema.Literals(["A", "B"])),
  tokens: Schema.NullOr(Schema.Literals([1, 1000])),
  baseline: Schema.Boolean
})

const elsewhere = ({ baseline, key, retries, tokens, url }: typeof Elsewhere.Type): Deployment => ({
  ...local,
  models: { proposer: url, judge: url },
  retrieval: { url },
  requests: { timeoutSeconds: null, retries },
  evaluation: { baseline },
  engine: { ...local.engine, url, concurrency: 2 },
  journal: { ...local.journal, url },
  keys: { ...local.keys, engine: key },
  budget: { ...local.budget, tokens }
})

/** The same with language models, whose addresses are deployment. */
const asking = (config: RunConfig, proposer: string, judge: string): RunConfig => ({
  ...config,
  proposer: { ...config.proposer, model: ProposerModel.named(proposer) },
  reward: { kind: { name: "judge", model: judge, criteria: null }, shaping: { name: "none" } }
})

describe("a config", () => {
  it("is an algorithm and a deployment, and every setting is of one of the two", () => {
    for (const config of presets) {
      const [algorithm, deployment] = [algorithmOf(config), deploymentOf(config)]
      assert.deepStrictEqual(Schema.decodeUnknownSync(Algorithm, exactly)(algorithm), algorithm)
      assert.deepStrictEqual(Schema.decodeUnknownSync(Deployment, exactly)(deployment), deployment)
      const parts = [...leaves(algorithm), ...leaves(deployment)]
      assert.strictEqual(new Set(parts).size, parts.length)
      // The address of a language model is in its name.
      const addresses = ["models.proposer", "models.judge"]
      assert.sameMembers(parts, [...leaves(config), ...addresses])
      assert.deepStrictEqual(Schema.decodeUnknownSync(RunConfig, exactly)(config), config)
    }
  })

  it.prop(
    "is what it was joined of",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: presets.length - 1 })), Elsewhere, Elsewhere],
    ([preset, one, other]) => {
      const known = asking(presets[preset] ?? Presets.quick, "openai-compatible:m", "anthropic:m")
      const tiny = asking(Presets.tiny, "google:m", "openai:m")
      const [here, there] = [elsewhere(one), elsewhere(other)]
      const config = join(algorithmOf(known), here)
      assert.deepStrictEqual(algorithmOf(config), algorithmOf(known))
      assert.deepStrictEqual(deploymentOf(config), here)
      // A config passes for an algorithm, and what it says of a deployment does not count then.
      assert.deepStrictEqual(withAlgorithm(config, join(algorithmOf(tiny), there)), join(tiny, here))
    }
  )

  it("of a static arm keeps where and how it is done, and a journal of its own", () => {
    const deployment = { ...local, journal: { url: "postgres://db" }, keys: { ...local.keys, engine: "K" } }
    const config = join(algorithmOf(Presets.quick), deployment)
    const arm = staticConfig(config, 4800)
    assert.deepStrictEqual(algorithmOf(arm), StaticArm.staticAlgorithm(algorithmOf(config), 4800))
    assert.deepStrictEqual(deploymentOf(arm), { ...deployment, journal: { url: null } })
  })

  it("names the field of a rule that a deployment breaks", () => {
    const { quick } = Presets
    const served: RunConfig = {
      ...quick,
      proposer: { ...quick.proposer, model: ProposerModel.named("http://127.0.0.1:8000/v1#nobody-knows") }
    }
    const mcp = [{ command: ["abacus"] }] as const
    const abacus = { ...quick.rollout, tools: ["search", "abacus"] }
    const told = { ...abacus.texts, prompt: "{tools} {instruction} {question}" }
    const seed = `${quick.seedInstruction} <abacus> counts.`
    const playedBy = (program: string): RunConfig => ({
      ...quick,
      rollout: { ...quick.rollout, agent: { name: "outside", program, workers: 1, timeout: 1 } }
    })
    const broken: ReadonlyArray<readonly [string | null, RunConfig]> = [
      ["rollout.tools", { ...quick, rollout: abacus }],
      ["rollout.texts", { ...quick, rollout: { ...abacus, mcp } }],
      [null, { ...quick, rollout: { ...abacus, mcp, texts: told } }],
      [null, { ...quick, rollout: { ...abacus, mcp }, seedInstruction: seed }],
      [null, { ...quick, rollout: { ...quick.rollout, mcp } }],
      [null, quick],
      ["data.corpus", { ...quick, data: { ...quick.data, questions: "q.jsonl" } }],
      ["data.questions", { ...quick, data: { ...quick.data, corpus: "c.jsonl" } }],
      [
        null,
        {
          ...quick,
          data: { ...quick.data, questions: "q.jsonl" },
          retrieval: { ...quick.retrieval, url: "http://127.0.0.1:1" }
        }
      ],
      [
        null,
        { ...quick, data: { ...quick.data, questions: "q.jsonl" }, rollout: { ...quick.rollout, tools: ["calculate"] } }
      ],
      ["data.mix", { ...quick, data: { ...quick.data, mix: { nq: 1 } } }],
      [null, { ...quick, data: { ...quick.data, questions: "q.jsonl", corpus: "c.jsonl", mix: { nq: 1 } } }],
      ["engine.contextLength", { ...quick, engine: { ...quick.engine, contextLength: 100 } }],
      [null, { ...quick, engine: { ...quick.engine, contextLength: 100, url: "http://127.0.0.1:1" } }],
      ["rollout.agent.program", playedBy(":99999")],
      [null, playedBy("0.0.0.0:65535")],
      [null, playedBy("http://127.0.0.1:99999/agent")],
      [null, served],
      ["budget.usd", { ...served, budget: { ...served.budget, usd: 1 } }],
      ["population.parents", { ...quick, population: { ...quick.population, parents: 99 } }]
    ]
    for (const [field, config] of broken) assert.strictEqual(inconsistency(config)?.field ?? null, field)
  })
})
