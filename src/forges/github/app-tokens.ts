import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { z } from "zod";
import { isToken } from "../../config/config.js";
import { HOUR_MS } from "../../lib/clock.js";
import type { AppClient, AppSource } from "../client.js";
import { UpstreamFailure } from "../failures.js";
import { id, label, orNull, parseJson, parseRecord, time } from "../fields.js";
import { APP } from "../quota.js";
import { dateOf } from "../responses.js";
import type { Loaded, TokenLoader } from "../token-keeper.js";
import type { UpstreamResponse } from "../transport.js";

/** GitHub accepts at most ten minutes, and none that is issued in the future. */
const JWT_VALID_S = 540;
const JWT_AGE_S = 30;
/** Least time between two requests for a token, even if GitHub rejects a fresh one. */
const MIN_INTERVAL_MS = 60_000;
const MOST_NAMED = 5;

const installationsSchema = z
  .array(z.object({ id, account: orNull(z.object({ login: label })), suspended_at: orNull(z.string()) }))
  .max(100);
const tokenSchema = z.object({ token: z.string().refine(isToken), expires_at: time });

/** Obtains installation tokens of a GitHub App, which are valid for an hour. */
export class AppTokens implements TokenLoader {
  readonly label = APP;
  readonly minIntervalMs = MIN_INTERVAL_MS;
  readonly intervalMs = HOUR_MS;
  readonly #source: AppSource;
  readonly #client: AppClient;
  readonly #key;
  #installation: string | null;
  #skewMs = 0;

  constructor(source: AppSource, client: AppClient) {
    this.#source = source;
    this.#client = client;
    this.#key = createPrivateKey(source.privateKey);
    this.#installation = source.installation;
  }

  async load(): Promise<Loaded> {
    this.#installation ??= await this.#findInstallation();
    const path = `/app/installations/${this.#installation}/access_tokens`;
    const response = await this.#send(path, "POST");
    const { token, expires_at } = parseRecord(tokenSchema, parseJson(response.text));
    const now = this.#client.clock.now() + this.#skewMs;
    return { tokens: [{ token, label: APP }], validMs: expires_at - (dateOf(response.headers) ?? now) };
  }

  async #findInstallation(): Promise<string> {
    const { text } = await this.#send("/app/installations?per_page=100", "GET");
    const all = parseRecord(installationsSchema, parseJson(text)).filter((one) => one.suspended_at === null);
    const [only, ...others] = all;
    if (only === undefined) throw new UpstreamFailure("refused", "the GitHub App is not installed anywhere");
    if (others.length === 0) return only.id;
    const named = all.slice(0, MOST_NAMED).map((one) => `${one.id} (${one.account?.login ?? "?"})`);
    const message = `the GitHub App has ${all.length} installations; set _APP_INSTALLATION to one of them`;
    throw new UpstreamFailure("refused", `${message}: ${named.join(", ")}`);
  }

  /** Sends a request as the App. If it is refused because of our clock, once more with GitHub's time. */
  async #send(path: string, method: "GET" | "POST"): Promise<UpstreamResponse> {
    const { clock } = this.#client;
    for (let isAgain = false; ; isAgain = true) {
      const authorization = `Bearer ${await this.#jwt()}`;
      const signal = new AbortController().signal;
      const response = await this.#client.send(path, { method, headers: { authorization }, signal });
      const failure = this.#client.failureOf(path, response);
      if (failure === null) return response;
      const date = dateOf(response.headers);
      if (response.status === 401 && !isAgain && date !== null) {
        this.#skewMs = date - clock.now();
        continue;
      }
      if (failure.kind === "gone") this.#installation = this.#source.installation;
      throw failure;
    }
  }

  #jwt(): Promise<string> {
    const now = Math.floor((this.#client.clock.now() + this.#skewMs) / 1_000);
    return new SignJWT()
      .setProtectedHeader({ alg: "RS256" })
      .setIssuer(this.#source.appId)
      .setIssuedAt(now - JWT_AGE_S)
      .setExpirationTime(now - JWT_AGE_S + JWT_VALID_S)
      .sign(this.#key);
  }
}
