/**
 * Tokens of forges that operators enter on a page. They are stored encrypted under a key that is not in the database, and never shown
 * again. This module stores them and lists the forges that are tracked because of them; the worker reads them while it runs. Who may
 * enter a token is decided elsewhere.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { type ProviderSettings, tokenBarrier } from "../../config/config.js";
import { type Database, readNumber, secretInFile, type Tx } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import type { EnteredToken, TokenCheck } from "../contract.js";
import { type SealedToken, type StoredToken, type TokenFault, TokenSeal } from "./seal.js";
import { settingsAmong } from "./tracked-forges.js";

export type { StoredToken, TokenFault } from "./seal.js";

/** The source of the key: a setting, or a file next to the database that is made with the first token. */
type KeySource = "setting" | "file";

interface ForgeTokensOptions {
  database: Database;
  clock: Clock;
  config: {
    tokenKey: string | undefined;
    databaseUrl: string | undefined;
    dataDir: string;
    providers: readonly ProviderSettings[];
    proxyProblem: string | undefined;
  };
  /** Called in the transaction of a change that readers of pages notice. */
  onChange: (tx: Tx) => Promise<unknown>;
}

export const MAX_ENTERED = 20;

const KEY_FILE = "token-key";

/** The tokens of each provider, and the number of those that cannot be used. */
export interface EnteredTokens {
  tokens: ReadonlyMap<string, readonly EnteredToken[]>;
  faults: ReadonlyMap<TokenFault, number>;
}

export class ForgeTokens {
  readonly #options: ForgeTokensOptions;
  #seal: TokenSeal | undefined;

  constructor(options: ForgeTokensOptions) {
    this.#options = options;
  }

  /** Whether the store is in memory, so that no worker could read a token. */
  get isInMemory(): boolean {
    const { databaseUrl, dataDir } = this.#options.config;
    return databaseUrl === undefined && dataDir === ":memory:";
  }

  /** Undefined: tokens cannot be entered, as no worker could read them, or there is no place for a key outside the database. */
  get keySource(): KeySource | undefined {
    const { tokenKey, databaseUrl } = this.#options.config;
    if (this.isInMemory) return undefined;
    if (tokenKey !== undefined) return "setting";
    return databaseUrl === undefined ? "file" : undefined;
  }

  /** Why no token can be sent to a forge, as a sentence; undefined: it can. */
  barrierOf(settings: ProviderSettings): string | undefined {
    const { proxyProblem } = this.#options.config;
    if (proxyProblem !== undefined)
      return `No token is sent until the proxy is set correctly. ${proxyProblem}.`;
    const barrier = tokenBarrier(settings);
    return barrier && `Its address begins with http, and ${barrier}.`;
  }

