import { isIP } from "node:net";
import { sql } from "kysely";
import { AppError } from "../lib/errors.js";
import { isLoopbackHost } from "../lib/host-names.js";
import type { AccountsContext } from "./context.js";
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

/** A value from an authenticator, in Base64url. */
interface Credential<Response> {
  id: string;
  response: Response;
}
/** For a new passkey; fields of WebAuthn's RegistrationResponseJSON. */
type NewCredential = Credential<{ clientDataJSON: string; attestationObject: string; transports: string[] }>;
/** For a sign-in; fields of WebAuthn's AuthenticationResponseJSON. */
export type Assertion = Credential<{ clientDataJSON: string; authenticatorData: string; signature: string }>;

/**
 * Passkeys (WebAuthn): adding them to an account, and checking them at sign-in. A challenge works once, for five minutes, in the browser
 * that requested it: a signed cookie names it. The user must be verified by PIN or biometrics.
 */
export class Passkeys {
  constructor(
    private readonly context: AccountsContext,
    private readonly openLibrary: () => Promise<Library>,
  ) {}

  /** Whether browsers allow passkeys at the base URL: with https or on localhost, and under a name, not an address. */
  get isOffered(): boolean {
    const { protocol, hostname } = new URL(this.context.config.baseUrl);
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
    const library = await this.#opened();
    const result = await library.api.verifyPasskeyAuthentication({
      body: { response: withFixedFields(assertion) },
      headers: new Headers({ cookie }),
      asResponse: true,
    });
    if (result.status >= 500) throw unavailable();
    return result.status === 200 ? result.headers.getSetCookie() : undefined;
  }

  /** The options with which a browser creates a passkey for the account of a session, and the cookies to set. Throws LIMIT_REACHED. */
  async startAdding(accountId: string, cookie: string) {
    const library = await this.#opened();
    await this.#checkRoom(accountId);
    const { headers, response: options } = await library.api
      .generatePasskeyRegistrationOptions({
        query: {},
        headers: new Headers({ cookie }),
        returnHeaders: true,
      })
      .catch(unavailable);
    return { options, cookies: headers.getSetCookie() };
  }

  /** Adds the passkey that a browser created to the account of its session; undefined: not accepted. Throws LIMIT_REACHED. */
  async add(
    accountId: string,
    { name, created, cookie }: { name: string; created: NewCredential; cookie: string },
  ): Promise<Passkey | undefined> {
    const library = await this.#opened();
    await this.#checkRoom(accountId);
    const { status } = await library.api.verifyPasskeyRegistration({
      body: { name, response: withFixedFields(created) },
      headers: new Headers({ cookie }),
      asResponse: true,
    });
    if (status === 503) throw unavailable();
    // The library reports a wrong credential as a failure of its own.
    return status === 200 ? (await this.list(accountId)).at(-1) : undefined;
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
      where account_id = ${accountId} order by created_at, id`.execute(this.context.database.read);
    return rows.map(({ id, name, createdAt, synced }) => ({
      id,
      name: name ?? "",
      createdAt: new Date(createdAt).getTime(),
      isSynced: Boolean(synced),
    }));
  }

  /** Removes a passkey of an account. Throws NOT_FOUND for one of another account, or of none. */
  async remove(accountId: string, id: string): Promise<void> {
    const { numAffectedRows = 0n } = await sql`
      delete from passkeys where id = ${id} and account_id = ${accountId}`.execute(
      this.context.database.durable,
    );
    if (numAffectedRows === 0n) throw new AppError("NOT_FOUND", "There is no such passkey.");
  }

  async #checkRoom(accountId: string): Promise<void> {
    if ((await this.list(accountId)).length >= MAX_PASSKEYS)
      throw new AppError(
        "LIMIT_REACHED",
        `An account has at most ${MAX_PASSKEYS} passkeys; remove one to add another.`,
      );
  }

  #opened(): Promise<Library> {
    if (!this.isOffered)
      throw new AppError("NOT_FOUND", "Passkeys are off here: the address of this service is not https.");
    return this.openLibrary();
  }
}

function withFixedFields<T>({ id, response }: Credential<T>) {
  return { id, rawId: id, type: "public-key" as const, clientExtensionResults: {}, response };
}

function unavailable(cause?: unknown): never {
  throw new AppError("UNAVAILABLE", "Passkeys cannot be checked now; try again.", { cause });
}
