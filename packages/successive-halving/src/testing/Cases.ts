/** What rules of removal and admission decide about. */
import { Population } from "@inspo/population"
import { Populations } from "@inspo/population/testing"
import { Arbitrary, Schema } from "effect"

/** A population with its values, some of its members, and a number of places. */
export interface Case {
  readonly population: Population.Contents
  readonly values: ReadonlyArray<Population.Value>
  readonly chosen: ReadonlySet<Population.Value["id"]>
  readonly size: number
}

export const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(
  Arbitrary.all([
    Populations.arbitrary,
    Arbitrary.schema(
      Schema.Struct({
        chosen: Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7])).check(Schema.isMaxLength(3)),
        size: Schema.Literals([1, 2, 3, 5, 8]),
        isCompared: Schema.Boolean
      })
    )
  ]),
  ([population, { chosen, isCompared, size }]) => {
    const valuation = isCompared ? Population.compare : Population.recentSteps({ window: 3 })
    return {
      population,
      values: valuation.values(population),
      chosen: new Set(Population.ids(population).filter((_, place) => chosen.some((one) => one === place))),
      size
    }
  }
)
