import { defineConfig } from "vitepress"
import { plain, slugify } from "../Markdown.ts"
import { sidebar } from "../Sidebar.ts"

export default defineConfig({
  title: "inspo",
  description: "Improves the instruction of an LLM agent from the rewards that the agent earns",
  lang: "en",
  srcDir: ".cache/pages",
  cacheDir: ".cache/vite",
  outDir: "dist",
  ignoreDeadLinks: false,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: { config: plain, anchor: { slugify } },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Tutorial", link: "/docs/tutorial" },
      { text: "Commands", link: "/docs/reference/cli" },
      { text: "Architecture", link: "/ARCHITECTURE" },
      { text: "Changelog", link: "/CHANGELOG" }
    ],
    sidebar: sidebar()
  }
})
