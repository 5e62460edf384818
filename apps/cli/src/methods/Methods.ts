/** The methods of policy optimization, as `inspo methods` prints them. */
import { Methods } from "@inspo/policy-gradient"
import { Text } from "@inspo/report"
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

/** JSON has no infinite number, and null is a constant without a published value. */
const rows = Methods.rows.map(
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
