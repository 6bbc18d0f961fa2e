import type { FC } from "hono/jsx";
import type { Problem } from "../page-query.js";

export interface ProblemsProps {
  problems: readonly Problem[];
  /** The parameters that the page has an input for, under the same id. */
  fields?: readonly string[];
  /** Whether the page ignores the invalid parameters. */
  isLeftOut?: boolean;
}

/** The invalid parameters of a page. */
export const Problems: FC<ProblemsProps> = ({ problems, fields = [], isLeftOut = false }) =>
  problems.length === 0 ? null : (
    <div class="note wrong" role="alert">
      <p>
        {isLeftOut ? (
          <>
            <strong>Some parameters are not valid</strong> and were ignored:
          </>
        ) : (
          <>
            <strong>Some filters are not valid.</strong> Fix them and try again:
          </>
        )}
      </p>
      <ul>
        {problems.map(({ parameter, message }) => (
          <li>
            {fields.includes(parameter) ? (
              <a href={`#${parameter}`}>{parameter}</a>
            ) : (
              <code>{parameter}</code>
            )}{" "}
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
