import type { Population } from "@inspo/serve"
import { Empty, Pending } from "../part/Parts.tsx"
import { Shell } from "../part/Shell.tsx"
import * as Access from "./Access.ts"
import { makeQuery } from "./PopulationClient.ts"
import { KeyForm } from "../part/KeyForm.tsx"
import { State } from "../part/MemberParts.tsx"
import { usePolling } from "./Polling.ts"
import { populationRoutes } from "../Route.ts"
import { PopulationList } from "../view/PopulationList.tsx"
import { PopulationPage } from "../view/PopulationPage.tsx"

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
