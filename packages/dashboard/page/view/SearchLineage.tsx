import type * as EvolveSearchView from "@inspo/evolve/SearchView"
import { count, inTreeOrder, inWords, percent, plural } from "@inspo/report"
import type { SearchDetail, SearchRow } from "../../src/view/SearchRow.ts"
import { Card, Facts, InstructionName, withMuted } from "../part/Parts.tsx"
import { Tree } from "../part/Tree.tsx"
import { WordingChoice } from "../part/Wording.tsx"
import { type SearchRoute, searchRoutes } from "../Route.ts"
import { go } from "../Routing.ts"
import { Gain } from "./SearchParts.tsx"

interface SearchLineageProps {
  readonly search: SearchRow
  readonly detail: SearchDetail
  readonly route: SearchRoute
}

/** Which prompt came from which, and why some left the search. */
export const SearchLineage = ({ detail, route, search }: SearchLineageProps) => {
  const { prompt, tried } = detail
  const nodes = inTreeOrder(tried.map((one) => ({ ...one, key: one.id })))
  const wanted = route.query.get("instruction") ?? prompt
  const selected = tried.find(({ id }) => id === wanted) ?? tried[0]
  return (
    <div className="split">
      <Tree
        title={plural(tried.length, "prompt")}
        nodes={nodes}
        selected={selected.id}
        onSelect={(instruction, how) => go(searchRoutes.href(search.id, "lineage", { instruction }), how)}
      >
        {({ id, left, score }) => (
          <>
            <InstructionName id={id} />
            {id === prompt && <span className="badge best">in use</span>}
            <Standing left={left} />
            <span className="tree-note muted small num">{percent(score)}</span>
          </>
        )}
      </Tree>
      <Card
        key={selected.id}
        title={
          <>
            <InstructionName id={selected.id} /> <Standing left={selected.left} />
          </>
        }
      >
        <Facts of={factsOf(selected)} />
        <WordingChoice wording={selected.content} parent={parentOf(tried, selected)} rationale={selected.rationale} />
      </Card>
    </div>
  )
}

const parentOf = (tried: SearchDetail["tried"], { parent }: EvolveSearchView.Tried) => {
  const found = tried.find(({ id }) => id === parent)
  return found && { id: found.id, wording: found.content }
}

const Standing = ({ left }: Pick<EvolveSearchView.Tried, "left">) =>
  left === null ? <span className="badge fate-alive">member</span> : <span className="badge fate-pruned">left</span>

const factsOf = ({
  cases,
  chance,
  enteredAfter,
  gain,
  left,
  parent,
  score
}: EvolveSearchView.Tried): React.ComponentProps<typeof Facts>["of"] => [
  ["Added", parent === null ? "as the prompt to improve" : `from ${parent}, after round ${enteredAfter}`],
  ["Mean score", withMuted(percent(score), `on ${count(cases)} cases of the search`)],
  chance !== null && ["Best with probability", percent(chance)],
  gain !== null && ["Points to the given prompt", <Gain gain={gain} />],
  left !== null && ["Left the search", `after round ${left.after}: ${inWords(left.reason)}`]
]
