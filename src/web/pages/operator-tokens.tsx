import type { FunctionComponent as FC } from "preact";
import { forgeName, isToken, type ProviderSettings } from "../../config/config.js";
import { type TokenCheck, UpstreamFailure } from "../../forges/forges.js";
import { AppError } from "../../lib/errors.js";
import { MainButton, Note } from "../components/elements.js";
import {
  effectWords,
  readTokenForges,
  TOKENS_PAGE,
  TokenField,
  type TokenForge,
  TokenTable,
  WhereToGetOne,
} from "../forge-tokens.js";
import type { OperatorRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** The tokens of each forge, with a field for another one. */
export function showTokens(request: OperatorRequest): Promise<Page> {
  const { searchParams } = request.url;
  const forge = searchParams.get("forge") ?? "";
  const done = searchParams.has("added") ? "added" : searchParams.has("removed") ? "removed" : undefined;
  return tokensPage(request, done && /^[A-Z0-9_]{1,32}$/.test(forge) ? { done, forge } : {});
}

/** Checks a token with its forge, and stores it if it is accepted. */
export async function addToken(request: OperatorRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const { operator, modules, site, members } = request;
  if (!operator.isRecent) return toSignInAgain(TOKENS_PAGE);
  const forge = form.get("forge") ?? "";
  const token = (form.get("token") ?? "").trim();
  const known = (await readTokenForges(request)).find(({ name }) => name === forge);
  if (known?.settings === undefined) throw new AppError("NOT_FOUND", "No such forge.");
  const refuse = (problem: string) => tokensPage(request, { forge, problem });
  if (known.problem !== undefined) return refuse(known.problem);
  if (!isToken(token))
    return refuse("This is not a token: it is empty, too long, or has invalid characters.");
  if (modules.forgeTokens.keySource === undefined)
    return refuse(
      modules.forgeTokens.isInMemory
        ? "Tokens cannot be stored in memory."
        : "Tokens cannot be stored without a key.",
    );
  let allows: TokenCheck;
  try {
    allows = await site.checkToken(known.settings, token);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    members.events.record("forge_token_refused", request.http, { forge });
    return refuse(wordsOfFailure(error, forgeName(forge)));
  }
  const replaces = known.entered.find(({ id }) => String(id) === form.get("replaces"))?.id;
  try {
    await modules.forgeTokens.add(forge, token, { allows, replaces });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "LIMIT_REACHED") throw error;
    return refuse(error.message);
  }
  await modules.forges.read();
  members.events.record("forge_token_added", request.http, { forge });
  return { location: `${TOKENS_PAGE}?added&forge=${forge}`, status: 303 };
}

export async function removeToken(request: OperatorRequest): Promise<Redirect> {
  const { operator, modules, http, members } = request;
  if (!operator.isRecent) return toSignInAgain(TOKENS_PAGE);
  const id = /^[1-9]\d{0,14}$/.test(http.params.id ?? "") ? Number(http.params.id) : 0;
  const forge = await modules.forgeTokens.remove(id);
  if (forge === undefined) return { location: TOKENS_PAGE, status: 303 };
  await modules.forges.read();
  members.events.record("forge_token_removed", request.http, { forge });
  return { location: `${TOKENS_PAGE}?removed&forge=${forge}`, status: 303 };
}

/** Why a forge did not accept a token, for the person who entered it. Its own words are in a safe form. */
function wordsOfFailure({ kind, reason, until }: UpstreamFailure, forge: string): string {
  const words = reason === null ? "" : ` It says: ${reason}`;
  switch (kind) {
    case "refused":
      return `${forge} does not accept this token.${words}`;
    case "quota":
      return `${forge} asks to wait${until === null ? "" : ` until ${new Date(until).toISOString().slice(11, 16)} UTC`}. Nothing was stored.${words}`;
    case "clock":
      return "The clock of this machine is wrong. Nothing was stored.";
    case "unreachable":
      return `${forge} did not respond. Nothing was stored; try again.`;
    default:
      return `${forge} sent a response that cannot be used. Nothing was stored.${words}`;
  }
}

interface Messages {
  done?: "added" | "removed";
  forge?: string;
  problem?: string;
}

