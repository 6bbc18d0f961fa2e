import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";

/** A row as a reader gives it: times as ISO 8601, whole numbers as numbers. */
export type ParquetRow = Record<string, unknown>;

/** All rows of a Parquet file, in their order. */
export async function readParquet(path: string): Promise<ParquetRow[]> {
  const file = await asyncBufferFromFile(path);
  return (await parquetReadObjects({ file })).map((row) => plain(row) as ParquetRow);
}

/** The rows of each row group. */
export async function rowGroups(path: string): Promise<number[]> {
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return row_groups.map(({ num_rows }) => Number(num_rows));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
