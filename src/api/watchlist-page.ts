import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import { UnknownRepositories } from "../watchlists/watchlists.js";

/** A validated id as a number; 0, which no repository has, if it is too large. */
export function idNumber(text: string): number {
  return repositoryId(text) ?? 0;
}

/** Reports unknown repositories as a parameter error; `texts`: their ids as sent. */
export async function namingUnknown<T>(
  parameter: string,
  texts: readonly string[] | undefined,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnknownRepositories)) throw error;
    const values = texts?.filter((_, i) => error.indexes.includes(i));
    throw invalidParameter(parameter, error.message, values === undefined ? {} : { values });
  }
}
