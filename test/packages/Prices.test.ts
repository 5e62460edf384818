import { describe, it, assert } from "vitest"
import { moduleOf, prices, type Table } from "../../tools/prices/Snapshot.ts"

const source = { version: "1.2.3", date: "2026-06-01" }
const row = (provider: string, input: unknown, output: unknown, more: object = {}) => ({
  litellm_provider: provider,
  mode: "chat",
  input_cost_per_token: input,
  output_cost_per_token: output,
  ...more
})

const table: Table = {
  "gpt-a": row("openai", 0.4e-6, 1.6e-6),
  "gpt-a-2026-01-02": row("openai", 0.4e-6, 1.6e-6),
  "gpt-a-2025-01-02": row("openai", 5e-6, 1.6e-6),
  o3: row("openai", 2e-6, 8e-6),
  "gpt-old": row("openai", 1e-6, 1e-6, { deprecation_date: "2026-05-31" }),
  "gpt-going": row("openai", 1e-6, 2e-6, { deprecation_date: "2026-06-01" }),
  "gpt-a-audio": row("openai", 1e-6, 1e-6),
  "gpt-embedding": row("openai", 1e-6, 0, { mode: "embedding" }),
  "gemini/gemini-b": row("gemini", 3e-7, 2.5e-6),
  "gemini-b": row("gemini", 9e-7, 9e-7),
  "claude-c": row("anthropic", "free", 1e-6),
  "azure/gpt-a": row("azure", 1e-6, 1e-6)
}

describe("the prices that ship", () => {
  it("are of the text models that the providers serve, per million tokens", () => {
    assert.deepStrictEqual(prices(table, source), [
      { model: "gemini-b", input: 0.3, output: 2.5 },
      { model: "gpt-a", input: 0.4, output: 1.6 },
      { model: "gpt-a-2025-01-02", input: 5, output: 1.6 },
      { model: "gpt-going", input: 1, output: 2 },
      { model: "o3", input: 2, output: 8 }
    ])
  })

  it("say which release they are of, and when they were chosen", () => {
    const written = moduleOf(table, source)
    assert.include(written, "Of litellm 1.2.3, chosen on 2026-06-01.")
    assert.include(written, 'date = "2026-06-01"')
  })
})
