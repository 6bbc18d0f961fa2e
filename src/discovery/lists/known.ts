/**
 * What the catalogue says about a list besides its rows: how it spells the names in the filters, which of them it lacks, and where
 * a repository continues that was searched for. Totals and spellings are remembered while the catalogue stays the same.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Database } from "../../database/database.js";
import { nearestName } from "../../lib/nearest-name.js";
import { type Catalog, type RenamedRepository, splitFullName } from "../../repositories/repositories.js";
import type { FacetKind } from "../facets/read.js";
import type { Summary } from "../home/summary.js";
import type { Rankings } from "../rankings.js";
import { parseQuery } from "../search/words.js";
import { type Filters, foldedLicense, type ListSpec, type SpelledFilters } from "./spec.js";

/** What is known about a list at one revision of the catalogue. */
export interface KnownList {
  /** Number of matches; EXACT_TOTAL + 1 if there are more. */
  total?: number;
  /** The languages of the filter as the catalogue spells them. */
  languages?: readonly string[];
  /** What is known about the whole catalogue, shared by all lists. */
  catalogue: { summary?: Summary; licenses?: readonly string[] };
}

/** Number of lists remembered. */
const CAPACITY = 1_000;

/**
 * Remembers lists while the catalogue's revision stays the same: otherwise most of the time of a page would go into counting what
 * an earlier page has counted. Evicts the least recently used list.
 */
export class ListMemory {
  #revision = -1;
  #catalogue: KnownList["catalogue"] = {};
  readonly #lists = new LRUCache<string, KnownList>({ max: CAPACITY });

  /** A list, for the caller to add to. `revision` must have been read before the list is. */
  of(revision: number, key: string): KnownList {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#catalogue = {};
      this.#lists.clear();
    }
    // A request that started before the revision grew may find outdated values; they are not kept.
    if (revision < this.#revision) return { catalogue: {} };
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const added = { catalogue: this.#catalogue };
    this.#lists.set(key, added);
    return added;
  }
}

/** The list with its languages and license as the catalogue spells them, which is how the database indexes them. */
export async function spell(
  { rankings, database }: { rankings: Rankings; database: Database },
  spec: ListSpec,
  known: KnownList,
): Promise<ListSpec> {
  const { languages, license } = spec.filters;
  if (languages === undefined && license === undefined) return spec;
  const filters: SpelledFilters = { ...spec.filters };
  if (languages !== undefined) {
    known.languages ??= await rankings.languageNames(languages);
    filters.languages = known.languages;
  }
  if (license !== undefined) filters.licenses = spellingsOf(license, await licenseNames(database, known));
  return { ...spec, filters };
}

/** The names of licenses in the catalogue, read once a revision. */
export async function licenseNames(database: Database, { catalogue }: KnownList): Promise<readonly string[]> {
  catalogue.licenses ??= await readLicenseNames(database);
  return catalogue.licenses;
}

/** Maximum number of licenses read; a catalogue has a few hundred. */
const MAX_LICENSES = 1_000;

/**
 * The licenses of available repositories as the catalogue spells them, by name. Costs one step in an index for each name, at most
 * 1,000, whatever the size of the catalogue.
 */
async function readLicenseNames({ read }: Pick<Database, "read">): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`with recursive names(name) as (
      select (select min(license) from repositories where availability = 'AVAILABLE')
      union all
      select (select license from repositories where availability = 'AVAILABLE' and license > names.name
        order by license limit 1)
      from names where names.name is not null)
    select name from names where name is not null limit ${MAX_LICENSES}`.execute(read);
  return rows.map(({ name }) => name);
}

/** The spellings of a license among these names; the license itself without any. */
function spellingsOf(license: string, names: readonly string[]): string[] {
  const found = names.filter((name) => foldedLicense(name) === foldedLicense(license));
  return found.length === 0 ? [license] : found;
}

