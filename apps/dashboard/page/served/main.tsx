import { mount } from "../Mount.tsx"
import { App } from "./App.tsx"

mount(<App />)
