import type { FunctionComponent as FC } from "preact";
import {
  type ForgeKind,
  forgeName,
  type ProviderSettings,
  PUBLIC_FORGES,
  TOKEN_EFFECTS,
} from "../config/config.js";
import {
  labelOf,
  type StoredToken,
  type TokenCheck,
  type TokenFault,
  type TokenQuota,
} from "../forges/forges.js";
import { type PreparedStatus, readPreparedStatus } from "../tracking/tracking.js";
import { Confirm, Field } from "./components/elements.js";
import { Ago, formatCount, formatDate } from "./components/numbers.js";
import { ACTIONS, Table } from "./components/table.js";
import type { PageRequest } from "./page-request.js";

/** The tokens of forges that operators entered: read with the reports of their workers, and shown in tables. */

/** A stored token, and its quota as its worker last reported it. */
interface ShownToken extends StoredToken {
  quota: TokenQuota[];
}

/** A forge as the page of tokens shows it. */
export interface TokenForge {
  name: string;
  /** Undefined: no longer in the settings, so its tokens can only be removed. */
  settings: ProviderSettings | undefined;
  isTracked: boolean;
  /** Whether the settings turn it on without any entered token. */
  isConfigured: boolean;
  /** The tokens of the settings, in words; undefined without any. */
  ofSettings: string | undefined;
  entered: ShownToken[];
  /** Why no token can be sent to it. */
  problem: string | undefined;
}

/** The forges that can have tokens: those that are tracked, the public ones, and those that still have some. */
export async function readTokenForges({ modules }: Pick<PageRequest, "modules">): Promise<TokenForge[]> {
  const { forges, forgeTokens, database } = modules;
  const [tracked, entered, status] = await Promise.all([
    forges.current(),
    forgeTokens.list(),
    readPreparedStatus(database),
  ]);
  const known = [...tracked, ...PUBLIC_FORGES].map(({ name }) => name);
  const names = [...new Set([...known, ...entered.map(({ provider }) => provider)])];
  return names.map((name) => {
    const settings = forges.settingsOf(name);
    return {
      name,
      settings,
      isTracked: tracked.some((one) => one.name === name),
      isConfigured: forges.isConfigured(name),
      ofSettings: settings && wordsOfSettings(settings),
      entered: entered
        .filter(({ provider }) => provider === name)
        .map((token) => ({ ...token, quota: quotaOf(token, status) })),
      problem: settings && forgeTokens.barrierOf(settings),
    };
  });
}

function wordsOfSettings({ tokens, tokenSource }: ProviderSettings): string | undefined {
  switch (tokenSource?.kind) {
    case "app":
      return "a GitHub App, from the settings";
    case "command":
      return "tokens of a command, from the settings";
    case "file":
      return `${countOf(tokens.length)}, from a file of the settings`;
    default:
      return tokens.length === 0 ? undefined : `${countOf(tokens.length)}, from the settings`;
  }
}

const countOf = (tokens: number): string => (tokens === 1 ? "1 token" : `${tokens} tokens`);

/** The quota of a token, as the worker of its forge that reported last saw it. */
function quotaOf({ id, provider }: StoredToken, status: PreparedStatus | undefined): TokenQuota[] {
  const worker = status?.providers.find((one) => one.provider === provider)?.worker;
  return worker?.report.quota.filter(({ token }) => token === labelOf(id)) ?? [];
}

/** The path of the page of tokens, and the beginning of those of its forms. */
export const TOKENS_PAGE = "/operator/tokens";

/** The field for a token of a forge, and the hidden one that names the forge. Its id has that name: a page may have several. */
export const TokenField: FC<{ name: string; problem?: string | undefined }> = ({ name, problem }) => (
  <>
    <input type="hidden" name="forge" value={name} />
    <Field
      name="token"
      id={`token-${name}`}
      label={`${forgeName(name)} token`}
      type="password"
      problem={problem}
      required
      maxlength={4_096}
      isLiteral
    />
  </>
);

/** The page on which a forge makes tokens. */
export const WhereToGetOne: FC<{ settings: ProviderSettings }> = ({ settings: { kind, url } }) => {
  const [path, what] =
    kind === "github"
      ? ["/settings/personal-access-tokens/new", "a fine-grained token with access to public repositories"]
      : kind === "gitlab"
        ? ["/-/user_settings/personal_access_tokens", "a token with the scope read_api"]
        : ["/user/settings/applications", "a token that may read repositories"];
  return (
    <>
      Make one at{" "}
      <a href={`${url}${path}`} rel="noopener noreferrer">
        {new URL(url).host}
      </a>
      : {what}.
    </>
  );
};

