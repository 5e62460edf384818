import { Point } from "@inspo/tracking"
import { Schema } from "effect"

/** Points of any metrics with values that a 32-bit number holds. */
export const Points: Schema.Codec<ReadonlyArray<Point.Point>, unknown> = Schema.Array(
  Schema.Struct({
    step: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })),
    samples: Schema.Array(
      Schema.Struct({
        name: Schema.Literals(Point.names),
        label: Schema.NullOr(Schema.NonEmptyString),
        value: Schema.Int.check(Schema.isBetween({ minimum: -65_536, maximum: 65_536 }))
      })
    )
  })
)
