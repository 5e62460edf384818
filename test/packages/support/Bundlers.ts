import { createRequire, isBuiltin } from "node:module"
import { pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import * as esbuild from "esbuild"
import { rollup } from "rollup"
import { build } from "vite"

/** Bundles a program with everything that it imports, minified, as a user does. Returns the code. */
export type Bundler = (entry: string) => Promise<string>

/** The bundlers by their names. */
export const bundlers: Readonly<Record<string, Bundler>> = {
  esbuild: async (entry) => {
    const { outputFiles } = await esbuild.build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      minify: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      external: ["node:*"]
    })
    return outputFiles.map(({ text }) => text).join("")
  },
  rollup: async (entry) => {
    const bundle = await rollup({ input: entry, plugins: [resolving], external: isBuiltin, logLevel: "silent" })
    const { output } = await bundle.generate({ format: "es" })
    await bundle.close()
    // It has no minifier of its own.
    const chunks = output.map(async (one) =>
      "code" in one ? (await esbuild.transform(one.code, { minify: true, format: "esm" })).code : ""
    )
    return (await Promise.all(chunks)).join("")
  },
  Vite: (entry) => vite(entry, { external: isBuiltin, minify: "oxc" })
}

/** The same with only our own packages in it, as it can be read. */
export const bundleOwn: Bundler = (entry) => vite(entry, { external: /^(?!@inspo\/|\.|\/)/u, minify: false })

interface Settings {
  readonly external: RegExp | ((name: string) => boolean)
  readonly minify: "oxc" | false
}

const vite = async (entry: string, { external, minify }: Settings): Promise<string> => {
  const rolldownOptions = {
    input: entry,
    output: { codeSplitting: false },
    preserveEntrySignatures: "strict",
    external
  } as const
  const built = await build({
    logLevel: "silent",
    configFile: false,
    build: { write: false, minify, rolldownOptions }
  })
  return [built]
    .flat()
    .flatMap((one) => ("output" in one ? one.output.map((file) => ("code" in file ? file.code : "")) : []))
    .join("\n")
}

/** The bytes that are sent for a program. */
export const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length

/** Finds packages as Node does; rollup alone finds relative files only. */
const resolving = {
  name: "packages",
  resolveId: (source: string, importer: string | undefined) =>
    importer === undefined || source.startsWith(".") || isBuiltin(source)
      ? null
      : createRequire(pathToFileURL(importer)).resolve(source)
}