async function tokensPage(request: OperatorRequest, messages: Messages): Promise<Page> {
  const { keySource, isInMemory } = request.modules.forgeTokens;
  const forges = await readTokenForges(request);
  return {
    title: "Forge tokens",
    status: messages.problem === undefined ? 200 : 400,
    body: (
      <>
        <h1>Forge tokens</h1>
        <p class="lead">
          A token raises the rate limit. No scopes needed. <a href="/operator">Status</a>
        </p>
        {messages.done === undefined ? null : (
          <p class="note" role="status">
            {messages.done === "added"
              ? `${forgeName(messages.forge ?? "")} accepts the token. The worker uses it within seconds.`
              : `The token of ${forgeName(messages.forge ?? "")} is removed here. To be sure that nobody uses it, revoke it at the forge too.`}
          </p>
        )}
        <Missing {...{ isInMemory, keySource }} />
        {forges.map((forge) => (
          <ForgeSection
            forge={forge}
            problem={messages.forge === forge.name ? messages.problem : undefined}
            hasKey={keySource !== undefined}
          />
        ))}
        <h2>How they are kept</h2>
        <p class="read">
          A token is checked at its forge, then stored encrypted and never shown again.{" "}
          {keySource === "file"
            ? "The key is the file token-key next to the database; set SIDEREAL_TOKEN_KEY to keep it elsewhere."
            : "The key is the setting SIDEREAL_TOKEN_KEY, which is not in the database."}{" "}
          Backups have the encrypted tokens and not the key, so a restored store needs the same key, or the
          tokens again.
        </p>
      </>
    ),
  };
}

/** Why no token can be entered; nothing if one can. */
const Missing: FC<Pick<OperatorRequest["modules"]["forgeTokens"], "isInMemory" | "keySource">> = ({
  isInMemory,
  keySource,
}) =>
  isInMemory ? (
    <Note>
      Tokens cannot be entered: this store is in memory, where no worker could use them. Set{" "}
      <code>SIDEREAL_DATA_DIR</code> to a folder and restart the service.
    </Note>
  ) : keySource === undefined ? (
    <Note>
      Tokens cannot be entered yet: there is no key to encrypt them with. Set <code>SIDEREAL_TOKEN_KEY</code>{" "}
      (or <code>SIDEREAL_TOKEN_KEY_FILE</code>) to at least 32 random characters, such as the output of{" "}
      <code>openssl rand -hex 32</code>, for the service and the worker, and restart both.
    </Note>
  ) : null;

interface ForgeSectionProps {
  forge: TokenForge;
  /** Why the token that was entered is refused. */
  problem: string | undefined;
  hasKey: boolean;
}

const ForgeSection: FC<ForgeSectionProps> = ({ forge, problem, hasKey }) => {
  const { name, settings, isTracked, isConfigured, ofSettings, entered, problem: barrier } = forge;
  const label = forgeName(name);
  return (
    <section aria-labelledby={`forge-${name}`}>
      <h2 id={`forge-${name}`}>{label}</h2>
      {settings === undefined ? (
        <p>Not tracked: the settings do not name this forge any more.</p>
      ) : (
        <p>
          {isTracked ? "Tracked" : "Not tracked"}
          {isTracked && !isConfigured && entered.length > 0 ? " because of a token entered here" : ""}
          {ofSettings === undefined ? "" : `, with ${ofSettings}`}.
          {isTracked ? "" : " A token turns it on: the worker begins within seconds."}
        </p>
      )}
      {entered.length === 0 ? null : <TokenTable label={`Tokens of ${label}`} tokens={entered} />}
      {barrier === undefined ? null : <p class="wrong">{barrier}</p>}
      {hasKey && settings !== undefined && barrier === undefined ? (
        <TokenForm {...{ name, settings, entered, problem }} />
      ) : null}
    </section>
  );
};

interface TokenFormProps extends Pick<TokenForge, "name" | "entered">, Pick<ForgeSectionProps, "problem"> {
  settings: ProviderSettings;
}

const TokenForm: FC<TokenFormProps> = ({ name, settings, entered, problem }) => (
  <form method="post" action={TOKENS_PAGE} class="box narrow">
    <TokenField name={name} problem={problem} />
    {entered.length === 0 ? null : (
      <div class="field">
        <label for={`replaces-${name}`}>Replaces</label>
        <select id={`replaces-${name}`} name="replaces">
          <option value="">none: use it as well</option>
          {entered.map(({ id }) => (
            <option value={String(id)}>#{id}</option>
          ))}
        </select>
      </div>
    )}
    <MainButton>Check and save</MainButton>
    <p class="soft small">
      {effectWords(settings.kind)} <WhereToGetOne settings={settings} />
    </p>
  </form>
);
