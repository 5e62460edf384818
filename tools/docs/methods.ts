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
    ])
  )
