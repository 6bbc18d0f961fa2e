/** What of a page's address could not be read: which part, and what is allowed there. */
export interface Problem {
  parameter: string;
  message: string;
}

/** Reads the parameters of a page that have few values. What is wrong is told, and taken for what it is without being given. */
export class Choices {
  readonly problems: Problem[] = [];
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** The one that is chosen; `usual` where none is, or where it is not to be had. */
  one<T extends string>(parameter: string, allowed: readonly T[], usual: T): T {
    const given = this.#query.getAll(parameter);
    if (given.length > 1) this.problems.push({ parameter, message: "may be given only once" });
    const [first] = given;
    if (first === undefined || first === "") return usual;
    const chosen = allowed.find((value) => value === first);
    if (chosen === undefined)
      this.problems.push({ parameter, message: `must be one of ${allowed.join(", ")}` });
    return chosen ?? usual;
  }
}
