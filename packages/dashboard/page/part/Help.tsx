import { useEffect, useRef } from "react"

const keys: ReadonlyArray<readonly [key: string, what: string]> = [
  ["1 – 6", "Overview, population, lineage, trajectories, cost, compare"],
  ["0", "All runs"],
  ["j  k", "Next and previous trajectory or instruction"],
  ["[  ]", "Previous and next page of trajectories"],
  ["/", "Search questions"],
  ["t", "Light or dark"],
  ["?", "Keyboard shortcuts"],
  ["Esc", "Close"]
]

/** The keyboard shortcuts. */
export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
      aria-labelledby="help-title"
    >
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
