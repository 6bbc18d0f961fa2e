import type { Child, FC } from "hono/jsx";
import { Scroll } from "./scroll.js";

/** The head of a column; `isSpare`: narrow screens leave it out. */
export interface OwnColumn {
  name: string;
  isSpare?: boolean;
}

/** A table of what belongs to an account, such as its keys. The last column, besides `columns`, has the actions of a row. */
export const OwnTable: FC<{ label: string; columns: readonly OwnColumn[]; children: Child }> = ({
  label,
  columns,
  children,
}) => (
  <Scroll label={label}>
    <table class="keys">
      <caption class="hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map(({ name, isSpare }) => (
            <th scope="col" class={isSpare ? "spare" : undefined}>
              {name}
            </th>
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
