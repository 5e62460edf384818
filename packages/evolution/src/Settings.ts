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
      description: "N_P: the largest number of instructions after an evolution. 1 without evolution is normal GRPO"
    }),
    parents: Positive.annotate({
      description:
        "N_parent: the number of parents of an evolution, which is also the fewest instructions that pruning leaves"
    }),
    window: Positive.annotate({ description: "n of Eq. 6: the steps or cohorts over which rewards are averaged" }),
    average: Schema.Literals(["draws", "steps"]).annotate({
      description:
        "The average of Eq. 6. `draws`: the sum of the instruction's last n observations, divided by n; `steps`: the mean of " +
        "its observations in the last n steps or cohorts. In a run, an instruction without samples has the value 0 with " +
        "`draws`, and the mean of the known values with `steps`"
    })
  }),
  sampler: Schema.Struct({
    temperature: Schema.Finite.check(Schema.isGreaterThan(0)).annotate({
      description: "τ_s of Eq. 4: higher values make the shares of the instructions more even"
    }),
    newcomers: Schema.Literals(["drawn", "guaranteed", "everyone"]).annotate({
      description:
        "Whether new instructions are drawn like others, or guaranteed a group in their first step or `fullBatch` " +
        "cohort; `everyone` guarantees each instruction one in every step"
    })
  }),
  schedule: Schema.Struct({
    pruneEvery: Count.annotate({ description: "K_p: steps or cohorts between two prunings; 0 for never" }),
    evolveEvery: Count.annotate({ description: "K_e: steps or cohorts between two evolutions; 0 for never" }),
    evolveUntil: Schema.NullOr(Count).annotate({
      description: "T_e: the last step or cohort after which an evolution can begin; null for no limit"
    })
  }),
  verification: Schema.Struct({
    samples: Count.annotate({
      description:
        "|D_B|: questions that verify each candidate, or units of work if it shares the traffic; 0 accepts " +
        "candidates without verification"
    }),
    rounds: upTo(1000).annotate({ description: "Rounds of proposals and verification per evolution" }),
    lookEvery: Schema.NullOr(Positive).annotate({
      description: "Questions between two interim analyses, at which verification can stop early; null for none"
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
