import type { Population } from "@inspo/serve"
import { Empty, Pending, Card, InstructionName } from "../part/Parts.tsx"
import { Shell } from "../part/Shell.tsx"
import * as Access from "./Access.ts"
import { makeQuery } from "./PopulationClient.ts"
import { State } from "../part/MemberParts.tsx"
import { usePolling } from "./Polling.ts"
import { populationRoutes } from "../Route.ts"
import { PopulationPage } from "../view/PopulationPage.tsx"
import { useState } from "react"
import { Field, Form } from "../part/Form.tsx"
import { type Column, Table } from "../part/Table.tsx"

const usePopulations = makeQuery<null, ReadonlyArray<Population.PopulationSummary>, unknown>((client) =>
  client.populations.list()
)

/** The populations of an instruction server, and the views of one of them. */
export const Populations = () => {
  const route = populationRoutes.useRoute()
  const access = Access.useAccess()
  const version = `${usePolling()} ${access.version}`
  const { data, problem } = usePopulations(null, version)
  const population = data?.find(({ name }) => name === route.name)
  return (
    <Shell
      kind="population"
      routes={populationRoutes}
      route={route}
      items={(data ?? []).map(({ name }) => ({ id: name, name }))}
      state={population !== undefined && <State state={population.state} />}
      connected={access.connected}
      actions={
        Access.key() !== null && (
          <button type="button" onClick={() => Access.setKey(null)}>
            Remove the key
          </button>
        )
      }
    >
      {access.locked ? (
        <KeyForm refused={access.refused} />
      ) : data === null ? (
        <Pending problem={problem} />
      ) : route.name === null ? (
        <PopulationList populations={data} />
      ) : population === undefined ? (
        <Empty isPage title={`There is no population ${route.name}`}>
          It was removed. <a href={populationRoutes.href(null)}>All populations</a>
        </Empty>
      ) : (
        <PopulationPage key={population.name} route={route} name={population.name} />
      )}
    </Shell>
  )
}

/** Asks for the API key of an admin. The page keeps it in memory and sends it only as a header. */
const KeyForm = ({ refused }: { readonly refused: string | null }) => {
  const [typed, setTyped] = useState("")
  return (
    <>
      <h1 className="hidden">Populations</h1>
      <Card title="Enter a key">
        <Form
          label="Key"
          submit="Use the key"
          disabled={false}
          onSubmit={() => typed !== "" && Access.setKey(typed)}
          problem={refused}
        >
          <Field name="Key with the scope admin">
            <input
              type="password"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              aria-describedby="key-note"
            />
          </Field>
          <p id="key-note" className="muted small">
            The key stays in the memory of this page until you close or reload it.
          </p>
        </Form>
      </Card>
    </>
  )
}

interface PopulationListProps {
  readonly populations: ReadonlyArray<Population.PopulationSummary>
}

const PopulationList = ({ populations }: PopulationListProps) =>
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
