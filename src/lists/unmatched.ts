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

/**
 * The values of filters that no available repository has, for a list that is empty. Costs at most three
 * statements for languages, as many for topics, and one for licenses.
 */
export async function unmatchedValues(filters: Filters, names: Names): Promise<UnmatchedValue[]> {
  const { provider, languages = [], topics = [], license } = filters;
  const providers = names.summary.providers.map((one) => one.provider);
  const all: UnmatchedValue[] = [];
  if (provider !== undefined && !providers.includes(provider))
    all.push(unmatched("provider", provider, providers));
  for (const [kind, values] of [
    ["language", languages],
    ["topic", topics],
  ] as const) {
    if (values.length === 0) continue;
    const spelled = await names.rankings.facetNames(kind, values);
    const unknown = values.filter((_, i) => spelled[i]?.length === 0);
    if (unknown.length === 0) continue;
    const known = await frequent(names.rankings, kind);
    all.push(...unknown.map((value) => unmatched(kind, value, known)));
  }
  if (license !== undefined) {
    const licenses = await names.licenses();
    if (!licenses.some((name) => foldedLicense(name) === foldedLicense(license)))
      all.push(unmatched("license", license, licenses));
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

function unmatched(
  parameter: UnmatchedValue["parameter"],
  value: string,
  known: readonly string[],
): UnmatchedValue {
  const nearest = value.length > MAX_LENGTH ? undefined : nearestName(value, known);
  return { parameter, value, nearest: nearest ?? null, message: messageOf(parameter, value) };
}

function messageOf(parameter: UnmatchedValue["parameter"], value: string): string {
  const isRepeatable = parameter === "language" || parameter === "topic";
  if (isRepeatable && value.includes(","))
    return `Commas do not separate values. Repeat the parameter: ${parameter}=…&${parameter}=….`;
  return `No repository here has this ${parameter}.`;
}
