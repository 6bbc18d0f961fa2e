import pg from "pg";
import { startPostgres } from "../../test/support/postgres.js";

/** The PostgreSQL server of a run. */
export interface BenchPostgres {
  /** Address of its maintenance database. */
  url: string;
  /** Such as "PostgreSQL 18.4". */
  version: string;
  stop(): Promise<void>;
}

/** The server at this address; without one, a new server that is thrown away, with everything in it, when it stops. */
export async function openPostgres(given: string): Promise<BenchPostgres> {
  const started = given === "" ? await startPostgres() : undefined;
  const url = started === undefined ? given : `postgres://postgres@127.0.0.1:${started.port}/postgres`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select split_part(version(), ' ', 2) as version");
  await client.end();
  return {
    url,
    version: `PostgreSQL ${rows[0].version}${started === undefined ? "" : ", started for the run, without fsync"}`,
    stop: async () => started?.stop(),
  };
}
