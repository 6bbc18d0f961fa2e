/**
 * Explains a list without rows: filter values that no repository has, and names under which renamed repositories continue.
 */
import { nearestName } from "../lib/nearest-name.js";
import { type Catalog, type RenamedRepository, splitFullName } from "../repositories/repositories.js";
import type { FacetKind } from "./facets.js";
import { type Filters, foldedLicense } from "./filters.js";
import type { LoadedModel } from "./live.js";
import type { ListSpec } from "./query.js";
import { parseQuery } from "./words.js";

/** A value of a filter that nothing in the catalogue has. */
export interface UnmatchedValue {
  parameter: "provider" | "language" | "topic" | "license";
  /** As filters compare it: languages and topics in lower case, providers in capitals. */
  value: string;
  /** The name in the catalogue that was probably meant. */
  nearest: string | null;
  message: string;
}

/** The nearest name is looked for among this many languages and topics, the most frequent ones. */
const COMPARED = 500;
/** It is looked for only for values of at most this many characters … */
const MAX_LENGTH = 40;
/** … and for this many of them, as each is compared with hundreds. */
const MAX_COMPARED = 3;

/** The values of filters that no available repository has, for a list that is empty. Compares at most three values with names. */
export async function unmatchedValues(
  { provider, language = [], topic = [], license }: Filters,
  { model, facets }: LoadedModel,
): Promise<UnmatchedValue[]> {
  const all: UnmatchedValue[] = [];
  const add = (parameter: UnmatchedValue["parameter"], value: string, known: readonly string[]) => {
    const isCompared = all.length < MAX_COMPARED && value.length <= MAX_LENGTH;
    const nearest = isCompared ? (nearestName(value, known) ?? null) : null;
    all.push({ parameter, value, nearest, message: messageOf(parameter, value) });
  };
  const { provider: providers, license: licenses } = model.columns.names;
  if (provider !== undefined && providers.codeOf(provider) === 0)
    add("provider", provider, providers.names.slice(1));
  const addUnknown = async (kind: FacetKind, values: readonly string[]) => {
    if (values.length === 0) return;
    const table = await facets.of(kind);
    const names = table.frequent.slice(0, COMPARED).map(({ name }) => name);
    for (const value of values) if (table.named(value) === undefined) add(kind, value, names);
  };
  await addUnknown("language", language);
  await addUnknown("topic", topic);
  if (license !== undefined && !licenses.names.some((name) => foldedLicense(name) === foldedLicense(license)))
    add("license", license, licenses.names.slice(1));
  return all;
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
  to: Omit<RenamedRepository, "renamedFrom">;
}

/** Maximum number of providers in which a name is looked up. */
const MOST_PROVIDERS = 5;

/** Where a searched full name continues, at one or two statements per provider; undefined for other texts, at no cost. */
export async function findRenamed(
  catalog: Catalog,
  { scope, filters }: Pick<ListSpec, "scope" | "filters">,
  { model }: LoadedModel,
): Promise<RenamedName | undefined> {
  const fullName = scope.kind === "search" ? parseQuery(scope.text)?.fullName : undefined;
  if (fullName === undefined || splitFullName(fullName) === undefined) return undefined;
  const providers = model.columns.names.provider.names.slice(1).sort();
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
