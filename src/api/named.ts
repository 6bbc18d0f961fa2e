import { freshnessOf, type ListQuery, measuredAt } from "../discovery/discovery.js";
import { ageInDays } from "../lib/clock.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { providerName, repositoryId, splitFullName } from "../repositories/repositories.js";
import type { ApiServices } from "./operation.js";

/** Repositories that a request names one by one. */

/** Maximum number of repositories in one request. */
export const MAX_REFERENCES = 100;

/** Length of `provider:owner/name`. */
const MAX_LENGTH = 440;

/** A repository by id, or by full name: of one provider, or of each that has one of this name. */
type Reference = { id: number } | { provider: string | undefined; fullName: string };

interface Kind {
  rule: string;
  parse: (text: string) => Reference | undefined;
  schema: { type: "string"; pattern: string; maxLength?: number; example: string };
}

const ID_PATTERN = "[1-9][0-9]{0,18}";
const NAME_PATTERN = "([^:/]+:)?.+/[^/]+";

const ID: Kind = {
  rule: "ids of 1 to 19 digits without a leading 0",
  parse: (text) => {
    const id = repositoryId(text);
    return id === undefined ? undefined : { id };
  },
  schema: { type: "string", pattern: `^${ID_PATTERN}$`, example: "42" },
};

const FULL_NAME: Kind = {
  rule: "of the form owner/name or provider:owner/name",
  parse: (text) => {
    const [first = "", ...rest] = text.split(":");
    const provider = rest.length === 0 ? undefined : providerName(first);
    const fullName = provider === undefined ? text : rest.join(":");
    return splitFullName(fullName) === undefined ? undefined : { provider, fullName };
  },
  schema: { type: "string", pattern: `^${NAME_PATTERN}$`, maxLength: MAX_LENGTH, example: "facebook/react" },
};

const ANY: Kind = {
  rule: "ids, or names of the form owner/name or provider:owner/name",
  parse: (text) => ID.parse(text) ?? FULL_NAME.parse(text),
  schema: { ...FULL_NAME.schema, pattern: `^(${ID_PATTERN}|${NAME_PATTERN})$` },
};

/** A reference as sent, and its meaning. */
interface SentReference {
  text: string;
  reference: Reference;
}

function referencesParameter({ rule, schema }: Kind, description: string) {
  const text = z.string().max(MAX_LENGTH);
  return z
    .union([text.transform((one) => [one]), z.array(text).max(MAX_REFERENCES)], {
      error: `must be ${rule}, 1 to ${MAX_REFERENCES} times`,
    })
    .openapi({
      type: "array",
      maxItems: MAX_REFERENCES,
      items: schema,
      description,
      example: [schema.example],
    });
}

/** The parameters `id` and `fullName` of a list. */
export const namedParameters = {
  id: referencesParameter(ID, "Only these repositories; see fullName.").optional(),
  fullName: referencesParameter(
    FULL_NAME,
    "Only these repositories, after those of id: owner/name, or provider:owner/name; with id at most 100 values. Not with filters, sort or pages.",
  ).optional(),
};

/** The parameter `repo` of several series. */
export const repositoriesParameter = referencesParameter(
  ANY,
  "An id, owner/name of any provider, or provider:owner/name; up to 100 times.",
);

/** Full names of repositories in a body. */
export const fullNamesField = z
  .array(z.string().max(MAX_LENGTH).openapi(FULL_NAME.schema))
  .max(MAX_REFERENCES, `must be at most ${MAX_REFERENCES}`)
  .openapi({
    description:
      "owner/name of each provider that has it, or provider:owner/name; previous names work too. Duplicates count once.",
  });

const KINDS = { id: ID, fullName: FULL_NAME, fullNames: FULL_NAME, repo: ANY } as const;

type Sent = { readonly [P in keyof typeof KINDS]?: readonly string[] | undefined };

/** The references of a request, by parameter. Throws VALIDATION_FAILED for more than 100, and for those that have no meaning. */
export function readReferences(sent: Sent): SentReference[] {
  const references = (["id", "fullName", "fullNames", "repo"] as const).flatMap((parameter) => {
    const { rule, parse } = KINDS[parameter];
    const texts = sent[parameter] ?? [];
    const wrong = texts.filter((text) => parse(text) === undefined);
    if (wrong.length > 0) throw invalidParameter(parameter, `must be ${rule}`, { values: wrong });
    return texts.flatMap((text) => {
      const reference = parse(text);
      return reference === undefined ? [] : [{ text, reference }];
    });
  });
  if (references.length > MAX_REFERENCES)
    throw invalidParameter("fullName", `id and fullName may have at most ${MAX_REFERENCES} values together`);
  return references;
}

