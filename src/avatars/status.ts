import { sql } from "kysely";
import type { Db } from "../database/database.js";

/** Most reasons that are listed. */
const REASONS = 5;

/** Numbers of avatars of one provider. */
export interface AvatarStatus {
  /** Owners on lists. */
  wanted: number;
  /** Of these, with an image. */
  images: number;
  bytes: number;
  /** Due now. */
  due: number;
  /** Why others have none, or an old one: the most frequent reasons. */
  problems: { problem: string; owners: number }[];
}

/** The avatars of a provider in numbers. Counts rows, of which there are few. */
export async function readAvatarStatus(read: Db, provider: string, now: number): Promise<AvatarStatus> {
  const { rows } = await sql<{ wanted: number; images: number; bytes: number | null; due: number | null }>`
    select count(*) as wanted, count(version) as images, sum(bytes) as bytes,
      sum(case when next_at <= ${now} then 1 else 0 end) as due
    from avatars where provider = ${provider}`.execute(read);
  const problems = await read
    .selectFrom("avatars")
    .select(({ fn }) => ["problem", fn.countAll().as("owners")])
    .where("provider", "=", provider)
    .where("problem", "is not", null)
    .groupBy("problem")
    .orderBy(({ fn }) => fn.countAll(), "desc")
    .orderBy("problem")
    .limit(REASONS)
    .execute();
  const { wanted = 0, images = 0, bytes = 0, due = 0 } = rows[0] ?? {};
  return {
    wanted: Number(wanted),
    images: Number(images),
    bytes: Number(bytes),
    due: Number(due),
    problems: problems.map(({ problem, owners }) => ({ problem: problem ?? "", owners: Number(owners) })),
  };
}
