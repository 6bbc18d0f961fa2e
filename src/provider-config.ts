import { readFileSync } from "node:fs";
import { z } from "zod";

/** One forge instance as the environment describes it. */
export interface ProviderConfig {
  name: string;
  kind: "github" | "gitlab" | "forgejo";
  url: string;
  tokens: readonly string[];
  requestsPerHour: number | null;
  minStars: number;
  mayBePrivate: boolean;
}

/** The public forges whose kind and address need not be told. Many small repositories are not worth a first look. */
const KNOWN = {
  GITHUB: { kind: "github", url: "https://github.com", minStars: 100 },
  GITLAB: { kind: "gitlab", url: "https://gitlab.com", minStars: 5 },
  CODEBERG: { kind: "forgejo", url: "https://codeberg.org", minStars: 1 },
} as const;

const whole = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);

/** What can be set for each provider, behind `SIDEREAL_<NAME>_`. */
const RULES = {
  KIND: z.enum(["github", "gitlab", "forgejo"]).optional(),
  URL: z
    .url({ protocol: /^https?$/, error: "must be an address that begins with https:// or http://" })
    .refine((url) => {
      const { username, password, search, hash } = new URL(url);
      return username === "" && password === "" && search === "" && hash === "";
    }, "must be the address of the site alone; tokens have a setting of their own")
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  TOKENS: z
    .string()
    .transform((text) => [...new Set(text.split(/[\s,]+/).filter((token) => token !== ""))])
    .pipe(
      z
        .array(z.string().regex(/^[\x21-\x7e]{1,500}$/, "holds characters that no token has"))
        .max(100, "holds more than 100 tokens"),
    )
    .default([]),
  REQUESTS_PER_HOUR: whole.pipe(z.number().min(1).max(1_000_000)).optional(),
  MIN_STARS: whole.pipe(z.number().min(0)).optional(),
  PRIVATE: z.enum(["true", "false"]).default("false"),
} as const;
type RuleName = keyof typeof RULES;
const RULE_NAMES = Object.keys(RULES) as RuleName[];

/** As they are documented. */
export const PROVIDER_SETTINGS: readonly string[] = RULE_NAMES.map((rule) => `SIDEREAL_<NAME>_${rule}`);

/** The names in `SIDEREAL_PROVIDERS`, in capitals, and those that are always known. */
export function providerNames(list: string): { listed: readonly string[]; all: readonly string[] } {
  const listed = [...new Set(list.split(/[\s,]+/).filter((name) => name !== ""))].map((name) =>
    name.toUpperCase(),
  );
  return { listed, all: [...new Set([...Object.keys(KNOWN), ...listed])] };
}

/** Whether a variable is a setting of one of the providers. */
export function isProviderSetting(variable: string, { all }: { all: readonly string[] }): boolean {
  return all.some((name) =>
    RULE_NAMES.some((rule) => {
      const setting = `SIDEREAL_${name}_${rule}`;
      return variable === setting || (rule === "TOKENS" && variable === `${setting}_FILE`);
    }),
  );
}

/**
 * The providers to track: those that are listed, and the public ones that have an address or tokens. What is wrong is added
 * to `problems`, one line a setting, without the value of a token.
 */
export function readProviders(
  env: NodeJS.ProcessEnv,
  { listed, all }: { listed: readonly string[]; all: readonly string[] },
  problems: string[],
): ProviderConfig[] {
  return all.flatMap((name): ProviderConfig[] => {
    if (!/^[A-Z][A-Z0-9_]{0,31}$/.test(name)) {
      problems.push(
        `SIDEREAL_PROVIDERS: "${name.slice(0, 40)}" is not a name; letters, digits and _ are, 32 at most`,
      );
      return [];
    }
    const given: Partial<Record<RuleName, string>> = {};
    for (const rule of RULE_NAMES) {
      const value = settingOf(env, `SIDEREAL_${name}_${rule}`, rule === "TOKENS", problems);
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
    const known = name in KNOWN ? KNOWN[name as keyof typeof KNOWN] : undefined;
    const { KIND, URL: address, TOKENS, REQUESTS_PER_HOUR, MIN_STARS, PRIVATE } = parsed.data;
    const [kind, url] = [KIND ?? known?.kind, address ?? known?.url];
    if (kind === undefined) problems.push(`SIDEREAL_${name}_KIND: must be told: github, gitlab or forgejo`);
    if (url === undefined)
      problems.push(`SIDEREAL_${name}_URL: must be told, such as https://git.example.org`);
    if (kind === undefined || url === undefined) return [];
    return [
      {
        name,
        kind,
        url,
        tokens: TOKENS,
        requestsPerHour: REQUESTS_PER_HOUR ?? null,
        minStars: MIN_STARS ?? known?.minStars ?? 0,
        mayBePrivate: PRIVATE === "true",
      },
    ];
  });
}

function settingOf(
  env: NodeJS.ProcessEnv,
  setting: string,
  mayBeFile: boolean,
  problems: string[],
): string | undefined {
  const value = env[setting];
  const file = mayBeFile ? env[`${setting}_FILE`] : undefined;
  if (!file) return value === "" ? undefined : value;
  if (value) problems.push(`${setting}_FILE: ${setting} is given too; one of them must go`);
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    problems.push(`${setting}_FILE: the file cannot be read`);
    return undefined;
  }
}
