import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { didYouMean, nearestName } from "../lib/nearest-name.js";
import { problemsOf } from "../lib/validation.js";
import {
  FORGE_KINDS,
  findForge,
  type ProviderSettings,
  type ProxySettings,
  PUBLIC_FORGES,
  parseTokens,
  providerOfHost,
  siteOf,
  type TokenSource,
  tokenBarrier,
} from "./known-forges.js";
import { flag, whole } from "./rules.js";

/** Errors in the environment, one line per setting. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((line) => `  ${line}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/** A text in another form; a string in `problem` instead says why it is wrong. */
function parsedBy<T>(parse: (text: string) => { value: T } | { problem: string }) {
  return z.string().transform((text, context): T => {
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    context.addIssue({ code: "custom", message: parsed.problem });
    return z.NEVER;
  });
}

/** Settings of one provider, without their prefix `SIDEREAL_<NAME>_`. */
const RULES = {
  KIND: z
    .enum(FORGE_KINDS, {
      error: ({ input }) =>
        `must be one of ${FORGE_KINDS.join(", ")}${didYouMean(String(input), FORGE_KINDS)}`,
    })
    .optional(),
  URL: parsedBy(siteOfAddress).optional(),
  TOKENS: parsedBy((text) => {
    const value = parseTokens(text);
    return typeof value === "string" ? { problem: value } : { value };
  }).optional(),
  TOKEN_COMMAND: parsedBy(commandOf).optional(),
  APP_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/, "must be the id or client id of a GitHub App")
    .optional(),
  APP_PRIVATE_KEY: parsedBy(privateKeyOf).optional(),
  APP_INSTALLATION: z
    .string()
    .regex(/^[1-9]\d{0,18}$/, "must be the number of an installation")
    .optional(),
  REQUESTS_PER_HOUR: whole(1, 1_000_000).optional(),
  MIN_STARS: whole(0).optional(),
  NEW_PER_DAY: whole(1).optional(),
  PRIVATE: flag.prefault("false"),
} as const;
/** Settings that may be in a file instead. */
const IN_FILES: readonly string[] = ["TOKENS", "APP_PRIVATE_KEY"];
type RuleName = keyof typeof RULES;
const RULE_NAMES = Object.keys(RULES) as RuleName[];

/** Names of these settings as the documentation writes them. */
export const PROVIDER_SETTINGS: readonly string[] = RULE_NAMES.map((rule) => `SIDEREAL_<NAME>_${rule}`);

/** Provider names in capitals: those listed in `SIDEREAL_PROVIDERS`, and `all`, which includes the public forges. */
interface ProviderNames {
  listed: readonly string[];
  all: readonly string[];
}

/** Reads the value of `SIDEREAL_PROVIDERS`. */
export function providerNames(list: string): ProviderNames {
  const listed = [...new Set(list.split(/[\s,]+/).filter((name) => name !== ""))].map((name) =>
    name.toUpperCase(),
  );
  return { listed, all: [...new Set([...PUBLIC_FORGES.map(({ name }) => name), ...listed])] };
}

/** Whether a variable is a setting of one of the providers. */
export function isProviderSetting(variable: string, { all }: Pick<ProviderNames, "all">): boolean {
  return all.some((name) =>
    RULE_NAMES.some((rule) => {
      const setting = `SIDEREAL_${name}_${rule}`;
      return variable === setting || (IN_FILES.includes(rule) && variable === `${setting}_FILE`);
    }),
  );
}

/** Names of all settings of these providers. */
export function providerSettings({ all }: Pick<ProviderNames, "all">): string[] {
  return all.flatMap((name) =>
    RULE_NAMES.flatMap((rule) => {
      const setting = `SIDEREAL_${name}_${rule}`;
      return IN_FILES.includes(rule) ? [setting, `${setting}_FILE`] : [setting];
    }),
  );
}

/**
 * The providers to track: the listed ones, and public forges that have an address or tokens. Adds one line per invalid
 * setting to `problems`, never with the value of a token.
 */
