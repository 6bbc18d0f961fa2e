import type { Child, FC } from "hono/jsx";
import { Scroll } from "./scroll.js";

/**
 * A table of what belongs to an account, such as its keys. The last column, besides `columns`, has the actions of a row. On a phone
 * the cells of a row are below each other, each with its `data-label`.
 */
export const OwnTable: FC<{ label: string; columns: readonly string[]; children: Child }> = ({
  label,
  columns,
  children,
}) => (
  <Scroll label={label}>
    <table class="keys stacked">
      <caption class="hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map((name) => (
            <th scope="col">{name}</th>
          ))}
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroll>
);
