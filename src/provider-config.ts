import { readFileSync } from "node:fs";
import { z } from "zod";
import { FORGE_KINDS, findForge, type ProviderSettings, PUBLIC_FORGES, siteOf } from "./forges.js";

const whole = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);

/** Settings of one provider, without their prefix `SIDEREAL_<NAME>_`. */
const RULES = {
  KIND: z.enum(FORGE_KINDS).optional(),
  URL: z
    .url({ protocol: /^https?$/, error: "must be an address that begins with https:// or http://" })
    .refine((url) => {
      const { username, password, search, hash } = new URL(url);
      return username === "" && password === "" && search === "" && hash === "";
    }, "must be the address of the site alone; tokens have their own setting")
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  TOKENS: z
    .string()
    .transform((text) => [...new Set(text.split(/[\s,]+/).filter((token) => token !== ""))])
    .pipe(
      z
        .array(z.string().regex(/^[\x21-\x7e]{1,500}$/, "contains characters that no token has"))
        .max(100, "contains more than 100 tokens"),
    )
    .default([]),
  REQUESTS_PER_HOUR: whole.pipe(z.number().min(1).max(1_000_000)).optional(),
  MIN_STARS: whole.pipe(z.number().min(0)).optional(),
  PRIVATE: z.enum(["true", "false"]).default("false"),
} as const;
type RuleName = keyof typeof RULES;
const RULE_NAMES = Object.keys(RULES) as RuleName[];

/** Names of these settings as the documentation writes them. */
export const PROVIDER_SETTINGS: readonly string[] = RULE_NAMES.map((rule) => `SIDEREAL_<NAME>_${rule}`);

/** Provider names in capitals: those listed in `SIDEREAL_PROVIDERS`, and `all`, which includes the public forges. */
export interface ProviderNames {
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
      return variable === setting || (rule === "TOKENS" && variable === `${setting}_FILE`);
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
): ProviderSettings[] {
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
    const isOn = listed.includes(name) || given.URL !== undefined || given.TOKENS !== undefined;
    const parsed = z.object(RULES).safeParse(given);
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues)
        problems.push(`SIDEREAL_${name}_${String(path[0])}: ${message}`);
      return [];
    }
    if (!isOn) return [];
    const forge = findForge(name);
    const { KIND, URL: address, TOKENS, REQUESTS_PER_HOUR, MIN_STARS, PRIVATE } = parsed.data;
    const kind = KIND ?? forge?.kind;
    const url = address ?? (forge && siteOf(forge));
    if (kind === undefined) problems.push(`SIDEREAL_${name}_KIND: is required: ${FORGE_KINDS.join(", ")}`);
    if (url === undefined)
      problems.push(`SIDEREAL_${name}_URL: is required, for example https://git.example.org`);
    if (kind === undefined || url === undefined) return [];
    return [
      {
        name,
        kind,
        url,
        tokens: TOKENS,
        requestsPerHour: REQUESTS_PER_HOUR ?? null,
        minStars: MIN_STARS ?? forge?.minStars ?? 0,
        mayBePrivate: PRIVATE === "true",
      },
    ];
  });
}

/** The value of a setting; tokens may be in a file instead. Undefined when not set. */
function settingOf(env: NodeJS.ProcessEnv, setting: string, problems: string[]): string | undefined {
  const value = env[setting];
  const file = setting.endsWith("_TOKENS") ? env[`${setting}_FILE`] : undefined;
  if (!file) return value === "" ? undefined : value;
  if (value) problems.push(`${setting}_FILE: ${setting} is also set; remove one of them`);
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    problems.push(`${setting}_FILE: cannot read the file`);
    return undefined;
  }
}