export function readProviders(
  env: NodeJS.ProcessEnv,
  { listed, all }: ProviderNames,
  problems: string[],
): readonly ProviderSettings[] {
  return all.flatMap((name): ProviderSettings[] => {
    if (!/^[A-Z][A-Z0-9_]{0,31}$/.test(name)) {
      problems.push(
        `SIDEREAL_PROVIDERS: "${name.slice(0, 40)}" is not a valid name; use at most 32 letters, digits and _`,
      );
      return [];
    }
    const given: Partial<Record<RuleName, string>> = {};
    for (const rule of RULE_NAMES) {
      const value = settingOf(env, `SIDEREAL_${name}_${rule}`, problems);
      if (value !== undefined) given[rule] = value;
    }
    const isOn = listed.includes(name) || SIGNS.some((rule) => given[rule] !== undefined);
    const parsed = z.object(RULES).safeParse(given);
    if (!parsed.success) {
      for (const { parameter, message } of problemsOf(parsed.error, "settings"))
        problems.push(`SIDEREAL_${name}_${parameter}: ${message}`);
      return [];
    }
    if (!isOn) return [];
    const forge = findForge(name);
    const { KIND, URL: address, TOKENS, REQUESTS_PER_HOUR, MIN_STARS, NEW_PER_DAY, PRIVATE } = parsed.data;
    const kind = KIND ?? forge?.kind;
    const url = address ?? (forge && siteOf(forge));
    if (kind === undefined || url === undefined) {
      problems.push(...missing(name, { kind, url }));
      return [];
    }
    const file = env[`SIDEREAL_${name}_TOKENS_FILE`] ?? "";
    const tokenSource = tokenSourceOf(parsed.data, { name, kind, file, env, problems });
    const hasTokens = TOKENS !== undefined || tokenSource !== undefined;
    const barrier = tokenBarrier({ name, url, mayBePrivate: PRIVATE });
    if (hasTokens && barrier !== undefined) problems.push(`SIDEREAL_${name}_URL: ${barrier}`);
    return [
      {
        name,
        kind,
        url,
        tokens: TOKENS ?? [],
        ...(tokenSource && { tokenSource }),
        requestsPerHour: REQUESTS_PER_HOUR ?? null,
        minStars: MIN_STARS ?? forge?.minStars ?? 0,
        ...(NEW_PER_DAY !== undefined && { newPerDay: NEW_PER_DAY }),
        mayBePrivate: PRIVATE,
      },
    ];
  });
}

/** Settings that turn on a public forge that is not listed. */
const SIGNS: readonly RuleName[] = [
  "URL",
  "TOKENS",
  "TOKEN_COMMAND",
  "APP_ID",
  "APP_PRIVATE_KEY",
  "APP_INSTALLATION",
];

/** The settings that a custom provider needs, or the public forge that was probably meant. */
function missing(
  name: string,
  { kind, url }: { kind?: string | undefined; url?: string | undefined },
): string[] {
  const publicNames = PUBLIC_FORGES.map((forge) => forge.name.toLowerCase());
  const nearest = kind === undefined && url === undefined ? nearestName(name, publicNames) : undefined;
  if (nearest !== undefined)
    return [
      `SIDEREAL_PROVIDERS: ${name.toLowerCase()} is not known; did you mean ${nearest}? A forge of your own needs SIDEREAL_${name}_KIND and SIDEREAL_${name}_URL`,
    ];
  return [
    ...(kind === undefined ? [`SIDEREAL_${name}_KIND: is required: ${FORGE_KINDS.join(", ")}`] : []),
    ...(url === undefined ? [`SIDEREAL_${name}_URL: is required, for example https://git.example.org`] : []),
  ];
}

/** The source of the tokens, if they change. Adds a problem for settings that contradict each other. */
function tokenSourceOf(
  { TOKENS, TOKEN_COMMAND, APP_ID, APP_PRIVATE_KEY, APP_INSTALLATION }: z.output<z.ZodObject<typeof RULES>>,
  {
    name,
    kind,
    file,
    env,
    problems,
  }: { name: string; kind: string; file: string; env: NodeJS.ProcessEnv; problems: string[] },
): TokenSource | undefined {
  const given = Object.entries({ TOKENS, TOKEN_COMMAND, APP_ID }).flatMap(([rule, value]) =>
    value === undefined ? [] : [`SIDEREAL_${name}_${rule}`],
  );
  if (given.length > 1) problems.push(`${given[0]}: ${given[1]} is also set; remove one of them`);
  const isApp = [APP_ID, APP_PRIVATE_KEY, APP_INSTALLATION].some((value) => value !== undefined);
  if (isApp && kind !== "github") problems.push(`SIDEREAL_${name}_APP_ID: only GitHub has Apps`);
  if (isApp && APP_ID === undefined) problems.push(`SIDEREAL_${name}_APP_ID: is required for a GitHub App`);
  if (isApp && APP_PRIVATE_KEY === undefined)
    problems.push(`SIDEREAL_${name}_APP_PRIVATE_KEY: is required for a GitHub App`);
  if (APP_ID !== undefined && APP_PRIVATE_KEY !== undefined)
    return {
      kind: "app",
      appId: APP_ID,
      privateKey: APP_PRIVATE_KEY,
      installation: APP_INSTALLATION ?? null,
    };
  if (TOKEN_COMMAND !== undefined)
    return { kind: "command", command: TOKEN_COMMAND, environment: withoutOurs(env) };
  return file === "" ? undefined : { kind: "file", path: file };
}

