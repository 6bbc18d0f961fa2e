import { freshnessOf, type ListQuery, measuredAt } from "../discovery/discovery.js";
import type { HttpRequest, Reply } from "../http/http.js";
import { ageInDays } from "../lib/clock.js";
import { invalidParameter } from "../lib/errors.js";
import type { ApiServices } from "./operation.js";
import { findReferenced, MAX_REFERENCES, missingReferences, readReferences, textsOf } from "./references.js";
import { repositoryPage } from "./repository-list.js";

/** Parameters that repositories by id and name go with. */
const ALLOWED = ["id", "fullName", "provider", "window", "format"];

interface NamedRequest {
  services: ApiServices;
  http: HttpRequest;
  query: Pick<ListQuery, "window" | "provider"> & {
    id?: string[] | undefined;
    fullName?: string[] | undefined;
    format: "json" | "csv";
  };
  /** Name of the CSV file. */
  file: string;
}

/**
 * The repositories with the requested ids and full names, as a page of a list: those that exist, in the requested order, whatever
 * their availability. Costs a statement for their rows, one for the ids, and up to two for the names.
 */
export async function namedRepositories({ services, http, query, file }: NamedRequest): Promise<Reply> {
  const { modules, clock, config } = services;
  const { window, provider, format } = query;
  const other = [...http.query.keys()].find((name) => !ALLOWED.includes(name));
  if (other !== undefined) throw invalidParameter(other, "cannot be given together with id or fullName");
  if (provider !== undefined && query.fullName === undefined)
    throw invalidParameter("provider", "cannot be given with ids alone, as an id needs no provider");
  const references = readReferences(query);
  const found = await findReferenced(modules, references, provider);
  const present = await modules.lists.rows(found.ids, window);
  const rows = present.map((row) => ({ ...row, renamedFrom: found.renamedFrom.get(row.repository.id) }));
  const missing = missingReferences(references, found, new Set(rows.map(({ repository }) => repository.id)));
  const freshness = freshnessOf(rows.map(measuredAt));
  const page = {
    rows,
    total: rows.length,
    totalIsExact: true,
    hasMore: false,
    nextCursor: null,
    page: 1,
    sort: "requested" as const,
    ...freshness,
    ageDays: ageInDays(freshness.asOf, clock.now()),
    corrected: null,
    requested: references.length,
    missing: {
      ids: textsOf(missing.filter(({ reference }) => "id" in reference)),
      fullNames: textsOf(missing.filter(({ reference }) => "fullName" in reference)),
    },
  };
  const { baseUrl } = config;
  return repositoryPage(page, {
    http,
    baseUrl,
    query: { limit: MAX_REFERENCES, window, format },
    now: clock.now(),
    file,
  });
}
