import { Schema } from "effect"

/** What the reader of an index has to know: where its parts are in the storage. */
export const Layout = Schema.Struct({
  passages: Schema.Int,
  /** The mean number of words of a passage. */
  mean: Schema.Finite,
  /** Where the numbers of words of the passages are, as 32-bit numbers. */
  lengths: Schema.Int,
  pages: Schema.Array(Schema.Tuple([Schema.String, Schema.Int, Schema.Int]))
})
export interface Layout extends Schema.Schema.Type<typeof Layout> {}
