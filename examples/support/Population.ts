/** Creates a population on an instruction server, unless it exists with the same settings. */
export const makePopulation = async (
  url: string,
  name: string,
  made: {
    readonly seed: string
    readonly variants?: ReadonlyArray<string>
    readonly profile?: "online" | "trainer"
    readonly settings?: Readonly<Record<string, unknown>>
  },
  key?: string
): Promise<void> => {
  const response = await fetch(`${url}/v1/populations/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(made)
  })
  if (!response.ok) throw new Error(`${name} cannot be created (${response.status}): ${await response.text()}`)
}
