import type { Population } from "@inspo/serve"
import { Empty, InstructionName } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { State } from "../part/MemberParts.tsx"
import { populationRoutes } from "../Route.ts"

interface PopulationListProps {
  readonly populations: ReadonlyArray<Population.PopulationSummary>
}

/** All populations. */
export const PopulationList = ({ populations }: PopulationListProps) =>
  populations.length === 0 ? (
    <Empty isPage title="No populations yet">
      Create one from a prompt: <code>PUT /v1/populations/NAME</code> with <code>{'{"seed": "Be brief."}'}</code>.
    </Empty>
  ) : (
    <>
      <h1>Populations</h1>
      <Table label="Populations" className="rows" columns={columns} rows={populations} />
    </>
  )

const columns: ReadonlyArray<Column<Population.PopulationSummary>> = [
  ["Population", "", ({ name }) => <a href={populationRoutes.href(name)}>{name}</a>],
  ["State", "", ({ state }) => <State state={state} />],
  ["Profile", "wide-only", ({ profile }) => profile],
  ["Members", "num", ({ members }) => members],
  ["Incumbent", "", ({ incumbent }) => <InstructionName id={incumbent} />]
]
