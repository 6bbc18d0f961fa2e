import type { ComponentChildren as Child, FunctionComponent as FC, VNode } from "preact";
import { Link, Scroll } from "./elements.js";

/** The head of a column that the table is or can be sorted by. */
export interface Sorting {
  /** Where its link leads, if it has one. */
  href?: string | undefined;
  sorted: "ascending" | "descending" | undefined;
}

/** A column of a table. */
export interface Column<Row> {
  head: Child;
  cell: (row: Row, index: number) => Child;
  /** Whether it names the rows; the first column does unless another one says so. */
  isName?: boolean;
  isNumber?: boolean;
  /** Whether only screen readers get the head. */
  isHeadHidden?: boolean;
  /** The class of its cells besides. */
  class?: string | undefined;
  sorting?: Sorting | undefined;
}

/** The column of what can be done with a row. */
export const ACTIONS = { head: "Actions", isHeadHidden: true, class: "actions" } as const;

interface Group<Row> {
  /** A line above its rows. */
  head?: Child;
  rows: readonly Row[];
}

interface TableProps<Row> {
  /** Its accessible name, and its caption for screen readers unless `caption` is given. */
  label: string;
  caption?: Child;
  class?: string;
  /** Entries that are false are left out. */
  columns: readonly (Column<Row> | false)[];
  /** The rows, or groups of them. */
  rows: readonly Row[] | { groups: readonly Group<Row>[] };
  /** The class of a row. */
  rowClass?: (row: Row, index: number) => string | undefined;
}

/**
 * A table. It scrolls on narrow screens, by keyboard too, unless its class has another layout for them: a `list`. With the class
 * `stacked` the cells of a row are below each other on a phone, each with its head.
 */
export function Table<Row>({ label, caption, columns, rows, rowClass, ...props }: TableProps<Row>): VNode {
  const shown = columns.filter((column) => column !== false);
  const name = shown.find(({ isName }) => isName) ?? shown[0];
  const isStacked = props.class?.includes("stacked") ?? false;
  const groups = "groups" in rows ? rows.groups : [{ rows }];
  const table = (
    <table class={props.class}>
      <caption class={caption === undefined ? "hidden" : "small"}>{caption ?? label}</caption>
      <thead>
        <tr>
          {shown.map((column) => (
            <Head {...column} />
          ))}
        </tr>
      </thead>
      {groups.map((group: Group<Row>) => (
        <tbody>
          {group.head === undefined ? null : (
            <tr class="group">
              <th scope="rowgroup" colspan={shown.length}>
                {group.head}
              </th>
            </tr>
          )}
          {group.rows.map((row, index) => (
            <tr class={rowClass?.(row, index)}>
              {shown.map((column) =>
                column === name ? (
                  <th scope="row" class={classOf(column)}>
                    {column.cell(row, index)}
                  </th>
                ) : (
                  <td
                    class={classOf(column)}
                    data-label={isStacked && column.isHeadHidden !== true ? `${column.head}` : undefined}
                  >
                    {column.cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
  return props.class?.startsWith("list") ? table : <Scroll label={label}>{table}</Scroll>;
}

type HeadProps = Omit<Column<never>, "cell" | "isName">;

function classOf({ isNumber = false, ...column }: HeadProps): string | undefined {
  if (!isNumber) return column.class;
  return column.class === undefined ? "number" : `number ${column.class}`;
}

const Head: FC<HeadProps> = (column) => {
  const { head, isHeadHidden = false, sorting } = column;
  const shown = isHeadHidden ? <span class="hidden">{head}</span> : head;
  return (
    <th scope="col" class={classOf(column)} aria-sort={sorting?.sorted}>
      {sorting?.href === undefined ? shown : <Link href={sorting.href}>{shown}</Link>}
      {sorting?.sorted === undefined ? null : (
        <span class="sorted" aria-hidden="true">
          {sorting.sorted === "ascending" ? "▲" : "▼"}
        </span>
      )}
    </th>
  );
};
