/** Which run of a list each baseline and each branch belongs to. */
import type { RunView } from "./view/RunView.ts"

type Named = Pick<RunView, "id" | "name" | "forkedFrom" | "step">

/**
 * The id of the run that each run belongs to: a run in the directory of another one, such as a baseline, to that one, and a branch to
 * the run that it left. Absent for others, and if that run is not in the list.
 */
export const owners = (runs: ReadonlyArray<Named>): ReadonlyMap<string, string> => {
  const byName = Map.groupBy(runs, ({ name }) => name)
  const direct = new Map(
    runs.flatMap((run) => {
      const owner = enclosing(run.name, byName) ?? left(run, byName)
      return owner === undefined ? [] : [[run.id, owner.id] as const]
    })
  )
  return new Map([...direct].filter(([id]) => !isCyclic(id, direct)))
}

const enclosing = (name: string, byName: ReadonlyMap<string, ReadonlyArray<Named>>): Named | undefined => {
  const end = name.lastIndexOf("/")
  if (end <= 0) return undefined
  const around = name.slice(0, end)
  return byName.get(around)?.[0] ?? enclosing(around, byName)
}

/** The run that a branch left, known by its name; it has the steps that they share. */
const left = ({ forkedFrom, id }: Named, byName: ReadonlyMap<string, ReadonlyArray<Named>>): Named | undefined =>
  forkedFrom === null
    ? undefined
    : byName.get(forkedFrom.run)?.find((other) => other.id !== id && other.step >= forkedFrom.step)

/** Branches in several directories can have each other's name. */
const isCyclic = (id: string, direct: ReadonlyMap<string, string>): boolean => {
  const seen = new Set<string>()
  for (let at: string | undefined = id; at !== undefined; at = direct.get(at)) {
    if (seen.has(at)) return true
    seen.add(at)
  }
  return false
}
