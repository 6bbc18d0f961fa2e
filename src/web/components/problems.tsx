import type { FC } from "hono/jsx";
import type { Problem } from "../choices.js";

/** What could not be read of the address; the rest of the page is as if that had not been asked. */
export const Problems: FC<{ problems: readonly Problem[] }> = ({ problems }) =>
  problems.length === 0 ? null : (
    <div class="note wrong" role="alert">
      <p>
        <strong>Part of the address could not be read.</strong> It was left out.
      </p>
      <ul>
        {problems.map(({ parameter, message }) => (
          <li>
            <code>{parameter}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  );