/** A value of a filter that nothing in the catalogue has. */
export interface UnmatchedValue {
  parameter: "provider" | "language" | "topic" | "license";
  /** As filters compare it: languages and topics in lower case, providers in capitals. */
  value: string;
  /** The name in the catalogue that was probably meant. */
  nearest: string | null;
  message: string;
}

/** The names in the catalogue. */
interface Names {
  rankings: Pick<Rankings, "facets" | "facetNames">;
  summary: Summary;
  licenses: () => Promise<readonly string[]>;
}

/** The nearest name is looked for among this many languages and topics, the most frequent ones. */
const COMPARED = 500;
/** It is looked for only for values of at most this many characters … */
const MAX_LENGTH = 40;
/** … and for this many of them, as each is compared with hundreds. */
const MAX_COMPARED = 3;

/**
 * The values of filters that no available repository has, for a list that is empty. Costs at most three statements for languages,
 * as many for topics, and one for licenses, and compares at most three values with names.
 */
export async function unmatchedValues(filters: Filters, names: Names): Promise<UnmatchedValue[]> {
  const { provider, languages = [], topics = [], license } = filters;
  const all: UnmatchedValue[] = [];
  const add = (parameter: UnmatchedValue["parameter"], value: string, known: readonly string[]) => {
    const isCompared = all.length < MAX_COMPARED && value.length <= MAX_LENGTH;
    const nearest = isCompared ? (nearestName(value, known) ?? null) : null;
    all.push({ parameter, value, nearest, message: messageOf(parameter, value) });
  };
  const providers = names.summary.providers.map((one) => one.provider);
  if (provider !== undefined && !providers.includes(provider)) add("provider", provider, providers);
  for (const [kind, values] of [
    ["language", languages],
    ["topic", topics],
  ] as const) {
    if (values.length === 0) continue;
    const spelled = await names.rankings.facetNames(kind, values);
    const unknown = values.filter((_, i) => spelled[i]?.length === 0);
    if (unknown.length === 0) continue;
    const known = all.length < MAX_COMPARED ? await frequent(names.rankings, kind) : [];
    for (const value of unknown) add(kind, value, known);
  }
  if (license !== undefined) {
    const licenses = await names.licenses();
    if (!licenses.some((name) => foldedLicense(name) === foldedLicense(license)))
      add("license", license, licenses);
  }
  return all;
}

async function frequent(rankings: Names["rankings"], kind: FacetKind): Promise<string[]> {
  const { facets } = await rankings.facets({
    kind,
    window: "24h",
    sort: "repository-count",
    limit: COMPARED,
    offset: 0,
  });
  return facets.map(({ name }) => name);
}

function messageOf(parameter: UnmatchedValue["parameter"], value: string): string {
  const isRepeatable = parameter === "language" || parameter === "topic";
  if (isRepeatable && value.includes(","))
    return `Commas do not separate values. Repeat the parameter: ${parameter}=…&${parameter}=….`;
  return `No repository here has this ${parameter}.`;
}

/** A previous name that was searched for, and the repository that had it. */
export interface RenamedName {
  fullName: string;
  to: RenamedRepository;
}

/** Maximum number of providers in which a name is looked up. */
const MOST_PROVIDERS = 5;

/**
 * Where a full name continues that was searched for, as a renamed repository is in no list. Undefined for other texts. Costs one or
 * two statements per provider.
 */
export async function findRenamed(
  catalog: Catalog,
  { scope, filters }: Pick<ListSpec, "scope" | "filters">,
  providers: readonly string[],
): Promise<RenamedName | undefined> {
  const fullName = scope.kind === "search" ? parseQuery(scope.text)?.fullName : undefined;
  if (fullName === undefined || splitFullName(fullName) === undefined) return undefined;
  const searched = filters.provider === undefined ? providers.slice(0, MOST_PROVIDERS) : [filters.provider];
  for (const provider of searched) {
    const found = await catalog.findByName(provider, fullName);
    if (found === undefined) continue;
    if (!found.isPreviousName) return undefined;
    const { id, fullName: present } = found.repository;
    return { fullName, to: { id, provider, fullName: present } };
  }
  return undefined;
}
