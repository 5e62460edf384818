/** The controls of the pages. */
import type { ComponentProps, ReactNode } from "react"
import { Problem } from "./Parts.tsx"

export const Button = (props: ComponentProps<"button">) => <button type="button" className="button" {...props} />

interface CheckProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly disabled?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export const Check = ({ checked, children, className = "", disabled, onChange }: CheckProps) => (
  <label className={`check inline ${className}`}>
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {children}
  </label>
)

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChange: (value: string) => void
}

export const Choice = ({ name, onChange, options, value }: ChoiceProps) => (
  <Field name={name}>
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </Field>
)

interface FieldProps {
  readonly name: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

export const Field = ({ children, className = "", name }: FieldProps) => (
  <label className={`field ${className}`}>
    <span dir="auto">{name}</span>
    {children}
  </label>
)

interface NumberFieldProps {
  readonly name: string
  readonly value: string
  readonly min: number
  readonly max?: number
  readonly onChange: (value: string) => void
}

/** A field for a whole number as text, empty for none. */
export const NumberField = ({ name, onChange, ...input }: NumberFieldProps) => (
  <Field name={name}>
    <input type="number" {...input} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
  </Field>
)

interface FormProps {
  readonly label: string
  readonly className?: string
  readonly submit: string
  readonly disabled: boolean
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  /** Why the last try failed. */
  readonly problem: string | null
  readonly children: ReactNode
}

/** A form with a button that sends it, one that closes it if it can be closed, and why the last try failed. */
export const Form = ({ children, className = "", disabled, label, onCancel, onSubmit, problem, submit }: FormProps) => (
  <form
    className={`form ${className}`}
    aria-label={label}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    {children}
    <p className="row tight">
      <button type="submit" className="button primary" disabled={disabled}>
        {submit}
      </button>
      {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
    </p>
    {problem !== null && <Problem>{problem}</Problem>}
  </form>
)
