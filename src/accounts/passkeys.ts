import { isIP } from "node:net";
import { sql } from "kysely";
import { z } from "zod";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import { AppError } from "../lib/errors.js";
import { isLoopbackHost } from "../lib/host-names.js";
import type { Library } from "./library.js";

/** Maximum number of passkeys of an account. */
export const MAX_PASSKEYS = 10;

/** A passkey of an account, without its key. */
export interface Passkey {
  id: string;
  name: string;
  createdAt: number;
  /** Whether it is backed up or on several devices, as of its last use. */
  isSynced: boolean;
}

/** What an authenticator returns for a new passkey, in Base64url; the fields of WebAuthn's RegistrationResponseJSON. */
export interface NewCredential {
  id: string;
  clientDataJSON: string;
  attestationObject: string;
  transports: string[];
}

/** What an authenticator returns for a sign-in, in Base64url; the fields of WebAuthn's AuthenticationResponseJSON. */
export interface Assertion {
  id: string;
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
}

/** What a browser needs to create a passkey; fields of WebAuthn's PublicKeyCredentialCreationOptionsJSON. */
export type CreationOptions = Awaited<ReturnType<Library["api"]["generatePasskeyRegistrationOptions"]>>;

export interface PasskeysOptions {
  database: Database;
  config: Pick<Config, "baseUrl">;
  openLibrary: () => Promise<Library>;
}

/** Fields of the library's response for a new passkey. */
const added = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.coerce.date(),
  backedUp: z.boolean(),
});

/**
 * Passkeys (WebAuthn): adding them to an account, and checking them at sign-in. A challenge works once, for five minutes, in the browser
 * that requested it: a signed cookie names it. The user must be verified by PIN or biometrics.
 */
export class Passkeys {
  readonly #options: PasskeysOptions;

  constructor(options: PasskeysOptions) {
    this.#options = options;
  }

  /** Whether browsers allow passkeys at the base URL: with https or on localhost, and under a name, not an address. */
  get isOffered(): boolean {
    const { protocol, hostname } = new URL(this.#options.config.baseUrl);
    const isName = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0;
    return isName && (protocol === "https:" || isLoopbackHost(hostname));
  }

  /** A challenge to sign in with any passkey of this service, and the cookies to set. Throws NOT_FOUND where none is offered. */
  async startSignIn(): Promise<{ challenge: string; rpId: string; timeoutMs: number; cookies: string[] }> {
    const library = await this.#opened();
    const { headers, response } = await library.api
      .generatePasskeyAuthenticationOptions({ headers: new Headers(), returnHeaders: true })
      .catch(unavailable);
    const { challenge, timeout = 0, rpId = "" } = response;
    return { challenge, rpId, timeoutMs: timeout, cookies: headers.getSetCookie() };
  }

  /** Checks an assertion. Returns the cookies of a new session; undefined if it is not accepted. */
  async signIn(assertion: Assertion, cookie: string): Promise<string[] | undefined> {
    const { id, ...response } = assertion;
    const library = await this.#opened();
    const result = await library.api.verifyPasskeyAuthentication({
      body: { response: { ...credential(id), response } },
      headers: new Headers({ cookie }),
      asResponse: true,
    });
    if (result.status >= 500) throw unavailable();
    return result.status === 200 ? result.headers.getSetCookie() : undefined;
  }

  /**
   * What a browser needs to create a passkey for the account of a session, and the cookies to set. Throws LIMIT_REACHED when the
   * account has ten, UNAUTHENTICATED if the session has ended.
   */
  async startAdding(
    accountId: string,
    cookie: string,
  ): Promise<{ options: CreationOptions; cookies: string[] }> {
    const library = await this.#opened();
    if ((await this.count(accountId)) >= MAX_PASSKEYS) throw tooMany();
    const { headers, response: options } = await library.api
      .generatePasskeyRegistrationOptions({
        query: {},
        headers: new Headers({ cookie }),
        returnHeaders: true,
      })
      .catch((error: unknown) => {
        if (statusOf(error) === 401) throw new AppError("UNAUTHENTICATED", "Sign in first.");
        throw unavailable(error);
      });
    return { options, cookies: headers.getSetCookie() };
  }

  /**
   * Adds the passkey that a browser created to the account of its session. Undefined if it is not accepted; throws LIMIT_REACHED
   * when the account has ten.
   */
  async add(
    accountId: string,
    { name, created, cookie }: { name: string; created: NewCredential; cookie: string },
  ): Promise<Passkey | undefined> {
    const { id, ...response } = created;
    const library = await this.#opened();
    if ((await this.count(accountId)) >= MAX_PASSKEYS) throw tooMany();
    const result = await library.api.verifyPasskeyRegistration({
      body: { name, response: { ...credential(id), response } },
      headers: new Headers({ cookie }),
      asResponse: true,
    });
    if (result.status === 503) throw unavailable();
    // The library reports a wrong credential as a failure of its own.
    if (result.status !== 200) return undefined;
    const { backedUp: isSynced, createdAt, ...passkey } = added.parse(await result.json());
    return { ...passkey, createdAt: createdAt.getTime(), isSynced };
  }

  /** The passkeys of an account, oldest first. */
  async list(accountId: string): Promise<Passkey[]> {
    const { rows } = await sql<{
      id: string;
      name: string | null;
      createdAt: string | Date;
      synced: unknown;
    }>`
      select id, name, created_at as "createdAt", backed_up as synced from passkeys
      where account_id = ${accountId} order by created_at, id`.execute(this.#options.database.read);
    return rows.map(({ id, name, createdAt, synced }) => ({
      id,
      name: name ?? "",
      createdAt: new Date(createdAt).getTime(),
      isSynced: Boolean(synced),
    }));
  }

  /** How many passkeys an account has. */
  async count(accountId: string): Promise<number> {
    return (await this.list(accountId)).length;
  }

  /** Removes a passkey of an account. Throws NOT_FOUND for one of another account, or of none. */
  async remove(accountId: string, id: string): Promise<void> {
    const { numAffectedRows = 0n } = await sql`
      delete from passkeys where id = ${id} and account_id = ${accountId}`.execute(
      this.#options.database.durable,
    );
    if (numAffectedRows === 0n) throw new AppError("NOT_FOUND", "There is no such passkey.");
  }

  #opened(): Promise<Library> {
    if (!this.isOffered)
      throw new AppError("NOT_FOUND", "Passkeys are off here: the address of this service is not https.");
    return this.#options.openLibrary();
  }
}

/** The fields that every credential has. */
function credential(id: string) {
  return { id, rawId: id, type: "public-key" as const, clientExtensionResults: {} };
}

function tooMany(): AppError {
  return new AppError(
    "LIMIT_REACHED",
    `An account has at most ${MAX_PASSKEYS} passkeys; remove one to add another.`,
  );
}

function unavailable(cause?: unknown): never {
  throw new AppError("UNAVAILABLE", "Passkeys cannot be checked now; try again.", { cause });
}

/** The status of an error of the library. */
function statusOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "statusCode" in error ? error.statusCode : undefined;
}
