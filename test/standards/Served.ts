/** A server with one population of which one instruction is good, and what it has come to. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Population } from "@inspo/serve"
import { Schema } from "effect"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import { blocksOf } from "../docs-examples/support/Documents.ts"

const good = "Ask which order it is about."
const seed = "Answer the customer."

export interface Served {
  readonly url: string
  readonly folder: string
  readonly end: () => Promise<void>
}

export const start = async (): Promise<Served> => {
  const folder = await mkdtemp(join(tmpdir(), "inspo-standards-"))
  const settings = { sealAfterLeases: 20 }
  const populations = { support: { seed, variants: [good, "Apologise twice."], settings } }
  await writeFile(join(folder, "serve.json"), JSON.stringify({ populations }))
  const { ready } = await inspoServer(["serve", "serve.json", "--port", "0", "--json"], { cwd: folder })
  const { url } = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))(ready)
  return {
    url,
    folder,
    end: async () => {
      endAll()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** The text of the incumbent, and the leases of which none is open once all are rewarded. */
export const outcome = async ({ url }: Served) => {
  const answer = await fetch(`${url}/v1/populations/support`)
  const { incumbent, leases, members } = Schema.decodeUnknownSync(Population.Population)(await answer.json())
  return { incumbent: members.find(({ id }) => id === incumbent)?.wording, leases }
}

/** What 400 rewarded conversations come to. */
export const learned = { incumbent: good, leases: { given: 400, open: 0, overdue: 0, lost: 0 } }

/** The configuration that the page shows in a language, for a server. */
export const configuration = (language: string, { url }: Served): string =>
  blocksOf("docs/how-to/flags-and-traces.md")
    .filter((block) => block.language === language)
    .map(({ code }) => code.replaceAll("http://127.0.0.1:8700", url))
    .join("\n")
