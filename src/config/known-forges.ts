/** The kinds of forge, and the public forges that need no configuration. Everything else about them follows from here. */

export const FORGE_KINDS = ["github", "gitlab", "forgejo", "gogs"] as const;
export type ForgeKind = (typeof FORGE_KINDS)[number];

interface PublicForge {
  /** Provider name, as stored and as it appears in settings: `SIDEREAL_<NAME>_…`. */
  name: string;
  kind: ForgeKind;
  host: string;
  label: string;
  /** Default for `MIN_STARS`: repositories with fewer stars are too many to be worth a first request. */
  minStars: number;
  /** Absent: that of its kind. */
  pace?: ForgePace;
  /** Default of the setting `NEW_PER_DAY`; absent: the constant of that name. */
  newPerDay?: number;
}

/** Most repositories that the lists of a forge may add in a day. */
const NEW_PER_DAY = 100_000;

/** The programs of a kind, and whether they count open pull requests as open issues. */
const KINDS: Readonly<Record<ForgeKind, { programs: readonly string[]; countsPullRequests: boolean }>> = {
  github: { programs: ["GitHub"], countsPullRequests: true },
  gitlab: { programs: ["GitLab"], countsPullRequests: false },
  forgejo: { programs: ["Forgejo", "Gitea"], countsPullRequests: false },
  gogs: { programs: ["Gogs"], countsPullRequests: false },
};

/** Which forges count open pull requests as open issues, as a sentence. */
export function openIssuesRule(): string {
  const names = (counts: boolean) =>
    new Intl.ListFormat("en-GB").format(
      FORGE_KINDS.map((kind) => KINDS[kind])
        .filter(({ countsPullRequests }) => countsPullRequests === counts)
        .flatMap(({ programs }) => programs),
    );
  return `Open issues include open pull requests on ${names(true)}, and not on ${names(false)}.`;
}

/** Our own pace at a forge, for all lanes of a worker together: requests per hour, evenly spaced. */
export interface ForgePace {
  perHour: number;
  /** Requests that the forge also limits separately, by the provider's name for them. */
  parts?: Readonly<Record<string, { anonymous: number; withToken: number }>>;
}

/** Paces of instances, with room below the limits that the forges publish. */
const KIND_PACES: Readonly<Record<ForgeKind, ForgePace>> = {
  // 900 points a minute, one for each request.
  github: { perHour: 18_000 },
  // 400 requests a minute for single projects; for lists 400 in ten minutes, or 2,000 with a token.
  gitlab: { perHour: 7_200, parts: { projects: { anonymous: 1_800, withToken: 9_000 } } },
  forgejo: { perHour: 3_600 },
  gogs: { perHour: 3_600 },
};

/** A quarter of its 4,000 requests in half an hour. */
const CODEBERG_PACE: ForgePace = { perHour: 2_000 };

/** Requests an hour that a forge permits without and with a token of a user, as it documents them. Absent: the same, or not documented. */
export const TOKEN_EFFECTS: Readonly<Partial<Record<ForgeKind, { now: number; withToken: number }>>> = {
  github: { now: 60, withToken: 5_000 },
};

export const PUBLIC_FORGES: readonly PublicForge[] = [
  {
    name: "GITHUB",
    kind: "github",
    host: "github.com",
    label: "GitHub",
    minStars: 100,
    // All of its repositories with enough stars on the first day.
    newPerDay: 1_000_000,
  },
  { name: "GITLAB", kind: "gitlab", host: "gitlab.com", label: "GitLab", minStars: 5 },
  {
    name: "CODEBERG",
    kind: "forgejo",
    host: "codeberg.org",
    label: "Codeberg",
    minStars: 1,
    pace: CODEBERG_PACE,
  },
];

/** The public forge with this provider name, or undefined. */
export function findForge(provider: string): PublicForge | undefined {
  return PUBLIC_FORGES.find(({ name }) => name === provider);
}

export function paceOf({ name, kind }: Pick<ProviderSettings, "name" | "kind">): ForgePace {
  return findForge(name)?.pace ?? KIND_PACES[kind];
}

/** Most repositories that the lists of an instance may add in a day (UTC). */
export function newPerDayOf({ name, newPerDay }: Pick<ProviderSettings, "name" | "newPerDay">): number {
  return newPerDay ?? findForge(name)?.newPerDay ?? NEW_PER_DAY;
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

/** The proxies that requests to forges go through, as addresses that may contain credentials. null: none. */
export interface ProxySettings {
  http: string | null;
  https: string | null;
  /** Hosts that are reached directly, as in `NO_PROXY`. */
  except: string;
}

/**
 * A source of tokens. `command`: a program and its arguments. `environment`: the variables that it sees. `privateKey`: PEM.
 * `installation`: null: the only one.
 */
export type TokenSource =
  | { kind: "file"; path: string }
  | { kind: "command"; command: readonly string[]; environment: Readonly<Record<string, string>> }
  | { kind: "app"; appId: string; privateKey: string; installation: string | null };

const MAX_TOKENS = 100;

/** Whether a text can be a token. GitHub's installation tokens have more than 500 characters. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(text);
}

/** The tokens in a text, separated by commas or white space, each once; or the problem, without quoting the text. */
export function parseTokens(text: string): readonly string[] | string {
  const tokens = [...new Set(text.split(/[\s,]+/).filter((token) => token !== ""))];
  if (tokens.length > MAX_TOKENS) return `contains more than ${MAX_TOKENS} tokens`;
  return tokens.every(isToken)
    ? tokens
    : "contains characters that no token has, or a token of over 4,096 characters";
}

/** Why no token may be sent to a site, in words for its operator; undefined: it may. Anybody on the way could read it. */
export function tokenBarrier({
  name,
  url,
  mayBePrivate,
}: Pick<ProviderSettings, "name" | "url" | "mayBePrivate">): string | undefined {
  if (!url.startsWith("http://") || mayBePrivate) return undefined;
  return `tokens are sent over https only, or in a private network with SIDEREAL_${name}_PRIVATE=true`;
}

/** Settings of one configured provider: an instance of a forge. */
export interface ProviderSettings {
  /** As stored and shown, in capitals: `GITHUB`, `CODEBERG`, `WORK`. */
  name: string;
  kind: ForgeKind;
  /** Address of the site without a trailing slash, such as `https://codeberg.org`. The kind determines the address of its API. */
  url: string;
  /** May be empty: then requests are anonymous and share the forge's anonymous limit. */
  tokens: readonly string[];
  /** The source of tokens that change while the program runs; absent: they stay the same. */
  tokenSource?: TokenSource;
  /** Our own limit on requests per hour, all tokens together; null: only the forge's limits apply. */
  requestsPerHour: number | null;
  /** Repositories with fewer stars are not discovered. */
  minStars: number;
  /** Most repositories that its lists may add in a day (UTC); absent: see `newPerDayOf`. */
  newPerDay?: number;
  /** Whether the address may belong to a private network. */
  mayBePrivate: boolean;
  /** true: its lists are not walked, and only requested repositories are tracked. Absent: all that are found. */
  onDemand?: true;
}
