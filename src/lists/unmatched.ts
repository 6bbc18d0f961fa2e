import { nearestName } from "../nearest-name.js";
import type { FacetKind, Rankings, Summary } from "../rankings/rankings.js";
import { foldedLicense } from "./license-names.js";
import type { Filters } from "./spec.js";

/** A value of a filter that nothing in the catalogue has. */
export interface UnmatchedValue {
  parameter: "provider" | "language" | "topic" | "license";
  /** As filters compare it: languages and topics in lower case, providers in capitals. */
  value: string;
  /** The name in the catalogue that was probably meant. */
  nearest: string | null;
  message: string;
}

/** What the catalogue has. */
interface Names {
  rankings: Pick<Rankings, "facets" | "facetNames">;
  summary: Summary;
  licenses: () => Promise<readonly string[]>;
}

/** Languages and topics among which the nearest name is looked for: the most frequent ones. */
const COMPARED = 500;
/** Characters of a value to which a name is looked for. */
const MAX_LENGTH = 40;

/** Values to which a name is looked for: each is compared with hundreds. */
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
