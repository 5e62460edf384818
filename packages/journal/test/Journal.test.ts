import { layerMemory } from "../src/sqlite.ts"
import { journalLaws } from "./support/JournalLaws.ts"

journalLaws(layerMemory, 100)