/** The ids that references lead to. */
interface FoundReferences {
  /** In the order of the references, each once. Those given as ids need not exist. */
  ids: number[];
  each: readonly (readonly number[])[];
  /** The earlier full names by which repositories were requested, by id. */
  renamedFrom: ReadonlyMap<number, string>;
}

/**
 * Finds the repositories. A full name without a provider leads to one of each provider that has it, `provider` being the only one
 * where it is given. A previous name, and the id of a repository that was joined to another one, lead to the present repository. Throws
 * VALIDATION_FAILED if that makes more than 100. Costs two statements for all names, and one each for ids and to read which providers there are.
 */
export async function findReferenced(
  { catalog, rankings }: Pick<Modules, "catalog" | "rankings">,
  references: readonly SentReference[],
  provider?: string,
): Promise<FoundReferences> {
  const isOpen = references.some(
    ({ reference }) => "fullName" in reference && reference.provider === undefined && provider === undefined,
  );
  const providers = isOpen
    ? (await rankings.counters()).providers.map((one) => one.provider)
    : provider === undefined
      ? []
      : [provider];
  const names = references.flatMap(({ reference }) => {
    if (!("fullName" in reference)) return [];
    const { fullName } = reference;
    const among = reference.provider === undefined ? providers : [reference.provider];
    return among.map((one) => ({ provider: one, fullName }));
  });
  const given = references.flatMap(({ reference }) => ("id" in reference ? reference.id : []));
  const [found, joined] = await Promise.all([catalog.findByNames(names), catalog.renamedTo(given)]);
  const renamedFrom = new Map([...joined.values()].map(({ id, renamedFrom }) => [id, renamedFrom]));
  for (const [i, one] of found.entries())
    if (one?.isPreviousName === true) renamedFrom.set(one.id, names[i]?.fullName ?? "");
  let next = 0;
  const each = references.map(({ reference }) => {
    if ("id" in reference) return [joined.get(reference.id)?.id ?? reference.id];
    const among = reference.provider === undefined ? providers.length : 1;
    next += among;
    return found.slice(next - among, next).flatMap((one) => one?.id ?? []);
  });
  const ids = [...new Set(each.flat())];
  if (ids.length > MAX_REFERENCES)
    throw new AppError(
      "VALIDATION_FAILED",
      `These names lead to ${ids.length} repositories, more than ${MAX_REFERENCES}: write provider:owner/name.`,
    );
  return { ids, each, renamedFrom };
}

/** The references that lead to none of these repositories, as sent. */
export function missingReferences(
  references: readonly SentReference[],
  { each }: FoundReferences,
  known: ReadonlySet<number>,
): SentReference[] {
  return references.filter((_, i) => !each[i]?.some((id) => known.has(id)));
}

/** References as sent, each once. */
export function textsOf(references: readonly SentReference[]): string[] {
  return [...new Set(references.map(({ text }) => text))];
}

/** Parameters that repositories by id and name go with. */
const ALLOWED = ["id", "fullName", "provider", "window", "format"];

interface NamedQuery extends Pick<ListQuery, "window" | "provider"> {
  id?: string[] | undefined;
  fullName?: string[] | undefined;
}

/**
 * The repositories with the requested ids and full names, as a page of a list: those that exist, in the requested order, whatever
 * their availability. `given`: the names of all parameters. Costs a statement for their rows, one for the ids, and up to two for the names.
 */
export async function namedPage(
  { modules, clock }: Pick<ApiServices, "modules" | "clock">,
  { window, provider, ...sent }: NamedQuery,
  given: readonly string[],
) {
  const other = given.find((name) => !ALLOWED.includes(name));
  if (other !== undefined) throw invalidParameter(other, "cannot be given together with id or fullName");
  if (provider !== undefined && sent.fullName === undefined)
    throw invalidParameter("provider", "cannot be given with ids alone, as an id needs no provider");
  const references = readReferences(sent);
  const found = await findReferenced(modules, references, provider);
  const present = await modules.lists.rows(found.ids, window);
  const rows = present.map((row) => ({ ...row, renamedFrom: found.renamedFrom.get(row.repository.id) }));
  const missing = missingReferences(references, found, new Set(rows.map(({ repository }) => repository.id)));
  const freshness = freshnessOf(rows.map(measuredAt));
  return {
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
}
