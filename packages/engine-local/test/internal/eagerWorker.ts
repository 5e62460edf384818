import "./eagerPort.ts"
import "../../src/internal/worker.ts"
