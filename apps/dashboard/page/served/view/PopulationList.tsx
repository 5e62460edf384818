import type { PopulationSummary } from "@inspo/serve/wire/Population"
import { Empty, InstructionName, Scroll } from "../../part/Parts.tsx"
import { href } from "../Route.ts"
import { Standing } from "../Words.tsx"

/** All populations. */
export const PopulationList = ({ populations }: { readonly populations: ReadonlyArray<PopulationSummary> }) =>
  populations.length === 0 ? (
    <Empty title="No populations yet">
      Make one from a prompt: <code>PUT /v1/populations/NAME</code> with <code>{'{"seed": "Be brief."}'}</code>.
    </Empty>
  ) : (
    <>
      <h1>Populations</h1>
      <Scroll label="Populations">
        <table className="table rows">
          <thead>
            <tr>
              <th scope="col">Population</th>
              <th scope="col">State</th>
              <th scope="col" className="wide-only">
                Profile
              </th>
              <th scope="col" className="num">
                Members
              </th>
              <th scope="col">Incumbent</th>
            </tr>
          </thead>
          <tbody>
            {populations.map(({ incumbent, members, name, profile, state }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={href(name)}>{name}</a>
                </th>
                <td>
                  <Standing state={state} />
                </td>
                <td className="wide-only">{profile}</td>
                <td className="num">{members}</td>
                <td>
                  <InstructionName id={incumbent} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
