/** The methods of policy optimization, as `inspo methods` prints them. */
import { Algorithm, Presets, Recipes, Substitutes } from "@inspo/coevolution"
import type { Method } from "@inspo/domain"
import { Advantage, Corrections, Credits, Keeps, Losses } from "@inspo/policy-gradient"
import { Learners } from "@inspo/reflection"
import { Memory } from "@inspo/replay-buffer"
import { Text } from "@inspo/report"
import { GroupRewards } from "@inspo/reward"
import { Agents } from "@inspo/rollout"
import { Schema } from "effect"
import * as Reporter from "../terminal/Reporter.ts"

export const methods = () =>
  Reporter.print(rows, (columns) =>
    [...Map.groupBy(rows, ({ family }) => family)].flatMap(([family, ofFamily]) => [
      family,
      ...Text.rows(
        ofFamily.map(({ certainty, formula, name, source }) => [name, `${formula} (${source}; ${certainty})`] as const),
        columns
      ),
      ""
    ])
  )

interface Row extends Method.Method {
  readonly family: string
  readonly setting: string | null
}

const settings: Readonly<Record<string, string>> = {
  loss: "train.loss",
  credit: "train.credit",
  keep: "train.keep",
  correction: "train.correction",
  reward: "reward.shaping",
  successes: "replay.successes",
  rescue: "rollout.rescue"
}

/** Every method of the registries, family by family. */
export const table: ReadonlyArray<Row> = [
  ...[...Advantage.estimators, ...Advantage.furtherEstimators].map((method) => ({
    ...method,
    family: "advantage",
    setting: Advantage.Advantage.methods.some(({ name }) => name === method.name) ? "train.advantage" : null
  })),
  ...Object.entries({
    loss: Losses.losses,
    credit: Credits.credits,
    keep: Keeps.keeps,
    correction: Corrections.corrections,
    reward: GroupRewards.groupRewards,
    replay: [Memory.successes, Substitutes.rescue, Memory.differingGroups]
  }).flatMap(([family, methods]) =>
    methods.map((method): Row => ({ ...method, family, setting: settings[family] ?? settings[method.name] ?? null }))
  ),
  ...Agents.agents.map((kind): Row => ({
    ...kind,
    formula: kind.description,
    family: "agent",
    setting: "rollout.agent"
  })),
  ...Learners.learners.map((kind): Row => ({ ...kind, family: "proposer", setting: "proposer.kind" })),
  ...Object.entries(Recipes.recipes).map(([name, { description, source, train }]): Row => ({
    name,
    description,
    formula: changesOf(train(Presets.quick)),
    source,
    certainty: "code",
    defaults: {},
    family: "recipe",
    setting: "--method"
  }))
]

/** The settings of a recipe, on the algorithm of `quick`. */
function changesOf(changes: Partial<Algorithm["train"]>): string {
  const encoded: object = Schema.encodeSync(Algorithm)({
    ...Presets.quick,
    train: { ...Presets.quick.train, ...changes }
  }).train
  return Object.entries(encoded)
    .filter(([key]) => Object.hasOwn(changes, key))
    .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value).replaceAll('"', "")}`)
    .join(", ")
}

/** JSON has no infinite number, and null is a constant without a published value. */
const rows = table.map(
  ({
    certainty,
    defaults,
    description,
    family,
    formula,
    name,
    needs = null,
    setting,
    source,
    trl = null,
    verl = null
  }) => ({
    name,
    family,
    formula,
    description,
    source,
    certainty,
    verl,
    trl,
    needs,
    setting,
    constants: Object.fromEntries(
      Object.entries(defaults).map(([constant, value]) => [constant, value === Infinity ? "Infinity" : value])
    )
  })
)
