import { basename, resolve } from "node:path"
import { Projection } from "@inspo/analysis"
import type { RunEvent } from "@inspo/coevolution"
import { Effect } from "effect"
import { type Branch, type Fate, lineageLines, type Node } from "../report/LineageReport.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { historyHash, inherited } from "./Fork.ts"

export interface LineageInput {
  readonly directories: ReadonlyArray<string>
}

export const lineage = Effect.fn("Lineage.lineage")(function* ({ directories }: LineageInput) {
  const runs = yield* Effect.forEach(directories, (directory) =>
    Effect.map(readRun(directory), ({ events }) => ({ run: directory, events }))
  )
  const branches = yield* Effect.forEach(runs, (one) => branchOf(one, runs))
  const roots = forest(runs)
  yield* Reporter.printStyled({ runs: branches, instructions: roots }, (style) => lineageLines(branches, roots, style))
})

interface Run {
  readonly run: string
  readonly events: ReadonlyArray<RunEvent>
}

/** The run that a branch comes from: it holds the events that the branch inherited, and preferably still has its name. */
const branchOf = Effect.fnUntraced(function* ({ events, run }: Run, runs: ReadonlyArray<Run>) {
  const [started] = events
  const fork = started?._tag === "RunStarted" ? started.forkedFrom : undefined
  if (fork === undefined) return { run, parent: null, forkedAt: null } satisfies Branch
  const related = yield* Effect.filter(
    runs.filter((other) => other.run !== run),
    (other) =>
      Effect.map(
        historyHash(inherited(other.events.slice(1, fork.events), fork.checkpoints)),
        (hash) => hash === fork.head
      )
  )
  const named = related.find((other) => basename(resolve(other.run)) === fork.run) ?? related[0]
  return { run, parent: named?.run ?? null, forkedAt: fork.step } satisfies Branch
})

/** Instructions of all runs as trees: those that are equal up to their first ancestor are one. */
export const forest = (runs: ReadonlyArray<Run>): ReadonlyArray<Node> => {
  const drafts = new Map<string, Draft>()
  const roots: Array<DraftNode> = []
  for (const { events, run } of runs) {
    const own = new Map<string, Draft>()
    for (const { fate, id, leftAt, parent, step, text } of Projection.candidates(events)) {
      if (id === null) continue
      const above = parent === null ? undefined : own.get(parent)
      // The ancestor's number identifies all of its own ancestors.
      const key = JSON.stringify([above?.number ?? null, id, text, step])
      const known = drafts.get(key)
      const draft = known ?? { number: drafts.size, node: { id, text, bornAt: step, fates: [], children: [] } }
      own.set(id, draft)
      draft.node.fates.push({ run, fate, leftAt })
      if (known !== undefined) continue
      drafts.set(key, draft)
      const siblings = above?.node.children ?? roots
      siblings.push(draft.node)
    }
  }
  return roots
}

interface Draft {
  /** In order of appearance. */
  readonly number: number
  readonly node: DraftNode
}

interface DraftNode extends Node {
  readonly fates: Array<Fate>
  readonly children: Array<DraftNode>
}
