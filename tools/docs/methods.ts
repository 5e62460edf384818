/** The page of the methods of policy optimization, from the registries of methods. */
import { table as methods } from "../../apps/cli/src/methods/Methods.ts"
import { code, page, table } from "./markdown.ts"

export const methodsPage = (): string =>
  page(
    "Methods of policy optimization",
    `${methods.length} methods, each a pure function with its laws in tests. Certainty: ` +
      "`code` was read in the authors' code, `text` in their paper, and of `part` a detail or a constant is not published. " +
      "A constant without a published value is `null` and must be given. Methods for programs are those that no setting names.",
    ...[...Map.groupBy(methods, ({ family }) => family)].flatMap(([family, rows]) => [
      `## ${family}`,
      table(
        ["name", "formula", "source", "certainty", "constants", "verl, TRL", "needs", "for"],
        rows.map(({ certainty, defaults, formula, name, needs = "", setting, source, trl, verl }) => [
          code(name),
          formula,
          source,
          certainty,
          Object.entries(defaults)
            .map(([constant, value]) => `${constant} ${typeof value === "object" ? JSON.stringify(value) : value}`)
            .join(", "),
          [verl ?? "–", trl ?? "–"].join("; "),
          needs,
          setting === null ? "programs" : code(setting)
        ])
      ),
      rows.map(({ description, name }) => `- ${code(name)} ${description}.`).join("\n")
    ]),
    "## Where they differ from verl and TRL",
    "Methods equal those of verl and TRL on 1,000 random steps, to 1e-6. So do the gradients of losses. Both run on a CPU. Where a " +
      "function of TRL is part of a longer method, the lines of its source run. The tests give the constants of verl and TRL to inspo " +
      "where the defaults differ. These differences are deliberate:",
    table(
      ["what", "inspo", "verl, TRL"],
      [
        ["a group of one", "advantage 0", "verl: its reward"],
        ["equal rewards", "exactly 0", "a rounding error divided by ε"],
        ["ε of `standardised`", "1e-6, after the root", "verl: the same; TRL: 1e-4"],
        ["`gpg`", "counts the members of groups that differ", "verl: counts the members whose reward is not 0"],
        ["`gdpo`", "the sum of standardised rewards", "both standardise the sum again over the batch"],
        ["`cispo`", "no bound below by default", "verl: 0.2 below; TRL: none, and `epsilon_high` is the bound itself"],
        ["`cispo`, `vespo`", "the normalization of the run", "TRL: the mean over all tokens"],
        ["`soft-overlong`", "takes at most 1", "verl: more than 1 beyond the limit"],
        ["pass@k", "`pass-at-k` and `best-of-group`, two estimators", "verl: `grpo_passk` is `best-of-group`"]
      ]
    )
  )
