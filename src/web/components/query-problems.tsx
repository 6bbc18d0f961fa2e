import type { FC } from "hono/jsx";
import type { Problem } from "../asked.js";

/** What is wrong with an address, part by part. `fields` are those that the page has an input for, under the same id. */
export const QueryProblems: FC<{ problems: readonly Problem[]; fields?: readonly string[] }> = ({
  problems,
  fields = [],
}) =>
  problems.length === 0 ? null : (
    <div class="note wrong" role="alert">
      <p>
        <strong>This cannot be asked.</strong> Change what is wrong, and ask again:
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
