import type { FunctionComponent as FC } from "preact";
import type { z } from "zod";
import { AppError } from "../lib/errors.js";
import { validationError } from "../lib/validation.js";

/** The parameters of pages: read, and reported if they are invalid. */

/** An invalid parameter of a page. */
export interface Problem {
  parameter: string;
  message: string;
}

/** The parameters of a page. */
export interface PageQuery<Query> {
  /** The page's address with known, non-empty parameters only, each value once. */
  url: URL;
  /** Undefined if a parameter is invalid. */
  query: Query | undefined;
  problems: readonly Problem[];
}

/** Reads the parameters of a page. Forms send empty fields too, so an empty value counts as absent; values are trimmed. */
export function readQuery<Schema extends z.ZodObject>(schema: Schema, url: URL): PageQuery<z.output<Schema>> {
  const given: Record<string, string[]> = {};
  for (const name of Object.keys(schema.shape)) {
    const values = url.searchParams.getAll(name).map((value) => value.trim());
    const own = [...new Set(values)].filter((value) => value !== "");
    if (own.length > 0) given[name] = own;
  }
  const pairs = Object.entries(given).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const tidy = new URL(url);
  tidy.search = new URLSearchParams(pairs).toString();
  const result = schema.safeParse(
    Object.fromEntries(
      Object.entries(given).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
    ),
  );
  if (result.success) return { url: tidy, query: result.data, problems: [] };
  return { url: tidy, query: undefined, problems: problemsOf(validationError(result.error, "query", given)) };
}

/**
 * Reads the parameters of a page that is shown whatever they are: invalid ones are reported, and dropped from the address
 * and the query. Every parameter of the schema must be optional.
 */
export function readUsableQuery<Schema extends z.ZodObject>(
  schema: Schema,
  url: URL,
): PageQuery<z.output<Schema>> & { query: z.output<Schema> } {
  const first = readQuery(schema, url);
  if (first.query !== undefined) return { ...first, query: first.query };
  const { problems } = first;
  for (const { parameter } of problems) first.url.searchParams.delete(parameter.replace(/\[\d+\]$/, ""));
  const rest = readQuery(schema, first.url);
  return { ...rest, query: rest.query ?? schema.parse({}), problems };
}

/** The invalid parameters that an error reports; rethrows any other error. */
function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof AppError && error.status === 400 && error.details !== undefined) return error.details;
  throw error;
}

/** The result of a read, or the parameters it rejects. */
export async function resultOrProblems<Found>(
  find: () => Promise<Found>,
): Promise<{ found?: Found; problems: readonly Problem[] }> {
  try {
    return { found: await find(), problems: [] };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}

interface ProblemsProps {
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
          <strong>Part of this link was ignored:</strong>
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
