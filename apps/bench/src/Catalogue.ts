/** The studies by name, with their question and kind. Loads none of their code. */

/** A study that trains: arms on the same seeds, the main ones on all of `seeds`, the others on `furtherSeeds`. */
export interface RunStudyEntry {
  readonly name: string
  readonly asks: string
  readonly by: "runs"
  readonly seeds: string
  readonly furtherSeeds: string
}

/** A simulation of decisions with known true rewards, without an engine. */
export interface SimulationEntry {
  readonly name: "pruning" | "verification"
  readonly asks: string
  readonly by: "simulation"
}

/** A study of the answers of a policy, without a run. */
export interface GateEntry {
  readonly name: "gate"
  readonly asks: string
  readonly by: "answers"
}

const runs = (name: string, asks: string, seeds = "1-10", furtherSeeds = seeds): RunStudyEntry => ({
  name,
  asks,
  by: "runs",
  seeds,
  furtherSeeds
})

const simulation = (name: SimulationEntry["name"], asks: string): SimulationEntry => ({ name, asks, by: "simulation" })

/** All studies, in the order of the list. */
export const catalogue: ReadonlyArray<RunStudyEntry | SimulationEntry | GateEntry> = [
  runs("static-vs-evolved", "does co-evolution beat one instruction at equal budget?"),
  runs("table1", "how do the methods of the paper's Table 1 compare?"),
  runs("ablation", "what is each part worth: stage, proposer, population?"),
  runs("proposers", "does it pay to reflect on failures?"),
  runs("sensitivity", "how much do parents and temperature matter?"),
  runs("curves", "how does training go, step by step? Four figures"),
  runs("when-it-pays", "how does the gain depend on base rate and budget?"),
  runs("clause-banks", "what if the policy was not pre-trained on the clauses?"),
  runs("tuning", "at which learning rate does each arm do best?", "100-109", "100-102"),
  { name: "gate", by: "answers", asks: "do instructions differ at all for a policy? Three tasks" },
  ...["passages", "format", "arithmetic"].map((task) =>
    runs(`frozen-${task}`, `does evolution help a frozen policy? The gate's ${task}`, "1-3")
  ),
  simulation("pruning", "how often does each pruning rule lose the best?"),
  simulation("verification", "what does verification take, how often is it wrong?")
]