  /** The stored tokens, oldest first. */
  async list(): Promise<StoredToken[]> {
    return (await this.#read()).map(({ row, opened }) => ({
      id: row.id,
      provider: row.provider,
      site: row.site,
      addedAt: Number(row.added_at),
      checkedAt: Number(row.checked_at),
      allows: JSON.parse(row.allows),
      fault: "fault" in opened ? opened.fault : undefined,
    }));
  }

  /**
   * Stores a token that its forge has accepted at its present address, or notes that it was accepted again. `replaces`: the id of
   * a token of the same forge that is removed with it. Returns its id. Throws FORBIDDEN without a key, NOT_FOUND without such a
   * forge, and LIMIT_REACHED.
   */
  async add(
    provider: string,
    token: string,
    { allows, replaces = 0 }: { allows: TokenCheck; replaces?: number | undefined },
  ): Promise<number> {
    const seal = this.#openSeal({ create: true });
    if (seal === undefined)
      throw new AppError("FORBIDDEN", "Tokens cannot be stored: there is no key to encrypt them with.");
    const { database, clock, onChange } = this.#options;
    const site = this.#siteOf(provider);
    if (site === undefined) throw new AppError("NOT_FOUND", "There is no such forge.");
    const { fingerprint, keyId, sealed } = seal.seal({ provider, site }, token);
    const now = clock.now();
    const stored = { key_id: keyId, sealed, checked_at: now, allows: JSON.stringify(allows) };
    return database.durable.transaction().execute(async (tx) => {
      const others = sql`select count(*) from forge_tokens
        where provider = ${provider} and fingerprint <> ${fingerprint} and id <> ${replaces}`;
      if ((await readNumber(tx, others)) >= MAX_ENTERED)
        throw new AppError(
          "LIMIT_REACHED",
          `There are ${MAX_ENTERED} tokens of this forge. Remove one first.`,
        );
      const { id } = await tx
        .insertInto("forge_tokens")
        .values({ provider, site, fingerprint, added_at: now, ...stored })
        .onConflict((conflict) => conflict.columns(["provider", "fingerprint"]).doUpdateSet(stored))
        .returning("id")
        .executeTakeFirstOrThrow();
      // The same token entered again has the id of the one that it replaces.
      if (id !== replaces)
        await tx
          .deleteFrom("forge_tokens")
          .where("id", "=", replaces)
          .where("provider", "=", provider)
          .execute();
      await onChange(tx);
      return id;
    });
  }

  /** Removes a token. Returns its provider; undefined if there is no such token. */
  async remove(id: number): Promise<string | undefined> {
    const { database, onChange } = this.#options;
    return database.durable.transaction().execute(async (tx) => {
      const removed = await tx
        .deleteFrom("forge_tokens")
        .where("id", "=", id)
        .returning("provider")
        .executeTakeFirst();
      if (removed !== undefined) await onChange(tx);
      return removed?.provider;
    });
  }

  /** Names of the providers with tokens for their present address, in alphabetical order. */
  async providers(): Promise<string[]> {
    const rows = await this.#options.database.read
      .selectFrom("forge_tokens")
      .select(["provider", "site"])
      .distinct()
      .orderBy("provider")
      .execute();
    return rows.flatMap(({ provider, site }) => (site === this.#siteOf(provider) ? [provider] : []));
  }

  /** Only for sending them to their forge. */
  async open(): Promise<EnteredTokens> {
    const tokens = new Map<string, EnteredToken[]>();
    const faults = new Map<TokenFault, number>();
    for (const { row, opened } of await this.#read()) {
      if ("fault" in opened) faults.set(opened.fault, (faults.get(opened.fault) ?? 0) + 1);
      else {
        const entered = { token: opened.token, label: labelOf(row.id) };
        tokens.set(row.provider, [...(tokens.get(row.provider) ?? []), entered]);
      }
    }
    return { tokens, faults };
  }

  /** The rows, oldest first, each with its token or why that is not used. */
  async #read() {
    const { read } = this.#options.database;
    const rows = await read.selectFrom("forge_tokens").selectAll().orderBy("id").execute();
    return rows.map((row) => ({ row, opened: this.#openRow(row) }));
  }

  /** Decrypts a token, but never one that is for another address than that of the settings. */
  #openRow(row: Omit<SealedToken, "keyId"> & { key_id: string }): { token: string } | { fault: TokenFault } {
    if (row.site !== this.#siteOf(row.provider)) return { fault: "other_address" };
    const settings = this.#settingsOf(row.provider);
    if (settings !== undefined && tokenBarrier(settings) !== undefined) return { fault: "plain_http" };
    return this.#openSeal()?.open({ ...row, keyId: row.key_id }) ?? { fault: "other_key" };
  }

  /** Origin of the site that tokens of a provider are sent to now; undefined: there is no such forge. */
  #siteOf(provider: string): string | undefined {
    const settings = this.#settingsOf(provider);
    return settings && new URL(settings.url).origin;
  }

  #settingsOf(provider: string): ProviderSettings | undefined {
    return settingsAmong(this.#options.config.providers, provider);
  }

  /** The key; undefined without one. `create`: makes the file of the key, if it belongs into one. */
  #openSeal({ create = false } = {}): TokenSeal | undefined {
    if (this.#seal !== undefined) return this.#seal;
    const { tokenKey, dataDir } = this.#options.config;
    const source = this.keySource;
    if (source === "setting" && tokenKey !== undefined) this.#seal = new TokenSeal(tokenKey);
    const file = join(dataDir, KEY_FILE);
    if (source === "file" && (create || existsSync(file)))
      this.#seal = new TokenSeal(
        secretInFile(file, "after which the stored tokens of forges must be entered again"),
      );
    return this.#seal;
  }
}

/** The name of a token in logs and in the status of the worker. */
export function labelOf(id: number): string {
  return `page #${id}`;
}
