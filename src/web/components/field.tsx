import type { Child, FC } from "hono/jsx";

export interface FieldProps {
  /** Its name in what the form sends, and its id. */
  name: string;
  label: Child;
  /** What is wrong with what was sent, in words; undefined where nothing is. */
  problem: string | undefined;
  value?: string | undefined;
  type?: "email";
  required?: boolean;
  maxlength?: number;
  autocomplete?: "email" | "off";
  placeholder?: string;
  /** Whether it takes words of machines, in which nothing is to be spelt or capitalised for the writer. */
  isLiteral?: boolean;
}

/** A field of a form: its label above it, and below what is wrong, which is told together with it. */
export const Field: FC<FieldProps> = ({
  name,
  label,
  problem,
  value = "",
  type,
  required = false,
  maxlength,
  autocomplete = "off",
  placeholder,
  isLiteral = false,
}) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input
      id={name}
      type={type}
      name={name}
      required={required}
      maxlength={maxlength}
      autocomplete={autocomplete}
      autocapitalize={isLiteral ? "none" : undefined}
      spellcheck={isLiteral ? false : undefined}
      placeholder={placeholder}
      value={value}
      aria-invalid={problem === undefined ? undefined : "true"}
      aria-describedby={problem === undefined ? undefined : `${name}-problem`}
    />
    {problem === undefined ? null : (
      <p class="wrong" id={`${name}-problem`} role="alert">
        {problem}
      </p>
    )}
  </div>
);
