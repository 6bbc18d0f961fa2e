import type { FC } from "hono/jsx";
import { Field } from "./field.js";

interface AddFieldProps {
  label: string;
  /** What was written last and names no repository. */
  refused: string;
}

/** The field for one more repository of a comparison or an embed. */
export const AddField: FC<AddFieldProps> = ({ label, refused }) => (
  <Field
    id="add"
    name="repo"
    label={label}
    problem={undefined}
    value={refused.slice(0, 500)}
    maxlength={500}
    placeholder="owner/name or URL"
    list="known"
    isLiteral
  />
);
