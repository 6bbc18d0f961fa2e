/** The kinds of forge, and the public forges that need no configuration. Everything else about them follows from here. */

export const FORGE_KINDS = ["github", "gitlab", "forgejo"] as const;
export type ForgeKind = (typeof FORGE_KINDS)[number];

/** A public forge. */
export interface PublicForge {
  /** Provider name, as stored and as it appears in settings: `SIDEREAL_<NAME>_…`. */
  name: string;
  kind: ForgeKind;
  host: string;
  /** Display name. */
  label: string;
  /** Default for `MIN_STARS`: repositories with fewer stars are too many to be worth a first request. */
  minStars: number;
}

export const PUBLIC_FORGES: readonly PublicForge[] = [
  { name: "GITHUB", kind: "github", host: "github.com", label: "GitHub", minStars: 100 },
  { name: "GITLAB", kind: "gitlab", host: "gitlab.com", label: "GitLab", minStars: 5 },
  { name: "CODEBERG", kind: "forgejo", host: "codeberg.org", label: "Codeberg", minStars: 1 },
];

/** The public forge with this provider name, or undefined. */
export function findForge(provider: string): PublicForge | undefined {
  return PUBLIC_FORGES.find(({ name }) => name === provider);
}

/** The provider name of a public forge's host, with or without `www.`; undefined for other hosts. */
export function providerOfHost(host: string): string | undefined {
  const plain = host.toLowerCase().replace(/^www\./, "");
  return PUBLIC_FORGES.find((forge) => forge.host === plain)?.name;
}

/** Display name of a provider: `GitHub`, `Codeberg`, `Work`. */
export function forgeName(provider: string): string {
  return findForge(provider)?.label ?? provider.charAt(0) + provider.slice(1).toLowerCase();
}

/** Address of a public forge's site. */
export function siteOf({ host }: PublicForge): string {
  return `https://${host}`;
}

/** A repository's page on a forge, if the forge did not report the address. */
export function repositoryUrl(site: string, fullName: string): string {
  return `${site}/${fullName}`;
}

/**
 * A repository's page by its provider name. For a forge with an unknown address a text that links nowhere, whatever the name of the
 * provider: `repository:work/owner/name`.
 */
export function defaultUrl(provider: string, fullName: string): string {
  const forge = findForge(provider);
  return forge === undefined
    ? `repository:${provider.toLowerCase()}/${fullName}`
    : repositoryUrl(siteOf(forge), fullName);
}

/** Settings of one configured provider: an instance of a forge. */
export interface ProviderSettings {
  /** As stored and shown, in capitals: `GITHUB`, `CODEBERG`, `WORK`. */
  name: string;
  kind: ForgeKind;
  /** Address of the site without a trailing slash, such as `https://codeberg.org`. The kind determines where its API is. */
  url: string;
  /** May be empty: then requests are anonymous and share the forge's anonymous limit. */
  tokens: readonly string[];
  /** Our own limit on requests per hour, all tokens together; null: only the forge's limits apply. */
  requestsPerHour: number | null;
  /** Repositories with fewer stars are not discovered. */
  minStars: number;
  /** Whether the address may belong to a private network. */
  mayBePrivate: boolean;
}
