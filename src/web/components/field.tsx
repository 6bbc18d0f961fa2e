import type { Child, FC } from "hono/jsx";

export interface FieldProps {
  /** Its name in the form, and its id unless another one is given. */
  name: string;
  id?: string;
  label: Child;
  /** Why the submitted value is invalid; undefined if it is not. */
  problem: string | undefined;
  value?: string | undefined;
  /** `password`: hidden while it is typed, and never filled in by us. */
  type?: "email" | "password";
  required?: boolean;
  maxlength?: number;
  autocomplete?: "email" | "one-time-code" | "off";
  /** The keyboard that phones show. */
  inputmode?: "numeric";
  placeholder?: string;
  /** Turns off spell checking and capitalisation, for identifiers. */
  isLiteral?: boolean;
  /** Id of a list of suggestions, which a script fills. */
  list?: string;
}

/** The field of an email address. */
export const EmailField: FC<Pick<FieldProps, "problem" | "value">> = (props) => (
  <Field
    {...props}
    name="email"
    label="Email address"
    type="email"
    required
    maxlength={254}
    autocomplete="email"
  />
);

/** A field of a form with its label above and its problem below, which screen readers announce with it. */
export const Field: FC<FieldProps> = ({
  name,
  id = name,
  label,
  problem,
  value = "",
  type,
  required = false,
  maxlength,
  autocomplete = "off",
  inputmode,
  placeholder,
  isLiteral = false,
  list,
}) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type={type}
      name={name}
      required={required}
      maxlength={maxlength}
      autocomplete={autocomplete}
      inputmode={inputmode}
      autocapitalize={isLiteral ? "none" : undefined}
      spellcheck={isLiteral ? false : undefined}
      placeholder={placeholder}
      list={list}
      value={value}
      aria-invalid={problem === undefined ? undefined : "true"}
      aria-describedby={problem === undefined ? undefined : `${id}-problem`}
    />
    {list === undefined ? null : <datalist id={list} />}
    {problem === undefined ? null : (
      <p class="wrong" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    )}
  </div>
);