/** "60 → 5,000 requests an hour with a token."; empty if the forge documents no such effect. */
export function effectWords(kind: ForgeKind): string {
  const effect = TOKEN_EFFECTS[kind];
  return effect === undefined
    ? ""
    : `${formatCount(effect.now)} → ${formatCount(effect.withToken)} requests an hour with a token.`;
}

/** Whether an operator could make reading a forge faster by its first token. Costs three queries; none for others. */
export async function offersToken({ operator, modules }: PageRequest, provider: string): Promise<boolean> {
  if (operator === undefined || modules.forgeTokens.keySource === undefined) return false;
  const forge = (await readTokenForges({ modules })).find(({ name }) => name === provider);
  return (
    forge?.settings !== undefined &&
    forge.ofSettings === undefined &&
    forge.entered.length === 0 &&
    effectWords(forge.settings.kind) !== ""
  );
}

/** The stored tokens of a forge, each with a form that removes it. */
export const TokenTable: FC<{ label: string; tokens: readonly ShownToken[] }> = ({ label, tokens }) => (
  <Table
    label={label}
    class="keys stacked"
    columns={[
      {
        head: "Token",
        cell: ({ id, allows: { owner } }) => (
          <>
            #{id}
            {owner === null ? null : <small class="counted">{owner}</small>}
          </>
        ),
      },
      {
        head: "Permits",
        cell: ({ allows, fault, site }) =>
          fault === undefined ? (
            <Permits allows={allows} />
          ) : (
            <span class="wrong">{wordsOfFault(fault, site)}</span>
          ),
      },
      { head: "Left", cell: (token) => <Left {...token} /> },
      { head: "Added", cell: ({ addedAt }) => <Ago at={addedAt} /> },
      {
        ...ACTIONS,
        cell: ({ id }) => (
          <Confirm verb="Remove" name={`token #${id}`} action={`${TOKENS_PAGE}/${id}/remove`}>
            The worker stops using it within seconds.
          </Confirm>
        ),
      },
    ]}
    rows={tokens}
  />
);

function wordsOfFault(fault: TokenFault, site: string): string {
  switch (fault) {
    case "other_address":
      return `Not used: it is for ${site}, and the settings do not name that address for this forge. It is sent nowhere else. Set the address again, or remove the token.`;
    case "plain_http":
      return "Not used: the settings no longer allow tokens to be sent over http.";
    case "other_key":
      return "Not used: the key that it was encrypted with is missing. Set that key again, or enter the token again.";
    case "damaged":
      return "Not used: what is stored of it is damaged. Enter it again.";
  }
}

/** Scopes with which nothing can be changed. */
const HARMLESS = /^(?:read[:_].*|public_repo:read|metadata|read_api|read_user)$/;

const Permits: FC<{ allows: TokenCheck }> = ({ allows: { scopes, expiresAt } }) => {
  const more = scopes?.filter((scope) => !HARMLESS.test(scope)) ?? [];
  return (
    <>
      {scopes === null
        ? "Reading; its forge names no scopes"
        : scopes.length === 0
          ? "Reading what is public"
          : scopes.join(", ")}
      {more.length === 0 ? null : (
        <small class="counted">More than needed: a token without {more.join(", ")} is safer.</small>
      )}
      {expiresAt === null ? null : <small class="counted">Expires {formatDate(expiresAt)}</small>}
    </>
  );
};

/** The remaining part of each limit: as the worker last saw it, else as the forge reported it when the token was checked. */
const Left: FC<Pick<ShownToken, "allows" | "quota">> = ({ allows, quota }) => {
  const blocked = quota.find(({ blockReason }) => blockReason === "rejected");
  if (blocked !== undefined) return <span class="wrong">Rejected by the forge: {blocked.blockMessage}</span>;
  const used = quota.filter(({ limit }) => limit !== null);
  if (used.length === 0)
    return (
      <>
        {allows.limit === null
          ? "not known yet"
          : `${formatCount(allows.remaining)} of ${formatCount(allows.limit)} an hour`}
      </>
    );
  return (
    <>
      {used.map(({ resource, remaining, limit }) => (
        <span class="counted">
          {resource}: {formatCount(remaining)} of {formatCount(limit)}
        </span>
      ))}
    </>
  );
};
