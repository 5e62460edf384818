import { Choice } from "@inspo/domain"
import { Schema, SchemaGetter } from "effect"
import { learners } from "./Learners.ts"
import { forms } from "./ModelName.ts"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** What a model costs, in US dollars per million tokens. */
export const ModelPrice = Schema.Struct({
  model: Schema.NonEmptyString.annotate({ description: "Name of the model" }),
  input: NonNegative.annotate({ description: "US dollars per million tokens of prompts" }),
  output: NonNegative.annotate({ description: "US dollars per million tokens of answers" })
})
export interface ModelPrice extends Schema.Schema.Type<typeof ModelPrice> {}

/** The rules that write candidates without a language model. */
export const offline = "offline"

/** Most tokens of an answer by default: the thoughts of a reasoning model count too. */
const maxOutputTokens = 16_384

const Fields = Schema.Struct({ name: Schema.NonEmptyString, maxOutputTokens: PositiveInt })
export interface ProposerModel extends Schema.Schema.Type<typeof Fields> {}

/** What writes candidates: a language model by its name, or {@link offline}. It is encoded as its name alone, if that says all. */
export const ProposerModel = Object.assign(
  Schema.Union([
    Schema.NonEmptyString,
    Fields.mapFields(({ name, maxOutputTokens }) => ({ name, maxOutputTokens: Schema.optionalKey(maxOutputTokens) }))
  ])
    .annotate({
      description:
        `What writes candidates: rules without a server (\`offline\`), or a language model: ${forms}. As \`{name, maxOutputTokens}\` ` +
        "with the most tokens of an answer, thoughts included, 16384 by default"
    })
    .pipe(
      Schema.decodeTo(Fields, {
        decode: SchemaGetter.transform((given) =>
          typeof given === "string" ? named(given) : { ...named(given.name), ...given }
        ),
        encode: SchemaGetter.transform((model) => (model.maxOutputTokens === maxOutputTokens ? model.name : model))
      })
    ),
  // A choice whose names are free.
  { methods: [] }
)
/** A model by its name, with defaults. */
export const named = (name: string): ProposerModel => ({ name, maxOutputTokens })

const withPrompt = { defaults: { prompt: null }, parameters: { prompt: Schema.NullOr(Schema.NonEmptyString) } } as const

/** What a model sees when it writes candidates, each with a prompt of its own. */
export const kinds = [
  { name: "reflection", ...withPrompt },
  { name: "history", ...withPrompt },
  { name: "paraphrase", ...withPrompt },
  { name: "random", defaults: {} },
  ...learners
] as const

/** A proposer that learns, with the constants as published. */
export const learning = Schema.decodeSync(Choice.of(learners, "A proposer that learns"))

/** The setting that names one of {@link kinds}. */
export const ProposerKind = Choice.of(
  kinds,
  "What the proposer's model sees: the parent and its failures (`reflection`), the scores of earlier instructions (`history`), " +
    "the parent alone (`paraphrase`), or nothing at all (`random`, always drawn from the offline clause bank). `evolving` and `lessons` see " +
    "what `reflection` sees, and learn from what their proposals bring. The first three take a `prompt`: a file with your own prompt, or null for the built-in one; see `PromptTemplate` for the placeholders"
)
