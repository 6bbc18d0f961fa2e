/** The rows of questions to forges: which repositories an owner has, or have a name. The worker takes the next one from here. */
import { type Selectable, sql } from "kysely";
import { z } from "zod";
import {
  type Database,
  type Db,
  readNumber,
  type TrackQuestionTable,
  type Tx,
} from "../../database/database.js";
import type { FailureKind, Sought, SoughtList } from "../../forges/forges.js";
import { HOUR_MS } from "../../lib/clock.js";
import { createToken } from "../../lib/tokens.js";

/** How long the answer to a question serves others who ask the same. */
const SHARED_MS = HOUR_MS;
/** Most questions that wait for one forge. */
export const MAX_QUESTIONS = 100;
/** Characters of a description that are kept. */
const MAX_DESCRIPTION = 200;

export type QuestionRow = Selectable<TrackQuestionTable>;
export type QuestionKind = "owner" | "name";

const candidate = z.object({ fullName: z.string(), stars: z.number(), description: z.string().nullable() });
const candidates = z.array(candidate);
/** A repository that a question may mean. */
export type Candidate = z.infer<typeof candidate> & { provider: string };

/** The question in the form that providers take. */
export function soughtOf({ kind, sought }: QuestionRow): Sought {
  return kind === "owner" ? { owner: sought } : { name: sought };
}

export function candidatesOf({ candidates: stored, provider }: QuestionRow): Candidate[] {
  return stored === null ? [] : candidates.parse(JSON.parse(stored)).map((one) => ({ provider, ...one }));
}

/** Adds a question to each of these forges. Returns its id. */
export async function insertQuestion(
  tx: Tx,
  {
    kind,
    sought,
    providers,
    now,
  }: { kind: QuestionKind; sought: string; providers: readonly string[]; now: number },
): Promise<string> {
  const public_id = createToken("sidt");
  const none = { failure: null, total: null, candidates: null, answered_at: null };
  await tx
    .insertInto("track_questions")
    .values(
      providers.map((provider) => ({
        public_id,
        provider,
        kind,
        sought,
        asked_at: now,
        attempts: 0,
        retry_at: 0,
        ...none,
      })),
    )
    .execute();
  return public_id;
}

/** The same question of the last hour, unless it failed; undefined if nobody asked it. */
export async function findSame(
  db: Db,
  { kind, sought, provider, now }: { kind: QuestionKind; sought: string; provider: string; now: number },
): Promise<string | undefined> {
  const row = await db
    .selectFrom("track_questions")
    .select("public_id")
    .where("asked_at", ">", now - SHARED_MS)
    .where("provider", "=", provider)
    .where("kind", "=", kind)
    .where("sought", "=", sought)
    .where("failure", "is", null)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.public_id;
}

export function countQuestions(db: Db, provider: string): Promise<number> {
  const open = sql`select count(*) from track_questions where provider = ${provider} and answered_at is null`;
  return readNumber(db, open);
}

/** The next due question to a forge. Reads an index that is usually empty. */
export function nextQuestion(
  { read }: Pick<Database, "read">,
  provider: string,
  now: number,
): Promise<QuestionRow | undefined> {
  return read
    .selectFrom("track_questions")
    .selectAll()
    .where("provider", "=", provider)
    .where("answered_at", "is", null)
    .where("retry_at", "<=", now)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** Stores what a forge has answered, why it has not, or when it is asked again. */
export async function updateQuestion(
  tx: Tx,
  { id, now }: { id: number; now: number },
  result: SoughtList | { failure: FailureKind } | { attempts: number; retryAt: number },
): Promise<void> {
  const change =
    "repositories" in result
      ? { total: result.total, candidates: textOf(result), answered_at: now }
      : "failure" in result
        ? { failure: result.failure, answered_at: now }
        : { attempts: result.attempts, retry_at: result.retryAt };
  await tx.updateTable("track_questions").set(change).where("id", "=", id).execute();
}

function textOf({ repositories }: SoughtList): string {
  return JSON.stringify(
    repositories.map(({ owner, name, stars, description }) => ({
      fullName: `${owner}/${name}`,
      stars,
      description: description?.slice(0, MAX_DESCRIPTION) ?? null,
    })),
  );
}
