import type { BetterAuthOptions, DBAdapter, Where } from "better-auth";
import { getAdapter } from "better-auth/db/adapter";
import type { Database } from "../database/database.js";
import { hashToken } from "../tokens.js";

interface Query {
  model: string;
  where?: Where[] | undefined;
}

interface Creation<T> extends Query {
  data: Omit<T, "id">;
  select?: string[] | undefined;
  forceAllowId?: boolean | undefined;
}

/** Replaces session tokens in a query by their hashes. */
function hashed<Q extends Query>(query: Q): Q {
  if (query.model !== "session" || query.where === undefined) return query;
  const where = query.where.map((condition): Where => {
    const { field, value } = condition;
    if (field !== "token") return condition;
    if (typeof value === "string") return { ...condition, value: hashToken(value) };
    return {
      ...condition,
      value: Array.isArray(value) ? value.map((token) => hashToken(String(token))) : value,
    };
  });
  return { ...query, where };
}

/** The session token that a query filters by. */
function askedToken({ model, where }: Query): string | undefined {
  const value = model === "session" ? where?.find(({ field }) => field === "token")?.value : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * The storage of the sign-in library: on our connections, and with hashes in place of session tokens, which the library would
 * store in plain text. Its transactions are ignored: the features we use need none, and one of its queries runs outside of the
 * transaction it belongs to and would wait for it forever.
 */
export async function libraryStore(options: BetterAuthOptions, database: Database): Promise<DBAdapter> {
  const type = database.dialect.libraryName;
  const writer = await getAdapter({ ...options, database: { db: database.durable, type } });
  const reader = await getAdapter({ ...options, database: { db: database.read, type } });
  const store: DBAdapter = {
    ...writer,
    create: async <T extends Record<string, unknown>, R = T>(query: Creation<T>): Promise<R> => {
      const token = "token" in query.data ? query.data.token : undefined;
      if (query.model !== "session" || typeof token !== "string") return writer.create<T, R>(query);
      const data = { ...query.data, token: hashToken(token) };
      const created = await writer.create<T, R>({ ...query, data });
      return { ...created, token };
    },
    findOne: async <T>(query: Parameters<DBAdapter["findOne"]>[0]) => {
      const found = await reader.findOne<T>(hashed(query));
      const token = askedToken(query);
      return found === null || token === undefined ? found : { ...found, token };
    },
    findMany: (query) => reader.findMany(hashed(query)),
    count: (query) => reader.count(hashed(query)),
    update: (query) => writer.update(hashed(query)),
    updateMany: (query) => writer.updateMany(hashed(query)),
    delete: (query) => writer.delete(hashed(query)),
    deleteMany: (query) => writer.deleteMany(hashed(query)),
    consumeOne: (query) => writer.consumeOne(hashed(query)),
    incrementOne: (query) => writer.incrementOne(hashed(query)),
    transaction: (work) => work(store),
  };
  return store;
}
