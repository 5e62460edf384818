import { McpServer } from "@inspo/mcp/McpServer"
import { ModelPrice, ProposerModel } from "@inspo/reflection/ProposerModel"
import { Schema, Struct } from "effect"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Variable = Schema.NullOr(Schema.NonEmptyString)

/** Names of environment variables with what opens a server; null where it needs nothing, or the provider's usual one does. */
export const KeysConfig = Schema.Struct({
  engine: Variable,
  proposer: Variable,
  judge: Variable,
  retrieval: Variable,
  journal: Variable
})

/** Where the journal is kept. */
export const JournalConfig = Schema.Struct({
  url: Schema.NullOr(Schema.NonEmptyString).annotate({
    description:
      "Address of a Postgres database without a password, where a run is known by the name of its directory; or null for a " +
      "SQLite file there"
  })
})

/**
 * The most a run may spend, work that was redone after a crash included; null is no limit. A run that reaches one stops
 * with its state saved, and goes on once the limit is raised.
 */
export const BudgetConfig = Schema.Struct({
  usd: Schema.NullOr(PositiveNumber).annotate({ description: "US dollars" }),
  rollouts: Schema.NullOr(PositiveInt).annotate({ description: "Rollouts of every kind" }),
  tokens: Schema.NullOr(PositiveInt).annotate({
    description: "Prompt and response tokens, of the policy and of the proposer's model"
  }),
  minutes: Schema.NullOr(PositiveNumber).annotate({ description: "Minutes of work, summed over resumes" }),
  prices: Schema.Array(ModelPrice).annotate({
    description: "Prices of the proposer's or judge's model that are not in the table that ships, or replace one of it"
  })
})

/** How patient a run is with servers, tools and programs that are not its own. */
export const RequestsConfig = Schema.Struct({
  timeoutSeconds: Schema.NullOr(PositiveNumber).annotate({
    description:
      "How long one request may take, or null for what suits each: 30 seconds for a retriever, 60 for the judge and for " +
      "`reward.command`, 300 for the proposer. A tool has 300 at the least"
  }),
  retries: NonNegativeInt.annotate({
    description: "Repetitions of a request to a retriever, proposer or judge that failed and may work the next time"
  })
})

/** The address of a language model. */
const Address = Schema.Struct(Struct.pick(ProposerModel.fields, ["url"]))

/**
 * Where and how the work of a run is done. It decides no results: what its addresses lead to is known by fingerprints and names,
 * which the first event of a run holds. So it may change while a run goes on.
 */
export const Deployment = Schema.Struct({
  data: Schema.Struct({
    questions: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Path of a question file (Search-R1 rows as Parquet or JSONL), or null for the generated world. Where its rows name " +
        "no splits, a tenth is held out for validation and a fifth for the test"
    }),
    corpus: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Path of the corpus (JSONL of `{id, contents}`) that goes with `questions`; null where `retrieval.url` " +
        "searches it, or the agent searches nothing"
    })
  }),
  proposer: Address,
  rollout: Schema.Struct({
    mcp: Schema.Array(McpServer).annotate({
      description:
        "Servers of the Model Context Protocol whose tools `rollout.tools` may name, `get_Sum` as `get-sum`: programs that a run " +
        "starts (`command`, and the variables in `env`), or addresses (`url`, and the variable of a key, `apiKeyEnv`)"
    })
  }),
  retrieval: Schema.Struct({
    url: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Address of a server that speaks Search-R1's `/retrieve`, or null for the embedded index over the passages"
    })
  }),
  judge: Address,
  requests: RequestsConfig.annotate({
    description: "How patient a run is with servers, tools and programs that are not its own"
  }),
  evaluation: Schema.Struct({
    baseline: Schema.Boolean.annotate({
      description: "Whether the report compares with the seed instruction alone, trained at the same budget"
    })
  }),
  engine: Schema.Struct({
    model: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Folder of an embedded model, or null for the one that ships; with `engine.url` the name of the base model on that " +
        "server, or null for its first"
    }),
    url: Schema.NullOr(Schema.NonEmptyString).annotate({
      description: "Base URL of a server, or null for the embedded engine"
    }),
    profile: Schema.Literals(["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl", "completions"]).annotate({
      description:
        "Which server it is: one of the Tinker protocol, which trains, and which `auto` asks for what it is; or one of " +
        "`completions` (vLLM, SGLang, llama.cpp), which only samples"
    }),
    tokenizer: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Folder with `tokenizer.json` of that model, or its GGUF file; null is enough for `inspo engine serve`"
    }),
    concurrency: Schema.NullOr(PositiveInt).annotate({
      description:
        "With `engine.url` the sequences in flight at once, or null for what the server says; else worker threads, or null " +
        "for one per core, at most four. Results do not depend on it"
    })
  }),
  journal: JournalConfig.annotate({ description: "Where the journal is kept" }),
  keys: KeysConfig.annotate({
    description:
      "Names of environment variables, by what each opens: a key for `engine`, `proposer`, `judge` and `retrieval`, a " +
      "password for `journal`. Null where none is needed; for a language model it is the provider's usual variable then"
  }),
  budget: BudgetConfig.annotate({
    description: "The most a run may spend, work that was redone after a crash included; null is no limit"
  })
})
export interface Deployment extends Schema.Schema.Type<typeof Deployment> {}

/** The embedded engine on this machine, the generated world, a file for the journal, and no limit. */
export const local: Deployment = {
  data: { questions: null, corpus: null },
  proposer: { url: null },
  rollout: { mcp: [] },
  retrieval: { url: null },
  judge: { url: null },
  requests: { timeoutSeconds: null, retries: 4 },
  evaluation: { baseline: true },
  engine: { model: null, url: null, profile: "auto", tokenizer: null, concurrency: null },
  journal: { url: null },
  keys: { engine: null, proposer: null, judge: null, retrieval: null, journal: null },
  budget: { usd: null, rollouts: null, tokens: null, minutes: null, prices: [] }
}
