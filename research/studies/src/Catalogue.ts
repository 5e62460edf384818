/** The studies by name, with their question and kind. Loads none of their code. */

/** A study that trains: arms on the same seeds. */
export interface RunStudyEntry {
  readonly name: string
  readonly asks: string
  readonly by: "runs"
  readonly seeds: string
}

/** A simulation with known true values, without an engine; by default of so many `simulations`. */
export interface SimulationEntry {
  readonly name: "evolve" | "evolve-aims" | "compare-errors"
  readonly asks: string
  readonly by: "simulation"
  readonly simulations: number
}

/** A study of the answers of a policy, without a run. */
export interface GateEntry {
  readonly name: "blind-gate"
  readonly asks: string
  readonly by: "answers"
}

const runs = (name: string, asks: string, seeds = "1-10"): RunStudyEntry => ({ name, asks, by: "runs", seeds })

const simulation = (name: SimulationEntry["name"], asks: string, simulations: number): SimulationEntry => ({
  name,
  asks,
  by: "simulation",
  simulations
})

/** All studies, in the order of the list. */
export const catalogue: ReadonlyArray<RunStudyEntry | SimulationEntry | GateEntry> = [
  runs("static-vs-evolved", "does co-evolution beat one instruction at equal budget?"),
  runs("table1", "how do the methods of the paper's Table 1 compare?"),
  runs("ablation", "what is each part worth: stage, proposer, population?"),
  runs("curves", "how does training go, step by step? Four figures"),
  runs("together-tuning", "which settings does each order of policy and instruction need?", "301-302"),
  runs("together", "do policy and instruction gain by learning together?", "201-240"),
  runs("budgets", "the same with fewer and more rollouts", "241-250"),
  runs("world-crutch", "the same where advice hinders a strong policy", "401-420"),
  runs("world-key", "the same where advice helps only a strong policy", "401-420"),
  runs("world-rare", "the same where first rewards are rare", "401-420"),
  runs("world-forget", "the same where what is learned stays with the advice", "401-420"),
  runs("world-budget", "the same in a world, with fewer and more rollouts", "401-420"),
  runs("plasticity", "does a policy learn a second task as well?", "401-420"),
  runs("rescue", "does a rescue by another instruction start a training?", "441-460"),
  runs("agents", "does the best instruction differ between agents?", "261-270"),
  runs("agent-training", "which agents and judgements of turns help a policy to learn?", "271-275"),
  runs("arena-tuning", "at which learning rate does each rival do best?", "301-302"),
  runs("arena", "does a published rival beat ours?", "251-260"),
  runs("methods-tuning", "at which learning rate does each method of the update do best?", "101-102"),
  runs("methods", "which method of the update helps?", "21-25"),
  runs("methods-low-rate", "the same where few rollouts succeed", "21-25"),
  runs("methods-stale", "which loss helps where samples are stale?", "21-25"),
  runs("trained-letter", "can instructions start a training of rare rewards?"),
  ...Array.from({ length: 12 }, (_, index) =>
    runs(`blind-r${index + 1}`, "the same with a reward that nobody chose for it", "21-30")
  ),
  { name: "blind-gate", by: "answers", asks: "which of these rewards can be reached by advice alone?" },
  simulation("evolve", "does evolve() find better prompts, and never worse ones?", 50),
  simulation("evolve-aims", "how often is a claim of an aim, a new model, protected cases wrong?", 100),
  simulation("compare-errors", "how often is a claim of `inspo compare` wrong, and how many cases does it need?", 1000)
]
