import { type ReactNode, useId, useState } from "react"

interface PopoverProps {
  readonly label: ReactNode
  /** The name of the button and of the panel. */
  readonly title: string
  readonly className?: string
  readonly children: ReactNode
}

/** A button that opens a panel above the page; its content is made when it opens. Escape or a click elsewhere closes it. */
export const Popover = ({ children, className = "button", label, title }: PopoverProps) => {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={className} popoverTarget={id} aria-label={title} aria-haspopup="dialog">
        {label}
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={title}
        className="popover"
        onToggle={({ newState }) => setOpen(newState === "open")}
      >
        {isOpen && children}
      </div>
    </>
  )
}
