import { App } from "./App.tsx"
import { mount } from "./Mount.tsx"

mount(<App />)
