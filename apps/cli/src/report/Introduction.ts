import { type RunConfig, paidModels } from "@inspo/config"
import { Text, count, plural } from "@inspo/report"
import { ModelName, Prices, ProposerModel } from "@inspo/reflection"
import type { EngineProfile } from "@inspo/engine"
import type { LoadedData } from "../config/Data.ts"
import { plannedByPurpose } from "../terminal/Progress.ts"

/** What a run is about to do: model, world, schedule and the number of rollouts. */
export const introduction = (
  run: {
    readonly directory: string
    readonly config: RunConfig
    readonly loaded: LoadedData
    readonly profile: EngineProfile
  },
  columns: number
): ReadonlyArray<string> => {
  const { config, loaded, profile } = run
  const { control, population, rollout, schedule, train, verification } = config
  const planned = plannedByPurpose(config)
  const { data, passages } = loaded
  const entries: ReadonlyArray<readonly [name: string, text: string]> = [
    ["model", `${profile.model} on ${profile.name}, ${count(profile.parameters)} parameters`],
    [
      "world",
      `${loaded.description}: ${count(passages.length)} passages, ${count(data.train.length)} training and ` +
        `${count(data.test.length)} test questions`
    ],
    [
      "schedule",
      `${plural(schedule.steps, "step")} of ${train.batchSize} questions × ${rollout.groupSize} rollouts` +
        (population.size > 1
          ? `, ${plural(population.size, "instruction")}; ` +
            (schedule.pruneEvery > 0 ? `prune every ${steps(schedule.pruneEvery)}` : "no pruning") +
            (schedule.evolveEvery > 0
              ? `, evolve every ${schedule.evolveEvery}` +
                (schedule.evolveUntil === null ? "" : ` until step ${schedule.evolveUntil}`) +
                (schedule.searchEvery > 0 && verification.samples === 0
                  ? `, before a first reward every ${steps(schedule.searchEvery)}`
                  : "")
              : ", no evolution")
          : ", one instruction")
    ],
    [
      "training",
      train.fromStep === null
        ? "none: instructions are optimised, the policy stays as it is"
        : control.demonstrations === null
          ? ""
          : "supervised, on demonstrations"
    ],
    ["proposer", proposer(config)],
    [
      "prices",
      Prices.unknown(
        paidModels(config).flatMap(({ model }) =>
          model === null || Prices.priceOf(model, config.budget.prices) !== null ? [] : [model]
        ),
        "give it in budget.prices"
      ) ?? ""
    ],
    [
      "rollouts",
      `${count(planned.train)} training, ${count(planned.verification)} verification (when every evolution takes ` +
        `one round), ${count(planned.evaluation)} evaluation`
    ],
    ["directory", run.directory]
  ]
  return [
    ...entries.flatMap(([name, text]) =>
      Text.wrap(text, columns - 11).map((line, index) => `${(index === 0 ? name : "").padEnd(11)}${line}`)
    ),
    ""
  ]
}

const proposer = ({ proposer: { kind, model } }: RunConfig): string =>
  model.name === ProposerModel.offline || kind.name === "random"
    ? (offline[kind.name] ?? kind.name)
    : `${kind.name} by ${ModelName.withoutUrl(model.name)}`

const offline: Readonly<Record<string, string>> = {
  reflection: "rules over a clause bank, offline (no language model)",
  random: "random clauses of the bank",
  paraphrase: "the parent in other words of the bank",
  history: "clauses of the better-scored instructions"
}

const steps = (period: number): string => (period === 1 ? "step" : `${period} steps`)
