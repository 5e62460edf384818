import { App } from "./App.tsx"
import { mount } from "./Mount.tsx"
import "uplot/dist/uPlot.min.css"

mount(<App />)
