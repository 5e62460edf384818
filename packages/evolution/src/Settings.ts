/**
 * The settings that runs and served populations share: one name and one meaning each, in units of time: steps of a run
 * or cohorts of a served population. Each host adds its own.
 */
import type { InstructionValue } from "@inspo/population"
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))
const upTo = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most }))

export const Settings = Schema.Struct({
  randomSeed: Schema.Int.annotate({ description: "Seed of every random choice" }),
  population: Schema.Struct({
    size: upTo(10_000).annotate({
      description: "N_P: the most instructions after an evolution. 1 without evolution is ordinary GRPO"
    }),
    parents: Positive.annotate({
      description: "N_parent: how many instructions become parents; pruning never leaves fewer"
    }),
    window: Positive.annotate({ description: "n of Eq. 6: over how many steps or cohorts rewards are averaged" }),
    average: Schema.Literals(["draws", "steps"]).annotate({
      description:
        "Eq. 6 divides the sum of the instruction's own last n observations by n (`draws`), or averages its observations " +
        "in the last n steps or cohorts (`steps`). In a run, a never-sampled instruction has the value 0 with " +
        "`draws`, and the mean of the known values with `steps`"
    })
  }),
  sampler: Schema.Struct({
    temperature: Schema.Finite.check(Schema.isGreaterThan(0)).annotate({
      description: "τ_s of Eq. 4: how even the shares of the instructions are"
    }),
    newcomers: Schema.Literals(["drawn", "guaranteed", "everyone"]).annotate({
      description:
        "Instructions that just joined are `drawn` like all others, or `guaranteed` a group in their first step or `fullBatch` " +
        "cohort; with `everyone` each instruction is guaranteed one in every step"
    })
  }),
  schedule: Schema.Struct({
    pruneEvery: Count.annotate({ description: "K_p: steps or cohorts between two prunings; 0 for never" }),
    evolveEvery: Count.annotate({ description: "K_e: steps or cohorts between two evolutions; 0 for never" }),
    evolveUntil: Schema.NullOr(Count).annotate({
      description: "T_e: the last step or cohort after which an evolution may begin; null for no last"
    })
  }),
  verification: Schema.Struct({
    samples: Count.annotate({
      description:
        "|D_B|: the number of questions each candidate is verified on, or of units of work if it shares the traffic; with 0 " +
        "candidates join unverified"
    }),
    rounds: upTo(1000).annotate({ description: "Rounds of proposing and verifying per evolution" }),
    lookEvery: Schema.NullOr(Positive).annotate({
      description: "Questions between two interim analyses, at which candidates may leave early; null for none"
    })
  })
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

/** How the window of Eq. 6 is read. */
export const averagingOf = ({
  average,
  window
}: Settings["population"]): Pick<InstructionValue.Averaging, "average" | "span" | "window"> => ({
  window,
  span: average,
  average: average === "draws" ? "window" : "observed"
})
