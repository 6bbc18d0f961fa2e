import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { AppError } from "../../lib/errors.js";
import { repositoryKey, repositoryPage, trackListPage, trackQuestionPage } from "../../lib/page-addresses.js";
import type { Candidate, ForgeAnswer, Question } from "../../tracking/tracking.js";
import { MainButton, MeantRepository } from "../components/elements.js";
import { formatCompact, formatCount, repositoriesText } from "../components/numbers.js";
import { READING_SECONDS, Wait } from "../components/tracking-state.js";
import { similarTo } from "../naming.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { comparisonIn, readAsking } from "../tracking.js";
import { toSignIn } from "./sign-in.js";

/** The possible meanings of a text: the repositories of an owner, or those with a name, as forges answer. */
export async function showQuestion(request: PageRequest): Promise<Page> {
  const question = await request.modules.trackRequests.findQuestion(request.http.params.questionId ?? "");
  if (question === undefined)
    throw new AppError("NOT_FOUND", "No such question. Questions are removed after a week.");
  const { kind, text, isAnswered } = question;
  const known = kind === "name" ? await similarTo(request.modules, text) : [];
  const next = comparisonIn(request.url.searchParams.get("next"));
  return {
    title: titleOf(question),
    ...(isAnswered ? {} : { isLive: true, refreshSeconds: READING_SECONDS }),
    body: (
      <div data-live={isAnswered ? undefined : "question"}>
        <h1>{titleOf(question)}</h1>
        {known.length === 0 ? null : (
          <section>
            <h2>Tracked here</h2>
            <ul class="plain">
              {known.map((repository) => (
                <li>
                  <MeantRepository
                    repository={repository}
                    href={
                      next === undefined
                        ? repositoryPage(repository)
                        : withAnswer(next, text, repositoryKey(repository))
                    }
                  />
                </li>
              ))}
            </ul>
          </section>
        )}
        {question.answers.toSorted(byCandidates).map((answer) => (
          <section>
            <h2>{forgeName(answer.provider)}</h2>
            <State answer={answer} />
            {kind === "owner" ? <OwnerForm {...{ question, answer }} /> : null}
            <Candidates candidates={answer.candidates} {...(kind === "owner" ? {} : { text, next })} />
          </section>
        ))}
      </div>
    ),
  };
}

/** Forges with an answer come first. */
const byCandidates = (a: ForgeAnswer, b: ForgeAnswer): number =>
  Number(b.candidates.length > 0) - Number(a.candidates.length > 0);

function titleOf({ kind, text }: Question): string {
  return kind === "owner" ? `Repositories of ${text}` : `Which “${text}”?`;
}

/** Requests the repositories of an owner with most stars, as many as the form says. */
export async function trackOwner(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const { modules, http } = request;
  const id = http.params.questionId ?? "";
  try {
    const list = await modules.trackRequests.trackAnswer(
      id,
      Number(form.get("most")),
      await readAsking(request),
    );
    return { location: trackListPage(list), status: 303 };
  } catch (error) {
    if (error instanceof AppError && error.code === "UNAUTHENTICATED")
      return toSignIn(request, trackQuestionPage(id));
    throw error;
  }
}

/** A comparison with the repository in place of the unclear word. */
function withAnswer(comparison: string, text: string, key: string): string {
  const url = new URL(comparison, "http://localhost");
  const parameters = [...url.searchParams].map(([name, value]) => [
    name,
    name === "repo" && value.trim().toLowerCase() === text.toLowerCase() ? key : value,
  ]);
  return `${url.pathname}?${new URLSearchParams(parameters)}`;
}

interface ComparedText {
  text: string;
  /** The comparison with the unclear text. */
  next: string | undefined;
}

/** Why there are no candidates yet, or none at all; undefined: there are. */
function stateWords(answer: ForgeAnswer): string | undefined {
  const { provider, state, failure, candidates, waitsUntil, isUnreachable } = answer;
  const forge = forgeName(provider);
  if (state === "WAITING") return isUnreachable || waitsUntil !== null ? "" : `Asking ${forge} …`;
  if (failure !== null) return failure.message;
  return candidates.length === 0 ? `${forge} has no such public repository.` : undefined;
}

const State: FC<{ answer: ForgeAnswer }> = ({ answer }) => {
  const words = stateWords(answer);
  return words === undefined ? null : (
    <div role="status">
      {words === "" ? null : <p>{words}</p>}
      <Wait {...answer} />
    </div>
  );
};

/** The form that requests the repositories of an owner; nothing without any. */
const OwnerForm: FC<{ question: Question; answer: ForgeAnswer }> = ({ question, answer }) => {
  const { candidates, total } = answer;
  const all = candidates.length;
  const isWhole = total === null || total <= all;
  return all === 0 ? null : (
    <form method="post" action={trackQuestionPage(question.id)} class="row-form">
      {isWhole ? (
        <input type="hidden" name="most" value={all} />
      ) : (
        <div class="field">
          <label for="most">
            Of {repositoriesText(total)}, those with the most stars, up to {formatCount(all)}
          </label>
          <input id="most" name="most" type="number" min={1} max={all} value={all} required />
        </div>
      )}
      <MainButton>
        {isWhole ? (all === 1 ? "Track it" : `Track all ${formatCount(all)}`) : "Track them"}
      </MainButton>
    </form>
  );
};

const Candidates: FC<{ candidates: readonly Candidate[] } & Partial<ComparedText>> = ({
  candidates,
  text = "",
  next,
}) =>
  candidates.length === 0 ? null : (
    <ul class="plain">
      {candidates.map((candidate) => (
        <li>
          <form method="post" action="/track" class="buttons">
            <input type="hidden" name="repository" value={repositoryKey(candidate)} />
            {next === undefined ? null : (
              <input type="hidden" name="next" value={withAnswer(next, text, repositoryKey(candidate))} />
            )}
            <button type="submit">
              <bdi>{candidate.fullName}</bdi>
            </button>
            <span class="soft small">
              {formatCompact(candidate.stars)} stars
              {candidate.description === null ? null : (
                <>
                  , <bdi>{candidate.description}</bdi>
                </>
              )}
            </span>
          </form>
        </li>
      ))}
    </ul>
  );
