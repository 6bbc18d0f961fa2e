import type { BodyStream } from "../http/http.js";
import type { ListSpec } from "../lists/lists.js";

/** What rows are written as. */
export type StreamFormat = "ndjson" | "csv";

/** A whole list, as plain data. */
export interface StreamedList {
  /** The page is ignored. */
  spec: Omit<ListSpec, "page">;
  format: StreamFormat;
  /** The names of the fields of each row; absent: all. */
  fields?: readonly string[] | undefined;
  /** The time of the request, which decides how old the data is in all its rows. */
  now: number;
}

/** Opens whole lists as bodies that are made while they are sent. */
export interface ListStreams {
  /** Throws UNAVAILABLE while the service stops. */
  open(list: StreamedList): BodyStream;
}
