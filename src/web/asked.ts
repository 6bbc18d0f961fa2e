import type { z } from "zod";
import { AppError } from "../errors.js";
import { validationError } from "../validation.js";

/** Something in the address of a page that cannot be asked: where it is, and what is allowed there. */
export interface Problem {
  parameter: string;
  message: string;
}

/** What the address of a page asks for. */
export interface Asked<Query> {
  /** The page's address with the parameters that it knows and that were given a value, each value once. */
  url: URL;
  /** Undefined where something is wrong with them. */
  query: Query | undefined;
  problems: readonly Problem[];
}

/**
 * Reads the parameters of a page by the rules of its list. Forms send their empty fields too, so an empty value is one
 * that was not given, and blanks around a value are not part of it.
 */
export function readAsked<Schema extends z.ZodObject>(schema: Schema, url: URL): Asked<z.output<Schema>> {
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
 * Reads the same for a page that has an answer to any address: what is wrong is told, and left out of the address and of
 * what is asked. Each parameter of the schema may be left out.
 */
export function readUsable<Schema extends z.ZodObject>(
  schema: Schema,
  url: URL,
): Asked<z.output<Schema>> & { query: z.output<Schema> } {
  const asked = readAsked(schema, url);
  if (asked.query !== undefined) return { ...asked, query: asked.query };
  const { problems } = asked;
  for (const { parameter } of problems) asked.url.searchParams.delete(parameter.replace(/\[\d+\]$/, ""));
  const rest = readAsked(schema, asked.url);
  return { ...rest, query: rest.query ?? schema.parse({}), problems };
}

/** What an error says is wrong with an address; throws the error where it is about something else. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof AppError && error.status === 400 && error.details !== undefined) return error.details;
  throw error;
}

/** What is found, or what is wrong with the question. */
export async function answerOrProblems<Found>(
  find: () => Promise<Found>,
): Promise<{ found?: Found; problems: readonly Problem[] }> {
  try {
    return { found: await find(), problems: [] };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}
