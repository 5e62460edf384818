import { useState } from "react"
import type { LifeView, PopulationView } from "../../src/view/PopulationView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { Ribbons } from "../chart/Ribbons.tsx"
import { ValueLines } from "../chart/ValueLines.tsx"
import { instructionStyle } from "../Colour.ts"
import { count, percent } from "../../src/Format.ts"
import { versionOf } from "../Live.ts"
import { Card, Empty, FateBadge, InstructionName, Loading, Problem, Scroll } from "../part/Parts.tsx"
import { href, type Route } from "../Route.ts"
import { makeView } from "../View.ts"

const usePopulation = makeView((client, run: string) => client.population({ params: { run } }))

/** Who lived when, how often it was drawn, and how well it did. */
export const Population = ({ run }: { readonly run: RunView; readonly route: Route }) => {
  const { data, problem } = usePopulation(run.id, versionOf(run))
  const [picked, setPicked] = useState<string | null>(null)
  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  if (data.lives.length === 0)
    return <Empty title="No population yet">It appears once the first instructions are written.</Empty>
  return (
    <>
      <h1 className="hidden">Population of {run.name}</h1>
      {data.steps.length === 0 ? (
        <Empty title="No step yet">Probabilities and values appear with the first policy update.</Empty>
      ) : (
        <div className="columns wide-left">
          <Card>
            <Ribbons population={data} picked={picked} onPick={setPicked} />
            <p className="legend">
              <span>
                <i className="mark-prune" aria-hidden="true" /> pruned
              </span>
              <span>
                <i className="mark-evolve" aria-hidden="true" /> evolved
              </span>
            </p>
          </Card>
          <Card>
            <ValueLines population={data} picked={picked} onPick={setPicked} />
          </Card>
        </div>
      )}
      <Card title={`Lives, ${data.lives.length}`}>
        <Scroll label="Lives">
          <table className="table rows lives">
            <thead>
              <tr>
                <th scope="col">Instruction</th>
                <th scope="col" className="num wide-only">
                  Gen.
                </th>
                <th scope="col" className="lives-span">
                  Steps 0 to {run.steps ?? run.step}
                </th>
                <th scope="col" className="num wide-only">
                  Groups
                </th>
                <th scope="col" className="num">
                  Mean reward
                </th>
                <th scope="col" className="num wide-only">
                  Last value
                </th>
                <th scope="col">Fate</th>
              </tr>
            </thead>
            <tbody>
              {data.lives.map((life) => (
                <Life
                  key={life.id}
                  life={life}
                  run={run}
                  population={data}
                  picked={picked === life.id}
                  onPick={setPicked}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      </Card>
    </>
  )
}

const Life = ({
  life,
  onPick,
  picked,
  population,
  run
}: {
  readonly life: LifeView
  readonly run: RunView
  readonly population: PopulationView
  readonly picked: boolean
  readonly onPick: (id: string | null) => void
}) => {
  const end = Math.max(1, run.steps ?? run.step)
  const until = life.leftAt ?? run.step
  const value = life.values.findLast((one) => one !== null) ?? null
  return (
    <tr className={picked ? "picked" : ""} onPointerEnter={() => onPick(life.id)} onPointerLeave={() => onPick(null)}>
      <th scope="row">
        <a href={href(run.id, "lineage", { instruction: life.id })}>
          <InstructionName id={life.id} />
        </a>
      </th>
      <td className="num wide-only">{life.generation}</td>
      <td className="lives-span">
        <span className="span-bar">
          <i
            className={`ink ${life.fate === "alive" ? "" : "ended"}`}
            title={`steps ${life.bornAt} to ${until}`}
            style={{
              ...instructionStyle(life.id),
              left: `${(100 * life.bornAt) / end}%`,
              width: `${Math.max(0.8, (100 * (until - life.bornAt)) / end)}%`
            }}
          />
          {population.marks
            .filter(({ kind }) => kind === "evolve")
            .map(({ step }) => (
              <b key={step} style={{ left: `${(100 * step) / end}%` }} />
            ))}
        </span>
      </td>
      <td className="num wide-only">{count(life.groups)}</td>
      <td className="num">{percent(life.mean)}</td>
      <td className="num wide-only">{percent(value)}</td>
      <td>
        <FateBadge fate={life.fate} />
        {life.reason !== null && life.fate !== "alive" && <span className="muted small wide-only"> {life.reason}</span>}
      </td>
    </tr>
  )
}