/** The environment without our own settings: they have the secrets of the whole service. */
function withoutOurs(env: NodeJS.ProcessEnv): Record<string, string> {
  const others = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value === undefined || /^SIDEREAL_/i.test(name) ? [] : [[name, value]],
  );
  return Object.fromEntries(others);
}

/** The value of a setting; some may be in a file instead. Undefined when not set. */
function settingOf(env: NodeJS.ProcessEnv, setting: string, problems: string[]): string | undefined {
  const value = env[setting];
  const mayBeFile = IN_FILES.some((rule) => setting.endsWith(`_${rule}`));
  const file = mayBeFile ? env[`${setting}_FILE`] : undefined;
  if (!file) return value === "" ? undefined : value;
  if (value) problems.push(`${setting}_FILE: ${setting} is also set; remove one of them`);
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    problems.push(`${setting}_FILE: cannot read the file`);
    return undefined;
  }
}

/**
 * The address of a site, also from that of its API, and without a scheme: `api.github.com` is `https://github.com`. Public forges
 * are only reached over https, at the name that does not redirect.
 */
function siteOfAddress(text: string): { value: string } | { problem: string } {
  const isBare = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)/.test(text);
  const url = URL.parse(isBare ? `https://${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol))
    return { problem: "must be an address that begins with https:// or http://" };
  const { username, password, search, hash } = url;
  if (`${username}${password}${search}${hash}` !== "")
    return { problem: "must be the address of the site alone; tokens have their own setting" };
  const host = url.host.replace(/^api\.(github\.com|[\w-]+\.ghe\.com)$/, "$1");
  const forge = findForge(providerOfHost(host) ?? "");
  if (forge !== undefined) return { value: siteOf(forge) };
  const path = url.pathname.replace(/\/+$/, "").replace(/\/(?:api\/(?:v\d|graphql)|graphql)$/, "");
  const protocol = /\.ghe\.com$/.test(host) ? "https:" : url.protocol;
  return { value: `${protocol}//${host}${path}` };
}

/** A program and its arguments: a JSON list, or words separated by spaces. */
function commandOf(text: string): { value: readonly string[] } | { problem: string } {
  if (/[^\P{Cc}\s]/u.test(text)) return { problem: "must not contain control characters" };
  if (!text.trim().startsWith("[")) return { value: text.trim().split(/\s+/) };
  try {
    const list = z.array(z.string()).min(1).safeParse(JSON.parse(text));
    const isSafe = list.success && !list.data.some((word) => word.includes("\0"));
    if (isSafe && list.data[0] !== "") return { value: list.data };
  } catch {}
  return { problem: "must be a program and its arguments, or a JSON list of them" };
}

/** A private key as PEM; line breaks may be written as \\n. */
function privateKeyOf(text: string): { value: string } | { problem: string } {
  const pem = text.replaceAll("\\n", "\n").trim();
  try {
    if (createPrivateKey(pem).asymmetricKeyType === "rsa") return { value: pem };
  } catch {}
  return { problem: "must be the RSA private key of the GitHub App, in PEM form" };
}

/** The proxies in the usual variables, in lower or upper case. Messages never contain their addresses. */
export function readProxy(env: NodeJS.ProcessEnv, problems: string[]): ProxySettings | undefined {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || null;
  const proxyOf = (name: string) => {
    const address = read(name);
    if (address === null) return null;
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`);
    const isUsable = url !== null && /^https?:$/.test(url.protocol) && canBeDecoded(url);
    if (!isUsable)
      problems.push(`${name}: must be the address of a proxy, such as http://proxy.example:3128`);
    return url?.href ?? null;
  };
  const [http, https] = [proxyOf("HTTP_PROXY"), proxyOf("HTTPS_PROXY")];
  return http === null && https === null ? undefined : { http, https, except: read("NO_PROXY") ?? "" };
}

/** The proxy for requests to forges. Throws a ConfigError if its settings cannot be used: requests must not go around it. */
export function proxyOf({
  proxy,
  proxyProblem,
}: {
  proxy: ProxySettings | undefined;
  proxyProblem: string | undefined;
}): ProxySettings | undefined {
  if (proxyProblem !== undefined) throw new ConfigError([proxyProblem]);
  return proxy;
}

/** Whether the credentials of an address can be sent: their escapes must be those of a text. */
function canBeDecoded({ username, password }: URL): boolean {
  try {
    return [username, password].every((part) => decodeURIComponent(part) !== undefined);
  } catch {
    return false;
  }
}
