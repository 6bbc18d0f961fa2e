import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import { UnknownRepositories } from "../watchlists/watchlists.js";

/** An identifier that passed validation, as a number; 0, which no repository has, for one too large for any. */
export function idNumber(text: string): number {
  return repositoryId(text) ?? 0;
}

/** Reports repositories that do not exist as a fault of the parameter; `texts`: their ids as written in the request. */
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
