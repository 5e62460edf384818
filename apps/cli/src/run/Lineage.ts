import { basename, resolve } from "node:path"
import { Projection, type RunEvent } from "@inspo/coevolution"
import { Console, Effect } from "effect"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { historyHash } from "./Fork.ts"

export interface LineageInput {
  readonly directories: ReadonlyArray<string>
  readonly json: boolean
}

/** A run among those asked for; `parent` is the one it branched off, when that was asked for, too. */
export interface Branch {
  readonly run: string
  readonly parent: string | null
  /** The last step it shares with the run it left, or null for a run of its own. */
  readonly forkedAt: number | null
}

/** What became of an instruction in one run. */
export interface Fate {
  readonly run: string
  readonly fate: Projection.CandidateRecord["fate"]
  readonly leftAt: number | null
}

/** An instruction with its fate in every run that knows it, and with its revisions. */
export interface Node {
  readonly id: string
  readonly text: string
  readonly bornAt: number
  readonly fates: ReadonlyArray<Fate>
  readonly children: ReadonlyArray<Node>
}

/** Tells the descent of the instructions of one run or of several branches. */
export const lineage = Effect.fn("Lineage.lineage")(function* ({ directories, json }: LineageInput) {
  const runs = yield* Effect.forEach(directories, (directory) =>
    Effect.map(readRun(directory), ({ events }) => ({ run: directory, events }))
  )
  const branches = yield* Effect.forEach(runs, (one) => branchOf(one, runs))
  const roots = forest(runs)
  if (json) return yield* Console.log(JSON.stringify({ runs: branches, instructions: roots }))
  const reporter = yield* Reporter.make("normal")
  yield* reporter.lines([
    ...branches.map(told),
    "",
    ...roots.flatMap((root) => tree(root, runs.length, reporter.columns))
  ])
})

interface Run {
  readonly run: string
  readonly events: ReadonlyArray<RunEvent>
}

/** The run that a branch left: it holds the events that the branch inherited, and preferably still has its name. */
const branchOf = Effect.fnUntraced(function* ({ events, run }: Run, runs: ReadonlyArray<Run>) {
  const [started] = events
  const fork = started?._tag === "RunStarted" ? started.forkedFrom : undefined
  if (fork === undefined) return { run, parent: null, forkedAt: null } satisfies Branch
  const related = yield* Effect.filter(
    runs.filter((other) => other.run !== run),
    (other) => Effect.map(historyHash(inherited(other.events, fork)), (hash) => hash === fork.head)
  )
  const named = related.find((other) => basename(resolve(other.run)) === fork.run) ?? related[0]
  return { run, parent: named?.run ?? null, forkedAt: fork.step } satisfies Branch
})

/** The events of another run that a branch would have taken over; checkpoints that were gone by then are not among them. */
const inherited = (
  events: ReadonlyArray<RunEvent>,
  fork: { readonly events: number; readonly checkpoints: ReadonlyArray<number> }
): ReadonlyArray<RunEvent> =>
  events
    .slice(1)
    .filter((event) => event._tag !== "CheckpointSaved" || fork.checkpoints.includes(event.step))
    .slice(0, fork.events - 1)

/** Instructions of all runs as trees: those that are equal up to their first ancestor are one. */
export const forest = (runs: ReadonlyArray<Run>): ReadonlyArray<Node> => {
  const drafts = new Map<string, Draft>()
  const roots: Array<Draft> = []
  for (const { events, run } of runs) {
    const keys = new Map<string, string>()
    for (const { fate, id, leftAt, parent, step, text } of Projection.candidates(events)) {
      if (id === null) continue
      const above = parent === null ? undefined : keys.get(parent)
      const key = JSON.stringify([above ?? null, id, text, step])
      keys.set(id, key)
      const known = drafts.get(key)
      const draft = known ?? { id, text, bornAt: step, fates: [], children: [] }
      draft.fates.push({ run, fate, leftAt })
      if (known !== undefined) continue
      drafts.set(key, draft)
      const siblings = above === undefined ? roots : (drafts.get(above)?.children ?? roots)
      siblings.push(draft)
    }
  }
  return roots
}

interface Draft extends Node {
  readonly fates: Array<Fate>
  readonly children: Array<Draft>
}

const told = ({ forkedAt, parent, run }: Branch): string =>
  forkedAt === null ? run : `${run}, a branch of ${parent ?? "another run"} after step ${forkedAt}`

const tree = (node: Node, runs: number, columns: number, indent = "", below = ""): ReadonlyArray<string> => {
  const fates = [...Map.groupBy(node.fates, outcome)].map(([fate, own]) =>
    own.length === runs ? fate : `${fate} in ${own.map(({ run }) => basename(run)).join(", ")}`
  )
  const head = `${indent}${node.id}  step ${node.bornAt}, ${fates.join(", ")}  `
  const room = Math.max(20, columns - head.length)
  const text = node.text.length > room ? `${node.text.slice(0, room - 1)}…` : node.text
  return [
    head + text,
    ...node.children.flatMap((child, index) => {
      const last = index === node.children.length - 1
      return tree(child, runs, columns, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`)
    })
  ]
}

const outcome = ({ fate, leftAt }: Fate): string => (leftAt === null ? fate : `${fate} at ${leftAt}`)
