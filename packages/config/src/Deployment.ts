import { McpServer } from "@inspo/mcp"
import { ModelName, ProposerModel } from "@inspo/reflection"
import { Schema } from "effect"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Variable = Schema.NullOr(Schema.NonEmptyString)

/** Names of environment variables that hold secrets; null for a server without one, or for the provider's default variable. */
export const KeysConfig = Schema.Struct({
  engine: Variable,
  policy: Variable,
  proposer: Variable,
  judge: Variable,
  retrieval: Variable,
  journal: Variable
})

/** Where the journal is stored. */
export const JournalConfig = Schema.Struct({
  url: Schema.NullOr(Schema.NonEmptyString).annotate({
    description:
      "Address of a Postgres database without a password, in which the name of its directory identifies a run; or null for a " +
      "SQLite file in the directory of the run"
  })
})

/** The limits of a run, repeated work included; null is no limit. At a limit it stops with its state saved, and can go on under another. */
export const BudgetConfig = Schema.Struct({
  usd: Schema.NullOr(PositiveNumber).annotate({ description: "US dollars" }),
  rollouts: Schema.NullOr(PositiveInt).annotate({ description: "Rollouts of every kind" }),
  tokens: Schema.NullOr(PositiveInt).annotate({
    description:
      "Prompt and response tokens, of the policy and of the proposer's model; of `policy.model` as it bills them, the conversation again in each turn"
  }),
  minutes: Schema.NullOr(PositiveNumber).annotate({ description: "Minutes of work, summed over resumes" }),
  prices: Schema.Array(ProposerModel.ModelPrice).annotate({
    description:
      "Prices of the policy's, proposer's or judge's model, if it is not in the built-in table or has another price"
  })
})

/** Timeouts and retries of requests to servers, tools and programs. */
export const RequestsConfig = Schema.Struct({
  timeoutSeconds: Schema.NullOr(PositiveNumber).annotate({
    description:
      "Timeout of one request, or null for the defaults: 30 seconds for a retriever, 60 for the judge and for " +
      "`reward.kind: command`, 300 for the proposer and `policy.model`. Tools have at least 300"
  }),
  retries: NonNegativeInt.annotate({
    description: "Retries of a request to a retriever, `policy.model`, proposer or judge after a temporary failure"
  })
})

/** The addresses of language models, which a config has in their names. */
const Addresses = Schema.Struct({
  proposer: Schema.NullOr(Schema.NonEmptyString),
  judge: Schema.NullOr(Schema.NonEmptyString),
  shaping: Schema.optionalKey(Schema.NullOr(Schema.NonEmptyString)),
  credit: Schema.optionalKey(Schema.NullOr(Schema.NonEmptyString))
})

/**
 * Where and how the work of a run is done. It does not affect results: the first event of a run records fingerprints and names
 * of the servers and data behind its addresses. So it can change during a run.
 */
export const Deployment = Schema.Struct({
  data: Schema.Struct({
    questions: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Path of a question file (Search-R1 rows as Parquet or JSONL), or null for the generated world. If its rows name " +
        "no splits, a tenth is held out for validation and a fifth for the test"
    }),
    corpus: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Path of the corpus (JSONL of `{id, contents}`) for `questions`; null if `retrieval.url` " +
        "searches it, or the agent searches nothing"
    })
  }),
  models: Addresses,
  rollout: Schema.Struct({
    mcp: Schema.Array(McpServer).annotate({
      description:
        "Servers of the Model Context Protocol whose tools `rollout.tools` can name, `get_Sum` as `get-sum`: programs that a run " +
        "starts (`command`, and the variables in `env`), or addresses (`url`, and the variable with the key, `apiKeyEnv`)"
    })
  }),
  retrieval: Schema.Struct({
    url: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Address of a server with Search-R1's `/retrieve` API, or null for the embedded index over the passages"
    })
  }),
  requests: RequestsConfig.annotate({ description: "Timeouts and retries of requests to servers, tools and programs" }),
  evaluation: Schema.Struct({
    baseline: Schema.Boolean.annotate({
      description: "Whether the report compares with the seed instruction alone, trained at the same budget"
    })
  }),
  policy: Schema.Struct({
    model: Schema.NullOr(Schema.NonEmptyString).annotate({
      description: `A chat model as a frozen policy, or null for the engine: ${ModelName.forms}`
    })
  }).annotate({ description: "A chat model that answers questions in place of the engine" }),
  engine: Schema.Struct({
    model: Schema.NullOr(Schema.NonEmptyString).annotate({
      description:
        "Folder of an embedded model, or null for the built-in one; with `engine.url` the name of the base model on that " +
        "server, or null for its first"
    }),
    url: Schema.NullOr(Schema.NonEmptyString).annotate({
      description: "Base URL of a server, or null for the embedded engine"
    }),
    profile: Schema.Literals(["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl", "completions"]).annotate({
      description:
        "The kind of server: one with the Tinker protocol, which trains (`auto` detects which); or one with " +
        "`completions` (vLLM, SGLang, llama.cpp), which only samples"
    }),
    tokenizer: Schema.NullOr(Schema.NonEmptyString).annotate({
      description: "Folder with `tokenizer.json` of the model, or its GGUF file; can be null for `inspo engine serve`"
    }),
    concurrency: Schema.NullOr(PositiveInt).annotate({
      description:
        "With `engine.url` the number of concurrent sequences, or null for the limit that the server reports; with " +
        "`policy.model` that of conversations, or null for 8; else worker threads, or null for one per core, at most four. Results do not depend on it"
    })
  }),
  journal: JournalConfig.annotate({ description: "Where the journal is stored" }),
  keys: KeysConfig.annotate({
    description:
      "Names of environment variables with secrets: the keys of `engine`, `policy`, `proposer`, `judge` and `retrieval`, the " +
      "password of `journal`. Null if none is needed; for a language model null is the provider's default variable"
  }),
  budget: BudgetConfig.annotate({
    description: "The limits of a run, including work repeated after a crash; null is no limit"
  })
})
export interface Deployment extends Schema.Schema.Type<typeof Deployment> {}

/** The embedded engine on this machine, the generated world, a file for the journal, and no limits. */
export const local: Deployment = {
  data: { questions: null, corpus: null },
  models: { proposer: null, judge: null },
  rollout: { mcp: [] },
  retrieval: { url: null },
  requests: { timeoutSeconds: null, retries: 4 },
  evaluation: { baseline: true },
  policy: { model: null },
  engine: { model: null, url: null, profile: "auto", tokenizer: null, concurrency: null },
  journal: { url: null },
  keys: { engine: null, policy: null, proposer: null, judge: null, retrieval: null, journal: null },
  budget: { usd: null, rollouts: null, tokens: null, minutes: null, prices: [] }
}
